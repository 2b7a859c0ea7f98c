// `spillway serve` in a process of its own: what it prints, and how it ends.
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { casesOf } from "../exhaustive.js";
import { Models } from "../serve/served.js";
import { spillway as spillwayHere } from "./in-process.js";
import { spillway } from "./spillway.js";

let models: Models;
beforeAll(async () => {
  models = await Models.create();
});
afterAll(() => models[Symbol.asyncDispose]());

describe("spillway serve", () => {
  it.each([
    ["SIGTERM", 143],
    ["SIGINT", 130],
  ] as const)("says where it serves, answers, and on %s ends by itself with what it had taken answered", async (signal, code) => {
    const asked: Promise<number>[] = [];
    // A run's folder does for the model in it.
    const folder = await mkdtemp(join(tmpdir(), "spillway-serve-"));
    await copyFile(await models.path("forecaster"), join(folder, "model.safetensors"));
    const ended = await spillway(["serve", folder, "--port", "0", "--engine", "cpu"], {
      cwd: ".",
      watch: (stderr, child) => {
        if (stderr !== "") return;
        child.stdout!.once("data", async (text: Buffer) => {
          const [url] = /http:\/\/\S+/.exec(text.toString())!;
          const body = JSON.stringify({ steps: 1000 });
          const headers = { "content-type": "application/json" };
          asked.push(fetch(`${url}/forecast`, { method: "POST", headers, body }).then(({ status }) => status));
          await asked[0];
          const stream = await fetch(`${url}/sessions`, { method: "POST", headers, body: "{}" });
          const { session } = (await stream.json()) as { session: string };
          await fetch(`${url}/sessions/${session}/events`);
          child.kill(signal);
        });
      },
    });
    await rm(folder, { recursive: true });
    expect(ended).toMatchObject({ code, stderr: expect.not.stringContaining("was ended") });
    expect(ended.stdout).toContain("The forecaster ");
    expect(await Promise.all(asked)).toEqual([200]);
  });

  it.each(
    casesOf(
      [
        [["serve", "none.safetensors"], "none.safetensors: no such file"],
        [["serve", "package.json"], "package.json: it is no model; a model is a folder of runs/, or the model.safetensors in it"],
        [["serve", "README.md"], "README.md: it is no model"],
        [["serve", "x", "--port", "70000"], "--port is 70000; it takes a whole number from 0 to 65535"],
        [["serve", "x", "--idle", "0"], "--idle is 0; it takes a number of seconds above 0"],
      ] as const,
      (_, k) => k === 0,
    ),
  )("refuses %j with a sentence and 2", async (args, sentence) => {
    expect(await spillwayHere(args, { cwd: "." })).toMatchObject({ code: 2, stderr: expect.stringContaining(sentence) });
  });
});
