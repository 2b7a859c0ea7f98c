// Runs all mutants, or every EVERYth, of the kernels whose name holds NAME, and lists the
// survivors. npx tsx test/ptx/kernels/mutate.ts [NAME [EVERY]]

import { subjects } from "./mutation-subjects.js";
import { described, sweep } from "./mutations.js";

const [wanted = "", every = "1"] = process.argv.slice(2);
for (const [name, make] of Object.entries(subjects)) {
  if (!name.includes(wanted)) continue;
  const { noticed, malformed, survivors, share } = sweep(make(), Number(every));
  const of = noticed + survivors.length;
  console.log(`${name}: ${noticed} of ${of} mutants noticed (${(100 * share).toFixed(1)}%), ${malformed} were no PTX`);
  for (const each of survivors) console.log(`  ${described(each)}`);
}
