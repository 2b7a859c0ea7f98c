// Runs every accuracy protocol and, with --write, keeps what they printed. Usage: npm run
// bench:accuracy [-- --write]
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import os from "node:os";

const date = new Date().toISOString().slice(0, 10);
const sections = [`Accuracy, ${date}, Node ${process.version}, ${os.cpus()[0]?.model.trim()}, ${os.cpus().length} threads`];
console.log(sections[0]);
let failed = false;
for (const name of ["series", "classification", "uea", "nearest-neighbour", "plasticity", "detection", "information-flow"]) {
  const { stdout, status } = spawnSync(process.execPath, [`bench/accuracy/${name}.mjs`], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  console.log(`\n${stdout.trimEnd()}`);
  sections.push(`## ${name}\n\n\`\`\`\n${stdout.trimEnd()}\n\`\`\``);
  failed ||= status !== 0;
}
if (process.argv.includes("--write")) writeFileSync(`bench/results/accuracy-${date}.md`, `${sections.join("\n\n")}\n`);
if (failed) process.exitCode = 1;
