// What copies between page-locked memory and a GPU reach, beside PyTorch's in the same run (if
// python3 has torch), and that 256 MiB come back equal. Usage: npm run bench:gpu
import { spawnSync } from "node:child_process";
import { openDevice } from "spillway/gpu";

const bytes = 256 * 2 ** 20;
const context = openDevice(0);
const stream = context.stream();
const pinned = context.pinned("u8", bytes);
const returned = context.pinned("u8", bytes);
const target = context.alloc("u8", bytes);
const [start, end] = [context.event(), context.event()];

/** Median gigabytes a second, by events, of 20 copies after 3 that warm up. */
async function rate(copy) {
  const rates = [];
  for (let round = 0; round < 23; round++) {
    start.record(stream);
    copy();
    end.record(stream);
    await end.done();
    if (round >= 3) rates.push(bytes / end.elapsedSince(start) / 1e6);
  }
  return rates.toSorted((a, b) => a - b)[rates.length >> 1];
}

let state = 1;
for (let i = 0; i < bytes; i += 4096) {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  pinned.array.fill(state >>> 24, i, i + 4096);
}
const up = await rate(() => stream.upload(target, pinned));
const down = await rate(() => stream.read(target, returned));
const equal = Buffer.compare(pinned.array, returned.array) === 0;
console.log(
  `${context.info.name}: 256 MiB of page-locked memory, to the device ${up.toFixed(1)} GB/s, back ${down.toFixed(1)} GB/s, ${equal ? "equal" : "NOT EQUAL"}`,
);
for (const owned of [start, end, target, returned, pinned, stream, context]) owned.dispose();

const { stdout, status } = spawnSync("python3", [new URL("copies.py", import.meta.url).pathname], { encoding: "utf8" });
if (status !== 0) console.log("no PyTorch beside it: python3 has no torch here");
else {
  const theirs = JSON.parse(stdout);
  const share = (ours, other) => `${((100 * ours) / other).toFixed(0)} %`;
  console.log(
    `PyTorch ${theirs.version}: to the device ${theirs.up.toFixed(1)} GB/s (ours is ${share(up, theirs.up)} of it), back ${theirs.down.toFixed(1)} GB/s (${share(down, theirs.down)})`,
  );
}
if (!equal) process.exit(1);
