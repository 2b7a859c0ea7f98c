// The kernel matvec_reservoir alone, launch after launch in one graph, beside a copy of the same
// bytes on the device.
// Usage: npx tsx bench/gpu/matvec.ts [N...]
import { NeuromorphicKernels } from "../../src/engine/kernels/index.js";
import { type DeviceSlice, openDevice, type Stream } from "../../src/gpu/index.js";

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
console.log(`${context.info.name}: W x alone, 32 launches a graph; a copy reads and writes half as many bytes each\n`);
console.log("| case | us | bytes of W | TB/s | copy us | copy TB/s | share of the copy rate |");
console.log("|---|---|---|---|---|---|---|");
for (const precision of ["float32", "float64"] as const) {
  const type = precision === "float32" ? "f32" : "f64";
  using kernels = new NeuromorphicKernels(context, { precision });
  for (const size of sizes) {
    const vector = () => context.zeros(type, size, { label: "vector" });
    // Two matrices in turn: together they do not fit the second cache where one alone might.
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
    const bytes = first.byteLength;
    const rate = (time: number) => (bytes / time / 1e6).toFixed(3);
    const cells = [`N=${size} ${precision}`, product.toFixed(2), bytes.toLocaleString("en"), rate(product), copy.toFixed(2), rate(copy)];
    console.log(`| ${cells.join(" | ")} | ${((100 * copy) / product).toFixed(1)} % |`);
    for (const owned of [first, second, state, out]) owned.dispose();
  }
}
for (const owned of [start, end, stream, context]) owned.dispose();
