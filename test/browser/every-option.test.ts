// Every option of the lab, changed once in each browser of this machine: the states have the bits
// that Node gives, pictures are drawn, and nothing is reported as an error.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import "../../src/index.js";
import { type Lab, openLab, ranges, settingsFromLink, stateHash } from "../../src/lab/index.js";
import { defaultChoices } from "../../src/lab/own-data.js";
import { readOwnSeries } from "../../src/lab/own-series.js";
import { signalNames, topologyNames, transforms } from "../../src/lab/settings.js";
import { driveOf } from "../../src/lab/signal.js";
import { sampled } from "../exhaustive.js";
import { openDrivenChromium } from "./chromium.js";
import { openFirefox, openWebKit } from "./driven.js";

const hash = /^[0-9a-f]{64}$/;

const rows = Array.from({ length: 300 }, (_, t) => `${Math.sin(t / 5).toFixed(6)},${Math.cos(t / 5).toFixed(6)}`);
const wave = `load,oil\n${rows.join("\n")}\n`;

describe("every option of the lab", () => {
  let folder: string;
  let lab: Lab;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "spillway-lab-"));
    cpSync("dist/lab-page", folder, { recursive: true });
    const page = readFileSync(join(folder, "index.html"), "utf8");
    writeFileSync(join(folder, "index.html"), page.replace("<head>", '<head><script src="./watch.js"></script>'));
    writeFileSync(join(folder, "watch.js"), `(${watch})();`);
    lab = await openLab({ page: folder, engine: "cpu" });
  });
  afterAll(async () => {
    await lab.close();
    rmSync(folder, { recursive: true });
  });

  it.each(
    sampled(
      [
        ["Chromium", openDrivenChromium],
        ["Firefox", openFirefox],
        ["WebKit", openWebKit],
      ] as const,
      0.3,
      "browsers",
    ),
  )("works in %s, with the bits of Node", async (_, open) => {
    const browser = await open();
    try {
      await browser.goto(`${lab.url}#size=20`);
      const turns = (await browser.evaluate(`return (${turnEverything})()`)) as Turn[];
      const turned = (name: string) => turns.filter((turn) => turn.name === name).map(({ value }) => value);
      expect(new Set(turned("topology"))).toEqual(new Set(topologyNames()));
      expect(new Set(turned("signal"))).toEqual(new Set(signalNames));
      expect(new Set(turned("transform"))).toEqual(new Set(Object.keys(transforms)));
      for (const name of [...Object.keys(ranges), "readInput"]) expect(turned(name), name).toHaveLength(1);
      for (const { name, value, link, hash: here, problem } of turns) {
        expect(problem, `${name} ${value}`).toBe("");
        expect(here, `${name} ${value}`).toBe(await stateHash(settingsFromLink(link), "cpu"));
      }
      const colours = (await browser.evaluate(`return (${coloursOfPictures})()`)) as Record<string, number>;
      for (const [view, count] of Object.entries(colours)) expect(count, view).toBeGreaterThan(4);
      expect(Object.keys(colours)).toHaveLength(6);
      const own = (await browser.evaluate(`return (${turnOwnData})(${JSON.stringify(wave)})`)) as Turn[];
      expect(new Set(own.map(({ name }) => name))).toEqual(
        new Set(["own-file", "own-input", "own-target", "own-standardise", "own-train", "own-missing", "own-header", "own-decimal"]),
      );
      const { drive } = await readOwnSeries(wave, "wave.csv", defaultChoices);
      const settings = settingsFromLink(own[0]!.link);
      expect(own[0]!.hash).toBe(await stateHash(settings, "cpu", driveOf(settings, 0, drive).input));
      for (const { name, value, hash: here, problem } of own) {
        expect(here, `${name} ${value}`).toMatch(hash);
        // A decimal mark that reads no number gives way to the one that reads the file.
        expect(problem, `${name} ${value}`).toBe("");
      }
      const pressed = (await browser.evaluate(`return (${pressEveryButton})()`)) as { buttons: number; remote: string };
      expect(pressed.buttons).toBeGreaterThan(10);
      expect(pressed.remote).toMatch(/steps a second/);
      expect(await browser.evaluate("return watched")).toEqual([]);
    } finally {
      await browser.close();
    }
  });
});

/** A change that was made, and what the page showed after it. */
interface Turn {
  readonly name: string;
  readonly value: string;
  readonly link: string;
  readonly hash: string;
  /** What the page said of an error. */
  readonly problem: string;
}

/** Collects whatever a page reports as an error. It runs in the page, before everything else. */
function watch(): void {
  const watched: string[] = [];
  Object.assign(globalThis, { watched });
  const { error } = console;
  console.error = (...all: unknown[]) => {
    watched.push(all.join(" "));
    error(...all);
  };
  addEventListener("error", ({ message, target }) => watched.push(message ?? `not loaded: ${(target as Element).outerHTML}`), true);
  addEventListener("unhandledrejection", ({ reason }) => watched.push(String(reason)));
  document.addEventListener("securitypolicyviolation", ({ blockedURI }) => watched.push(`the policy refused ${blockedURI}`));
  globalThis.Worker = class extends Worker {
    constructor(...all: ConstructorParameters<typeof Worker>) {
      super(...all);
      this.addEventListener("error", ({ message }) => watched.push(`a worker: ${message}`));
    }
  };
}

/** Changes every control of the reservoir. It runs in the page. */
async function turnEverything(): Promise<Turn[]> {
  const text = (id: string) => document.getElementById(id)!.textContent!;
  const measured = async () => {
    while (document.getElementById("pictures")!.ariaBusy !== "false") await new Promise((resume) => setTimeout(resume, 10));
  };
  const turns: Turn[] = [];
  const turn = async (control: HTMLInputElement | HTMLSelectElement, value: string) => {
    if (control.type === "checkbox") control.click();
    else {
      control.value = value;
      control.dispatchEvent(new Event(control.type === "range" ? "input" : "change", { bubbles: true }));
    }
    await measured();
    const notes = text("results")
      .split("; ")
      .filter((each) => !/^(follows|prediction|spectral radius|capacity) ?\S* /.test(each));
    const shown = control.type === "checkbox" ? String((control as HTMLInputElement).checked) : control.value;
    turns.push({ name: control.name, value: shown, link: location.hash, hash: text("hash"), problem: notes.join("; ") });
  };
  await measured();
  const turned = new Set<string>();
  const turnSliders = async () => {
    for (const slider of document.querySelectorAll<HTMLInputElement>("#controls input")) {
      if (turned.has(slider.name) || !slider.checkVisibility()) continue;
      turned.add(slider.name);
      const middle = String((Number(slider.min) + Number(slider.max)) / 2);
      await turn(slider, slider.name === "size" ? "30" : slider.value === middle ? slider.max : middle);
    }
  };
  const select = (name: string) => document.querySelector<HTMLSelectElement>(`#controls select[name="${name}"]`)!;
  for (const name of ["topology", "signal", "transform"])
    for (const { value } of [...select(name).options].reverse()) {
      await turn(select(name), value);
      if (name === "topology") await turnSliders();
    }
  return turns;
}

/** Reads a file, and changes every choice of how. It runs in the page. */
async function turnOwnData(content: string): Promise<Turn[]> {
  const find = <Kind extends HTMLElement>(id: string) => document.getElementById(id) as Kind;
  const until = async (holds: () => boolean) => {
    while (!holds()) await new Promise((resume) => setTimeout(resume, 10));
  };
  const turns: Turn[] = [];
  const done = async (name: string, value: string) => {
    await until(() => find("own-problem").textContent !== "" || /rows/.test(find("own-summary").textContent!));
    await until(() => find("pictures").ariaBusy === "false");
    turns.push({ name, value, link: location.hash, hash: find("hash").textContent!, problem: find("own-problem").textContent! });
  };
  const change = async (control: HTMLInputElement | HTMLSelectElement, value: string) => {
    // What was said before is no answer to this.
    for (const id of ["own-problem", "own-summary"]) find(id).textContent = "";
    if (control.type === "checkbox") control.click();
    else {
      control.value = value;
      control.dispatchEvent(new Event("change", { bubbles: true }));
    }
    await done(control.id, value);
  };
  document.querySelector<HTMLElement>("#own summary")!.click();
  const data = new DataTransfer();
  data.items.add(new File([content], "wave.csv", { type: "text/csv" }));
  find<HTMLInputElement>("own-file").files = data.files;
  find("own-file").dispatchEvent(new Event("change", { bubbles: true }));
  await done("own-file", "wave.csv");
  await change(find<HTMLInputElement>("own-standardise"), "");
  await change(find<HTMLInputElement>("own-train"), "60");
  for (const id of ["own-target", "own-input", "own-missing", "own-header", "own-decimal"]) {
    const control = find<HTMLSelectElement>(id);
    for (const { value } of [...control.options])
      if (value !== control.value && !(id === "own-header" && value === "data")) await change(control, value);
  }
  return turns;
}

/** How many colours each picture has. It runs in the page. */
async function coloursOfPictures(): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const canvas of document.querySelectorAll("canvas")) {
    canvas.scrollIntoView();
    await new Promise((resume) => setTimeout(resume, 200));
    const { data } = canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height);
    counts[canvas.id] = new Set(new Uint32Array(data.buffer)).size;
  }
  return counts;
}

/** Presses everything that can be pressed. It runs in the page. */
async function pressEveryButton(): Promise<{ buttons: number; remote: string }> {
  const buttons = [...document.querySelectorAll<HTMLButtonElement>("button")].filter(
    (one) => one.checkVisibility() && one.id !== "remote-run",
  );
  for (const button of buttons) button.click();
  const say = (id: string, value: string) => Object.assign(document.getElementById(id)!, { value });
  say("remote-size", "60");
  say("remote-steps", "1000");
  const run = document.getElementById("remote-run") as HTMLButtonElement;
  const result = document.getElementById("remote-result")!;
  const answered = async (form: RegExp) => {
    while (!form.test(result.textContent!)) await new Promise((resume) => setTimeout(resume, 10));
  };
  await answered(/engine/);
  run.click();
  await answered(/steps a second|error/);
  return { buttons: buttons.length, remote: result.textContent! };
}
