// The kernel matvec_reservoir alone, launch after launch in one graph, beside a copy of the same
// bytes on the device, and beside the best copy of the run: one size may be copied slowly.
// Usage: npx tsx bench/gpu/matvec.ts [N...]

import { type DeviceSlice, openDevice, type Stream } from "../../packages/gpu/src/index.js";
import { NeuromorphicKernels } from "../../src/engine/kernels/index.js";

const context = openDevice();
const stream = context.stream();
const [start, end] = [context.event(), context.event()];
const median = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!;

/**
 * Median microseconds of one of `count` pieces of work in a graph, over ten launches after two that
 * warm up.
 */
function microseconds(count: number, work: (stream: Stream) => void): number {
  using graph = stream.capture((captured) => {
    for (let i = 0; i < count; i++) work(captured);
  });
  const times: number[] = [];
  for (let round = 0; round < 12; round++) {
    start.record(stream);
    graph.launch(stream);
    end.record(stream);
    stream.sync();
    if (round >= 2) times.push((1000 * end.elapsedSince(start)) / count);
  }
  return median(times);
}

const sizes = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [1000, 4096, 8192, 16384];
/** What was measured of one size: bytes of W, and microseconds of a product and of a copy. */
interface Row {
  readonly label: string;
  readonly bytes: number;
  readonly product: number;
  readonly copy: number;
}
const rows: Row[] = [];
for (const precision of ["float32", "float64"] as const) {
  const type = precision === "float32" ? "f32" : "f64";
  using kernels = new NeuromorphicKernels(context, { precision });
  for (const size of sizes) {
    const vector = () => context.zeros(type, size, { label: "vector" });
    // Two matrices in turn: together they do not fit the second cache if one by itself might.
    const [first, second] = [context.zeros(type, size * size), context.zeros(type, size * size)];
    const [state, out] = [vector(), vector()];
    let turn = 0;
    const product = microseconds(32, (captured) => {
      const weights = turn++ % 2 === 0 ? first : second;
      kernels.on(captured).matvecReservoir({ weights, state, out });
    });
    // Reads half of a matrix and writes it to the other's half: as many bytes as a product reads.
    const half = Math.floor((size * size) / 2);
    const copy = microseconds(32, (captured) => {
      const [from, to] = turn++ % 2 === 0 ? [first, second] : [second, first];
      captured.copy(to.slice(0, half) as DeviceSlice<"f32">, from.slice(half, 2 * half) as DeviceSlice<"f32">);
    });
    rows.push({ label: `N=${size} ${precision}`, bytes: first.byteLength, product, copy });
    for (const owned of [first, second, state, out]) owned.dispose();
  }
}
const rate = (bytes: number, time: number): number => bytes / time / 1e6;
const best = Math.max(...rows.map(({ bytes, copy }) => rate(bytes, copy)));
console.log(`${context.info.name}: W x alone, 32 launches a graph; a copy reads and writes half as many bytes each\n`);
console.log(`| case | us | bytes of W | TB/s | copy us | copy TB/s | share of the best copy, ${best.toFixed(3)} TB/s |`);
console.log("|---|---|---|---|---|---|---|");
for (const { label, bytes, product, copy } of rows) {
  const [reached, copied] = [rate(bytes, product), rate(bytes, copy)];
  const cells = [label, product.toFixed(2), bytes.toLocaleString("en"), reached.toFixed(3), copy.toFixed(2), copied.toFixed(3)];
  console.log(`| ${cells.join(" | ")} | ${((100 * reached) / best).toFixed(1)} % |`);
}
for (const owned of [start, end, stream, context]) owned.dispose();
