// Nearest neighbours by all pairs on a device (kernels/nearest_neighbours.cu), for several x in one
// launch.
import { disposeAll, Making } from "@spillway/core/disposal.js";
import type { Context, DeviceBuffer, Dtype } from "@spillway/gpu";
import { EngineCapacityError, type NeighbourCounts, type NeighbourSpace, type WorkOptions } from "../../reservoir/engine.js";
import { WorkPacer } from "../../reservoir/work.js";
import { type AnyKernel, loadEntries } from "./kernels.js";
import { freeMemory } from "./memory.js";

/** Points of a block. */
const tile = 128;

/** Pairs of a launch: some seconds at the most, if no tile can be left out. */
const mostPairs = 2 ** 39;

/** A launch has at most so many blocks along its second axis. */
const mostForms = 65_535;

/** Bytes of all forms of x together: more would gain nothing. */
const mostBytes = 2 ** 30;

/**
 * The engine's `neighbourCounts`. Points are put in order of a column of z, or of y, which the
 * kernels leave out distant tiles by.
 */
export async function* neighbourCounts(
  context: Context,
  { y, z, k, window, each }: NeighbourSpace,
  xs: Iterable<readonly Float64Array[]>,
  { signal }: Pick<WorkOptions, "signal"> = {},
): AsyncGenerator<NeighbourCounts> {
  const forms = xs[Symbol.iterator]();
  const begun = forms.next();
  if (begun.done) return;
  const pacer = new WorkPacer({ signal }, 0);
  const n = y[0]!.length;
  const dx = begun.value.length;
  const bytes = n * (8 * dx + 12 * k + 28);
  const shared = n * (8 * (y.length + z.length) + 8);
  const free = freeMemory(context) - shared;
  if (bytes > free)
    throw new EngineCapacityError(
      `a search among ${n.toLocaleString("en")} points on ${context.info.name}`,
      bytes + shared,
      free + shared,
      'take fewer rows, or the engine "cpu"',
    );
  const together = Math.max(1, Math.floor(Math.min(mostForms, mostPairs / n ** 2, Math.min(mostBytes, 0.8 * free) / bytes)));

  const key = z[0] ?? y[0]!;
  const rows = Uint32Array.from({ length: n }, (_, i) => i).sort((a, b) => key[a]! - key[b]! || a - b);
  const positions = new Uint32Array(n);
  rows.forEach((row, p) => {
    positions[row] = p;
  });
  const sorted = (columns: readonly Float64Array[], into: Float64Array, from = 0): void =>
    columns.forEach((column, c) => {
      for (let p = 0; p < n; p++) into[from + c * n + p] = column[rows[p]!]!;
    });

  const several = dx > 1 || y.length > 1 || z.length > 1;
  const [scales, counts] = kernelsOf(context, several ? "several" : "single");
  using owned = new Making();
  const { own } = owned;
  const stream = own(context.stream({ label: "nearest neighbours" }));
  const buffer = <T extends Dtype>(dtype: T, values: number, label: string): DeviceBuffer<T> =>
    own(context.alloc(dtype, values, { label }));
  const still = new Float64Array((y.length + z.length) * n);
  sorted([...y, ...z], still);
  const yz = own(context.upload(still, { label: "points" }));
  const rowsThere = own(context.upload(rows, { label: "rows of points" }));
  const positionsThere = own(context.upload(positions, { label: "positions of rows" }));
  let most = 0;
  let memory: ReturnType<typeof memoryFor> | undefined;
  const memoryFor = (count: number) => ({
    x: buffer("f64", count * dx * n, "forms of x"),
    distances: buffer("f64", count * k * n, "distances of neighbours"),
    positions: buffer("u32", count * k * n, "positions of neighbours"),
    radiiX: buffer("f64", count * n, "radii in x"),
    radiiY: buffer("f64", count * n, "radii in y"),
    counts: buffer("u32", 3 * count * n, "counts of neighbours"),
  });
  for (let next: IteratorResult<readonly Float64Array[]> = begun; !next.done; ) {
    const batch: (readonly Float64Array[])[] = [];
    for (; !next.done && batch.length < together; next = forms.next()) {
      batch.push(next.value);
      if (pacer.due()) await pacer.pause(0);
    }
    const count = batch.length;
    if (count > most) {
      if (memory) disposeAll(Object.values(memory));
      memory = memoryFor(count);
      most = count;
    }
    const { x, distances, positions: nearest, radiiX, radiiY, counts: all } = memory!;
    const values = new Float64Array(count * dx * n);
    batch.forEach((columns, b) => {
      sorted(columns, values, b * dx * n);
    });
    stream.upload(x.slice(0, values.length), values);
    const shape = { grid: [Math.ceil(n / tile), count] as const, block: tile };
    const size = [n, dx, y.length, z.length, window] as const;
    stream.launch(scales, shape, x, yz, rowsThere, distances, nearest, radiiX, radiiY, ...size, k, Number(each));
    const part = (i: number) => all.slice(i * count * n, (i + 1) * count * n);
    stream.launch(counts, shape, x, yz, rowsThere, positionsThere, radiiX, radiiY, part(0), part(1), part(2), ...size);
    const found = await stream.download(all.slice(0, (z.length > 0 ? 3 : 2) * count * n));
    pacer.check(0);
    const inRows = (part: number, b: number): Uint32Array => {
      const out = new Uint32Array(n);
      for (let p = 0, at = (part * count + b) * n; p < n; p++, at++) out[rows[p]!] = found[at]!;
      return out;
    };
    for (let b = 0; b < count; b++)
      yield { inXZ: inRows(0, b), inYZ: inRows(1, b), inZ: z.length > 0 ? inRows(2, b) : new Uint32Array(n).fill(n - 1) };
  }
  owned.dispose();
}

function kernelsOf(context: Context, space: "single" | "several"): readonly [AnyKernel, AnyKernel] {
  const names = [`neighbour_scales_${space}`, `neighbour_counts_${space}`] as const;
  const module = loadEntries(context, "nearest_neighbours", names);
  const sizes = ["i32", "i32", "i32", "i32", "i32"] as const;
  const points = ["const f64*", "const f64*", "const u32*"] as const;
  return [
    module.kernel(names[0], [...points, "f64*", "u32*", "f64*", "f64*", ...sizes, "i32", "i32"]),
    module.kernel(names[1], [...points, "const u32*", "const f64*", "const f64*", "u32*", "u32*", "u32*", ...sizes]),
  ];
}
