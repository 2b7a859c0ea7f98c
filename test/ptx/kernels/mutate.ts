// Runs every mutant of every subject, or of those whose name holds the first argument, and lists the survivors. npx tsx test/ptx/kernels/mutate.ts [NAME]
import { fate, mutantsOf, mutate } from "./mutations.js";
import { subjects } from "./mutation-subjects.js";

const wanted = process.argv[2] ?? "";
const every = Number(process.argv[3] ?? 1);
const all = { killed: 0, lived: 0 };
for (const make of subjects) {
  const { name, ptx, check } = make();
  if (!name.includes(wanted)) continue;
  if (!check(ptx)) throw new Error(`${name} is wrong as it is`);
  const counts = { killed: 0, malformed: 0, lived: 0 };
  for (const [k, mutant] of mutantsOf(ptx).entries()) {
    if (k % every !== 0) continue;
    const end = fate(check, mutate(ptx, mutant));
    counts[end ?? "lived"]++;
    if (end === undefined) console.log(`  ${name}, line ${mutant.line + 1}: ${mutant.before.trim()}  ->  ${mutant.after.trim()}`);
  }
  all.killed += counts.killed;
  all.lived += counts.lived;
  const share = (100 * counts.killed) / (counts.killed + counts.lived);
  console.log(
    `${name}: ${counts.killed} of ${counts.killed + counts.lived} mutants noticed (${share.toFixed(1)}%), ${counts.malformed} were no PTX`,
  );
}
console.log(`in all: ${((100 * all.killed) / (all.killed + all.lived)).toFixed(1)}% of ${all.killed + all.lived}`);
