// The live processes of the CPU benchmarks end with the benchmark, however it ends.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { expect, it } from "vitest";

const live = pathToFileURL("bench/cpu/live.mjs").href;
/** A child that never looks at its input, as one in a long piece of work. */
const busy = "console.log(JSON.stringify({ pid: process.pid })); for (;;);";
const parent = `import { live } from ${JSON.stringify(live)};
const side = live("busy", process.execPath, ["-e", ${JSON.stringify(busy)}], {});
console.log((await side.ask({})).pid);
await new Promise((resolve) => setTimeout(resolve, 1e6));`;

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

it.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)("children end with a benchmark that is stopped by %s", async (signal) => {
  const bench = spawn(process.execPath, ["--input-type=module", "-e", parent], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(createInterface({ input: bench.stdout }), "line")) as [string];
  const pid = Number(line);
  expect(isAlive(pid)).toBe(true);
  bench.kill(signal);
  await once(bench, "exit");
  for (let k = 0; isAlive(pid) && k < 200; k++) await new Promise((resolve) => setTimeout(resolve, 50));
  const left = isAlive(pid);
  if (left) process.kill(pid, "SIGKILL");
  expect(left).toBe(false);
});
