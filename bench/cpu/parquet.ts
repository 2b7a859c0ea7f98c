// Two of four columns of a Parquet file of ten million rows: time, and memory beside the two
// columns. pyarrow writes the file and reads it in the same run. Usage:
//   PYTHON=python3 npx tsx bench/cpu/parquet.ts

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import os, { tmpdir } from "node:os";
import { join } from "node:path";
import { readParquet } from "../../packages/io/src/index.js";
import { machine } from "./machine.mjs";

const rows = 10_000_000;
const mebibytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(0);

/** One read in a process of its own: a later read in the same process would reuse freed memory. */
async function read(path: string): Promise<void> {
  const base = process.memoryUsage().rss;
  const [begun, since] = [performance.now(), process.cpuUsage()];
  const { matrix } = await readParquet(path, { columns: ["load", "temperature"] });
  const wall = performance.now() - begun;
  const { user, system } = process.cpuUsage(since);
  if (matrix.rows !== rows) throw new Error(`${matrix.rows} rows were read`);
  console.log(JSON.stringify({ wall: wall / 1000, cpu: (user + system) / 1e6, growth: process.resourceUsage().maxRSS * 1024 - base }));
}

function bench(): void {
  const folder = mkdtempSync(join(tmpdir(), "spillway-bench-"));
  try {
    const path = join(folder, "ten.parquet");
    const made = spawnSync(process.env["PYTHON"] ?? "python3", [join(import.meta.dirname, "parquet.py"), path], { encoding: "utf8" });
    if (made.status !== 0) throw new Error(`parquet.py needs pyarrow and NumPy: ${made.stderr}`);
    for (const line of machine()) console.log(line);
    console.log(`Node ${process.version}, load ${os.loadavg()[0]!.toFixed(0)}`);
    console.log(`${rows} rows x 4 columns, ${mebibytes(statSync(path).size)} MiB, snappy; two columns of binary64 are read, best of 5`);
    console.log(made.stdout.trim());
    const all = Array.from({ length: 5 }, () => {
      const { stdout, stderr, status } = spawnSync(process.execPath, [...process.execArgv, import.meta.filename, path], {
        encoding: "utf8",
      });
      if (status !== 0) throw new Error(stderr);
      return JSON.parse(stdout) as { readonly wall: number; readonly cpu: number; readonly growth: number };
    });
    const best = (of: "wall" | "cpu" | "growth") => Math.min(...all.map((each) => each[of]));
    const columns = rows * 2 * 8;
    console.log(
      `readParquet, into a matrix: ${best("wall").toFixed(2)} s, ${best("cpu").toFixed(2)} s of the processor; memory grows by at most ` +
        `${mebibytes(Math.max(...all.map(({ growth }) => growth)))} MiB, ${(Math.max(...all.map(({ growth }) => growth)) / columns).toFixed(2)} times the two columns (${mebibytes(columns)} MiB)`,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const [, , path] = process.argv;
if (path === undefined) bench();
else await read(path);
