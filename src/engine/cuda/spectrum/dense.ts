// Spectral radii of many dense blocks side by side (kernels/dense_radius.cu), with the host's bits:
// one block of threads computes each.
import { Making } from "@spillway/core/disposal.js";
import type { Context } from "@spillway/gpu";
import type { DenseBlock } from "@spillway/numerics/spectrum/dense.js";
import { shippedKernel } from "../kernels.js";
import { freeMemory } from "../memory.js";

/** The share of the memory that is free which blocks may take: evaluations run beside them. */
const share = 0.125;

/** The engine's `denseRadii`. */
export async function denseRadiiOnDevice(context: Context, blocks: readonly DenseBlock[]): Promise<Float64Array | undefined> {
  const kernel = shippedKernel(context, "dense_radius", "dense_radii", ["f64*", "const i32*", "f64*"]);
  const count = blocks.reduce((sum, { values }) => sum + values.length, 0);
  if (8 * count > share * freeMemory(context)) return undefined;
  const rows = blocks.reduce((most, { n }) => Math.max(most, n), 0);
  using owned = new Making();
  const { own } = owned;
  const stream = own(context.stream({ label: "spectral radii" }));
  const values = own(context.alloc("f64", count, { label: "dense blocks" }));
  const table: number[] = [];
  let at = 0;
  for (const { n, ld, values: elements, exponent } of blocks) {
    stream.upload(values.slice(at, at + elements.length), elements);
    table.push(at, n, ld, exponent);
    at += elements.length;
  }
  const there = own(context.upload(Int32Array.from(table), { label: "table of dense blocks" }));
  const radii = own(context.alloc("f64", blocks.length, { label: "spectral radii" }));
  stream.launch(kernel, { grid: blocks.length, block: Math.min(256, 32 * Math.ceil(rows / 32)) }, values, there, radii);
  const found = await stream.download(radii);
  owned.dispose();
  return found;
}
