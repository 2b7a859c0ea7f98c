// A million steps at N = 100, streamed in chunks: resident memory must stay flat after the first
// 100,000.
import { Matrix, ReservoirComputer } from "spillway";

const chunk = 1000;
const chunks = 1000;
const data = new Float32Array(chunk);

async function* inputs() {
  for (let k = 0; k < chunks; k++) {
    for (let t = 0; t < chunk; t++) data[t] = ((k * chunk + t) % 97) / 97;
    yield new Matrix(chunk, 1, data);
  }
}

const megabytes = () => process.memoryUsage().rss / 2 ** 20;
const computer = await ReservoirComputer.create({ size: 100, seed: 1 });
let steps = 0;
let base = 0;
let highest = 0;
let checksum = 0;
for await (const states of computer.stream(inputs())) {
  steps += states.rows;
  checksum += states.at(states.rows - 1, 0);
  if (steps === 100_000) base = megabytes();
  if (steps > 100_000) highest = Math.max(highest, megabytes());
}
await computer.dispose();
console.log(`${steps.toLocaleString("en")} steps at N=100, checksum ${checksum.toFixed(6)}`);
console.log(
  `resident memory ${base.toFixed(1)} MiB after 100,000 steps, highest afterwards ${highest.toFixed(1)} MiB: growth ${(highest - base).toFixed(1)} MiB (bar 20)`,
);
if (highest - base > 20) process.exitCode = 1;
