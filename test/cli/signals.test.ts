// Commands that are stopped, ended or left without readers, through the command line itself.
import type { ChildProcess } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { beforeEach, describe, expect, it } from "vitest";
import type { ExperimentResult } from "../../src/experiment/runs/result.js";
import { spillway } from "./spillway.js";

const faults = pathToFileURL(fileURLToPath(new URL("../io/file-faults.mjs", import.meta.url))).href;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-"));
  await writeFile(
    join(folder, "small.yaml"),
    "name: small\ndata: { task: narma, length: 700 }\nreservoir: { size: 30 }\ntask: predict\noutputs: { report: false }\n",
  );
  await writeFile(
    join(folder, "endless.ptx"),
    `.version 7.0
.target sm_80
.address_size 64
.visible .entry endless(.param .u64 p)
{
  .reg .b64 %rd<2>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, 0;
LOOP:
  add.u32 %r1, %r1, 1;
  st.global.u32 [%rd1], %r1;
  bra LOOP;
}
`,
  );
});

/**
 * What makes a command stop at its n-th change to files beneath runs/: killed, or computing for
 * ever.
 */
const faultAt = (what: "KILL_AT" | "HANG_AT", n: number) => ({
  NODE_OPTIONS: `--import ${faults}`,
  [what]: String(n),
  FAULTS_IN: join(folder, "runs"),
});

/** Sends a signal once, when `isTime`. */
function sending(signal: NodeJS.Signals, isTime: (stderr: string) => boolean) {
  let isSent = false;
  return (stderr: string, child: ChildProcess) => {
    if (isSent || !isTime(stderr)) return;
    isSent = true;
    child.kill(signal);
  };
}

async function resultIn(name: string): Promise<ExperimentResult> {
  return JSON.parse(await readFile(join(folder, "runs", name, "result.json"), "utf8")) as ExperimentResult;
}

const until = async (condition: () => boolean) => {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 20));
};

describe("a signal", () => {
  it("lets a run stop by itself, which keeps the seeds that are finished", async () => {
    const ended = await spillway(["run", "small.yaml", "--set", "seeds=100000"], {
      cwd: folder,
      watch: sending("SIGINT", (stderr) => /^small, seed [1-9]/m.test(stderr)),
    });
    expect(ended.code).toBe(130);
    expect(ended.stderr).toContain("stopping; what is finished is kept");
    expect(ended.stdout).toContain("interrupted");
    const { interrupted, seeds, scores } = await resultIn("small");
    expect([interrupted, scores[0]!.seeds]).toEqual([true, seeds.length]);
    expect(seeds.length).toBeGreaterThan(0);
  });

  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("%s ends an endless simulated kernel", async (signal, code) => {
    const args = ["ptx", "run", "endless.ptx", "--args", "u32[1]"];
    const watch = (_: string, child: ChildProcess) => setTimeout(() => child.kill(signal), 1000);
    const ended = await spillway(args, { cwd: folder, watch: (stderr, child) => stderr === "" && watch(stderr, child) });
    expect(ended).toMatchObject({ code, stderr: expect.stringContaining("the command did not stop by itself and was ended") });
  });

  it("ends a run that computes without a turn of the event loop, and keeps the seeds that were finished", async () => {
    // Two changes make folders, four a file: the model, the result of the first seed, and the one
    // of all, in which it hangs.
    const ended = await spillway(["run", "small.yaml", "--set", "seeds=3"], {
      cwd: folder,
      env: faultAt("HANG_AT", 13),
      watch: (stderr, child) => {
        if (stderr !== "") return;
        void until(() => hasResult(join(folder, "runs"))).then(() => child.kill("SIGTERM"));
      },
    });
    expect(ended.code).toBe(143);
    expect(ended.stderr).toContain(`what was finished is in ${join("runs", "small")}`);
    expect((await resultIn("small")).seeds).toHaveLength(1);
    expect(readdirSync(join(folder, "runs"))).toEqual(["small"]);
  });

  it("ends the lab", async () => {
    const ended = await spillway(["lab", "--no-open"], {
      cwd: folder,
      watch: (stderr, child) => stderr === "" && child.stdout!.once("data", () => child.kill("SIGTERM")),
    });
    expect(ended).toMatchObject({ code: 143, stderr: expect.not.stringContaining("was ended") });
  });

  it("twice ends a command at once", async () => {
    const ended = await spillway(["run", "small.yaml"], {
      cwd: folder,
      env: faultAt("HANG_AT", 5),
      watch: (stderr, child) => {
        if (stderr === "small: 0%\n") child.kill("SIGINT");
        if (stderr.includes("stopping")) child.kill("SIGINT");
      },
    });
    expect(ended.code).toBe(130);
    expect(readdirSync(join(folder, "runs"))).toEqual([]);
  });
});

/** Whether a run has written a result. */
function hasResult(runs: string): boolean {
  return existsSync(runs) && readdirSync(runs, { recursive: true }).some((name) => String(name).endsWith("result.json"));
}

describe("kill -9", () => {
  it("of the computing process, at any change to files, leaves the old or the new run whole and nothing else", async () => {
    await spillway(["run", "small.yaml", "--quiet"], { cwd: folder });
    await writeFile(join(folder, "runs", "small", "notes.txt"), "mine");
    let last = await resultIn("small");
    // Two make folders, four a file: the tenth puts result.json beside the model, and from then on
    // the run is finished.
    for (const n of [1, 4, 10, 11, 12, 13]) {
      const ended = await spillway(["run", "small.yaml", "--quiet"], { cwd: folder, env: faultAt("KILL_AT", n), supervised: true });
      expect(ended, `killed at change ${n}`).toMatchObject({ code: 137, stderr: expect.stringContaining("was ended by SIGKILL") });
      const now = await resultIn("small");
      expect(now.finished === last.finished, `killed at change ${n}`).toBe(n < 11);
      expect(readdirSync(join(folder, "runs")), `killed at change ${n}`).toEqual(["small"]);
      expect(readdirSync(join(folder, "runs", "small")).sort()).toEqual(["model.safetensors", "notes.txt", "result.json"]);
      last = now;
    }
  });

  it("of the first process ends the computing one, and the next command cleans up", async () => {
    const runs = join(folder, "runs");
    await spillway(["run", "small.yaml"], {
      cwd: folder,
      env: faultAt("HANG_AT", 5),
      watch: sending("SIGKILL", (stderr) => stderr === "small: 0%\n"),
    });
    const [left] = readdirSync(runs);
    const pid = Number(/-(\d+)-[0-9a-f]+\.partial$/.exec(left!)![1]);
    await until(() => {
      try {
        return !process.kill(pid, 0);
      } catch {
        return true;
      }
    });
    await spillway(["run", "small.yaml", "--quiet"], { cwd: folder });
    expect(readdirSync(runs)).toEqual(["small"]);
  });
});

describe("a run whose reader is gone", () => {
  it.each(["stdout", "stderr"] as const)("on %s is finished all the same", async (stream) => {
    const ended = await spillway(["run", "small.yaml"], {
      cwd: folder,
      watch: (stderr, child) => stderr === "" && child[stream]!.destroy(),
    });
    expect(ended.code).toBe(0);
    expect((await resultIn("small")).interrupted).toBe(false);
  });
});
