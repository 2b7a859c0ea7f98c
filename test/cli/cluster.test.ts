// The examples for clusters, as far as they run without one: the script with the variables that
// Slurm sets, and the arguments of the Kubernetes Jobs.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { journalFile, StudyLog } from "../../packages/search/src/index.js";
import { exitCodes } from "../../src/cli/exit.js";
import { spillway } from "./spillway.js";

const cwd = mkdtempSync(join(tmpdir(), "spillway-cluster-"));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const file = `name: n
data: { task: narma }
reservoir: { size: 20 }
task: predict
washout: 30
split: { train: 300, test: 100 }
metrics: [nrmse]
search:
  space: { reservoir.spectralRadius: { float: [0.1, 1.4] } }
  sampler: random
  seeds: 1
  budget: { trials: 6 }
`;
const slurm = resolve("examples/cluster/slurm.sh");

beforeAll(() => {
  writeFileSync(join(cwd, "n.yaml"), file);
  mkdirSync(join(cwd, "bin"));
  const command = (name: string, text: string) => writeFileSync(join(cwd, "bin", name), `#!/bin/bash\n${text}\n`, { mode: 0o755 });
  command("spillway", `exec ${JSON.stringify(process.execPath)} ${JSON.stringify(resolve("dist/cli/main.js"))} "$@"`);
  command("scontrol", `echo "$@" >> ${JSON.stringify(join(cwd, "scontrol.log"))}`);
});

const task = (id: number, more: Readonly<Record<string, string>> = {}) => ({
  ...process.env,
  PATH: `${join(cwd, "bin")}${delimiter}${process.env["PATH"]}`,
  SLURM_ARRAY_JOB_ID: "71",
  SLURM_ARRAY_TASK_ID: String(id),
  SLURM_ARRAY_TASK_COUNT: "2",
  SLURM_CPUS_PER_TASK: "1",
  TMPDIR: cwd,
  ...more,
});

async function statesIn(journal: string): Promise<string[]> {
  const log = new StudyLog();
  log.apply(await journalFile(journal).read(0));
  return [...log.studies.values()].flatMap(({ trials }) => trials.map(({ state }) => state));
}

describe.skipIf(process.platform === "win32")("the Slurm array", () => {
  it("takes a part a task, which are merged", async () => {
    for (const id of [0, 1]) expect(spawnSync("bash", [slurm, "n.yaml"], { cwd, env: task(id) }).status).toBe(0);
    const merged = await spillway(["runs", "n", "--merge", "n-0-of-2", "n-1-of-2"], { cwd });
    expect(merged.stdout).toContain("6 trials came in");
  });

  it("shares a storage if there is one", async () => {
    const storage = join(cwd, "shared.log");
    for (const id of [0, 1])
      expect(spawnSync("bash", [slurm, "n.yaml", "--trials", "4"], { cwd, env: task(id, { SPILLWAY_STORAGE: storage }) }).status).toBe(0);
    expect(await statesIn(storage)).toEqual(Array(4).fill("complete"));
  });

  it("gives back what it has in work when its time is over, and asks to be queued again", async () => {
    const storage = join(cwd, "stopped.log");
    const child = spawn("bash", [slurm, "n.yaml", "--trials", "100000"], { cwd, env: task(1, { SPILLWAY_STORAGE: storage }) });
    const ended = new Promise((done) => child.once("exit", done));
    while (!existsSync(storage) || !(await statesIn(storage)).includes("complete")) await new Promise((later) => setTimeout(later, 50));
    child.kill("SIGTERM");
    expect(await ended).toBe(0);
    expect(readFileSync(join(cwd, "scontrol.log"), "utf8")).toBe("requeue 71_1\n");
    expect(await statesIn(storage)).not.toContain("running");
  });
});

describe("the Kubernetes Jobs", () => {
  const jobs = parseAllDocuments(readFileSync("examples/cluster/kubernetes.yaml", "utf8")).map((each) => each.toJS());
  const argsOf = (job: (typeof jobs)[number]): string[] => job.spec.template.spec.containers[0].args;

  it("are two, indexed, whose pods are given time to stop", () => {
    expect(jobs.map(({ kind, spec }) => [kind, spec.completionMode, spec.template.spec.restartPolicy])).toEqual(
      Array(2).fill(["Job", "Indexed", "Never"]),
    );
    // More than --grace, in which trials end or are given back.
    for (const { spec } of jobs) expect(spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThan(30);
  });

  it("count no failure of a pod that left work behind", () => {
    const ignored = { action: "Ignore", onExitCodes: { operator: "In", values: [exitCodes.workLeft] } };
    for (const { spec } of jobs) expect(spec.podFailurePolicy).toEqual({ rules: [ignored] });
  });

  it.each([0, 1])("give arguments that spillway takes, %d", async (which) => {
    const out = join(cwd, `pod-${which}`);
    const replaced: Readonly<Record<string, string>> = {
      "/experiment/narma10.yaml": "n.yaml",
      "redis://valkey:6379/0?prefix=narma10": join(out, "all.log"),
      "20000": "3",
      "4": "2",
      "/tmp/runs": out,
      "/runs": out,
      "$(JOB_COMPLETION_INDEX)/8": "0/8",
    };
    const { code, stderr } = await spillway(argsOf(jobs[which]!).map((word) => replaced[word] ?? word), { cwd }); // biome-ignore format: one line
    expect([code, stderr]).toEqual([0, ""]);
    expect(existsSync(join(out, which === 0 ? "n/search.json" : "n-0-of-8/search.json"))).toBe(true);
  });
});
