// `npm run fuzz -- FORMAT --cases N --seed S`. What a finding is, and how a format is added, stands
// in format.ts.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { formatNames } from "./cases.js";
import { type Finding, Fuzzer, type Report } from "./run.js";

const usage = `npm run fuzz -- FORMAT [--cases 1000] [--seed 1] [--out runs/fuzz]
npm run fuzz -- FORMAT --input FILE
FORMAT is ${formatNames.join(", ")}, or all`;

function fail(sentence: string): never {
  console.error(`${sentence}\n\n${usage}`);
  process.exit(2);
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    cases: { type: "string", default: "1000" },
    seed: { type: "string", default: "1" },
    out: { type: "string", default: "runs/fuzz" },
    input: { type: "string" },
  },
});
const [name] = positionals;
if (name === undefined || positionals.length > 1) fail("fuzz takes one format");
if (name !== "all" && !formatNames.includes(name)) fail(`there is no format "${name}"`);
if (!/^[1-9][0-9]{0,8}$/.test(values.cases)) fail(`--cases is "${values.cases}"; it takes a whole number`);

const fuzzer = new Fuzzer();
process.on("SIGINT", () => {
  fuzzer.dispose();
  process.exit(130);
});
let found = 0;
if (values.input !== undefined) {
  const problem = await fuzzer.once(name, readFileSync(values.input));
  console.log(problem ? `${problem.kind}: ${problem.text}` : "nothing is wrong with it");
  found = problem ? 1 : 0;
} else {
  for (const format of name === "all" ? formatNames : [name]) {
    const onProgress = (done: number): void => {
      if (process.stderr.isTTY) process.stderr.write(`\r${format}: ${done} of ${values.cases}\u001b[K`);
    };
    const report = await fuzzer.run(format, { cases: Number(values.cases), seed: values.seed, onProgress });
    if (process.stderr.isTTY) process.stderr.write("\r\u001b[K");
    console.log(summary(report));
    for (const finding of report.findings) console.log(saved(finding));
    found += report.findings.length;
  }
}
fuzzer.dispose();
process.exitCode = found > 0 ? 1 : 0;

function summary({ format, cases, refused, seconds, slowestMs, slowest, growthBytes, findings }: Report): string {
  const megabytes = Math.round(growthBytes / 2 ** 20);
  return `${format}: ${cases} cases of seed ${values.seed} in ${seconds.toFixed(1)} s, ${refused} refused; slowest ${slowestMs.toFixed(0)} ms (case ${slowest}), largest growth ${megabytes} MiB; ${findings.length} problems`;
}

function saved({ format, index, problem, input, alone, cases }: Finding): string {
  mkdirSync(values.out, { recursive: true });
  const path = join(values.out, `${format}-${values.seed}-${index}.bin`);
  writeFileSync(path, input);
  const shown = [...input.subarray(0, 400)]
    .map((byte) => (byte >= 0x20 && byte < 0x7f && byte !== 0x5c ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, "0")}`))
    .join("");
  const more = input.length > 400 ? `... (${input.length} bytes)` : "";
  const note = alone ? "" : "  only after the cases before it\n";
  return `\n- ${problem.kind}, case ${index} and ${cases - 1} more: ${problem.text.slice(0, 1500)}\n${note}  ${path}: ${shown}${more}\n`;
}
