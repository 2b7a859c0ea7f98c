// Conceptors (Jaeger 2014, arXiv 1403.3369): four patterns in one reservoir of 100 neurons, each
// recalled under its conceptor, and what their logic says of them.
import { Matrix, rmse } from "spillway";
import { type Conceptor, ConceptorMemory } from "spillway/model";

const noise = [0.1, -0.9, 0.4, 0.95, -0.35];
const shapes: Record<string, (t: number) => number> = {
  "sine of period 8.83": (t) => Math.sin((2 * Math.PI * t) / 8.8342522),
  "sine of period 9.83": (t) => Math.sin((2 * Math.PI * t) / 9.8342522),
  "sawtooth of period 7": (t) => (2 * (t % 7)) / 6 - 1,
  "five numbers over and over": (t) => noise[t % 5]!,
};
const rows = (shape: (t: number) => number, from: number, count: number) =>
  Matrix.from(Array.from({ length: count }, (_, t) => [shape(from + t)]));

await using memory = await ConceptorMemory.store(Object.values(shapes).map((shape) => rows(shape, 0, 600)));
for (const [j, [name, shape]] of Object.entries(shapes).entries()) {
  // Cued in another phase; 200 steps later it is still there.
  const made = await memory.recall(j, 50, { cue: rows(shape, 3, 150), settle: 200 });
  const wanted = rows(shape, 353, 50);
  // A tiny error of the period moves a sine: the error at its best phase.
  const errors = Array.from({ length: 981 }, (_, k) => rmse(j < 2 ? rows(shape, 353 + (k - 490) / 100, 50) : wanted, made));
  const { quota } = memory.conceptors[j]!;
  console.log(`${name}: error ${Math.min(...errors).toFixed(3)}, takes ${(100 * quota).toFixed(0)} % of the reservoir`);
}

const [slow, fast, sawtooth] = memory.conceptors as [Conceptor, Conceptor, Conceptor];
console.log(`sine and sine are alike: ${slow.similarity(fast).toFixed(2)}; sine and sawtooth: ${slow.similarity(sawtooth).toFixed(2)}`);
const all = memory.conceptors.reduce((a, b) => a.or(b));
console.log(`all of them together take ${(100 * all.quota).toFixed(0)} %; free is ${(100 * all.not().quota).toFixed(0)} %`);
