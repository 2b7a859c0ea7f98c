// The bench of sweeps on several devices, as a command: the CPU and the simulated device share out
// the seeds, and find what one of them finds.
import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";

function devices(...flags: readonly string[]) {
  const small = ["--seeds", "3", "--settings", "2", "--size", "20", "--rows", "80"];
  return spawnSync(process.execPath, ["bench/search/devices.mjs", ...small, ...flags], { encoding: "utf8" });
}

it("finds the same best reservoir, with the same bits, on one engine and shared out to two", () => {
  const { status, stdout } = devices("--engines", "cpu,sim");
  expect(status).toBe(0);
  const rows = stdout.split("\n").flatMap((line) => (/^\| [AD]|^\| C/.test(line) ? [line.split("|").map((cell) => cell.trim())] : []));
  expect(rows.map(([, name, work, count]) => [name, work, count])).toEqual([
    ["A", "3 x 2", "1"],
    ["C", "3 x 2", "2"],
    ["D, one", "6 x 2", "1"],
    ["D, 2", "6 x 2", "2"],
  ]);
  const [a, c, one, two] = rows.map((cells) => cells[6]);
  expect([a, one]).toEqual([c, two]);
  expect(a).toMatch(/^0\.\d{12,} \(seed [012]\)$/);
  expect(one).toMatch(/^0\.\d{12,} \(seed [3-8]\)$/);
});

it("ends with 1 if the process of an engine does", () => {
  const { status, stderr } = devices("--engines", "cpu,none");
  expect([status, stderr]).toEqual([1, expect.stringContaining("the process of none ended with 1")]);
});
