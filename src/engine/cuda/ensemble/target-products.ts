// Products of a reservoir's states with targets on a device: states on one stream, products on
// another and the triangular factor on a third, chunk by chunk. Nothing but sums comes to the host.
import type { Context, DeviceEvent, Stream } from "../../../gpu/index.js";
import { isSparse, Matrix } from "../../../numerics/index.js";
import { NonFiniteStateError } from "../../../reservoir/engine/errors.js";
import type { SweepBase, SweepMember, TargetProducts, TargetWork } from "../../../reservoir/engine.js";
import { plainFeatures } from "../../../reservoir/features.js";
import type { ReservoirModel } from "../../../reservoir/model.js";
import { WorkPacer } from "../../../reservoir/work.js";
import { abandonAll, disposeAll } from "../dispose.js";
import { type AnyKernel, loadEntries, type RealParameter, realKernel, realType } from "../kernels.js";
import { freeMemory } from "../memory.js";
import { elementBytes } from "../shape.js";
import type { RealSlice } from "../time-loop.js";
import { factorKernel, factorShape, panelRows, reflectionColumns } from "./measures.js";
import { type SweepShape, SweptMembers, sweepShape } from "./swept-members.js";
import { Uploads } from "./uploads.js";

const file = "information_capacity";

/** Rows of a block of sums; targets and, at most, left columns of a tile. */
const blockRows = 1024;
const targetTile = 128;
const leftTile = 64;

/** Blocks of rows whose sums are made beside each other, and bytes of them at most. */
const mostBlocks = 8;
const partBytes = 2 ** 30;

/** Undefined if the reservoir runs in another way. */
export function multiplyTargets(context: Context, model: ReservoirModel, work: TargetWork): Promise<TargetProducts> | undefined {
  if (model.inputSize !== 1 || model.cell) return undefined;
  const base = baseOfModel(model);
  const shape = sweepShape(context, [base]);
  return shape && new Multiplication(context, model, base, work, shape).run();
}

/** A model as a base whose only member has its matrices: every factor is 1. */
function baseOfModel(model: ReservoirModel): SweepBase {
  const { weights, inputWeights, bias, size, inputSize } = model;
  const draws = isSparse(weights)
    ? { ...weights, values: Float64Array.from(weights.values) }
    : new Matrix(size, size, Float64Array.from(weights.data));
  const inputDraws = new Matrix(size, inputSize, Float64Array.from(inputWeights.data));
  return { model, draws, inputDraws, biasDraws: Float64Array.from(bias) };
}

class Multiplication {
  readonly #context: Context;
  readonly #model: ReservoirModel;
  readonly #work: TargetWork;
  readonly #members: SweptMembers;
  readonly #kernels: Readonly<Record<"origin" | "rows" | "products" | "fold" | "factor", AnyKernel>>;

  constructor(context: Context, model: ReservoirModel, base: SweepBase, work: TargetWork, shape: SweepShape) {
    this.#context = context;
    this.#model = model;
    this.#work = work;
    const { leakRate, noiseLevel, precision } = model;
    const rates = leakRate.every((rate) => rate === leakRate[0]) ? leakRate[0]! : Array.from(leakRate);
    const member: SweepMember = { ...{ base: 0, factor: 1, inputScaling: 1, bias: 1, lambda: 0 }, leakRate: rates, noiseLevel };
    const readouts = { bases: [base], members: [member], washout: 0, features: plainFeatures, constant: true };
    this.#members = new SweptMembers(context, readouts, 0, shape, undefined);
    const real = (name: string, parameters: readonly RealParameter[]) =>
      realKernel(context, file, `capacity_${name}_${realType(precision)}`, precision, parameters);
    this.#kernels = {
      origin: real("origin", ["const real*", "i32", "f64*"]),
      rows: real("rows", ["const real*", "const f64*", "i32", "i32", "i32", "f64*"]),
      products: real("products", [
        ...(["const real*", "const f64*", "i32", "i32", "const f64*", "i64", "i64"] as const),
        ...(["const u32*", "const u8*", "const u32*", "i32", "f64*", "f64*", "i32"] as const),
      ]),
      fold: loadEntries(context, file, ["capacity_fold"]).kernel("capacity_fold", [
        ...(["const f64*", "i32", "i64", "f64*"] as const),
      ]) as unknown as AnyKernel,
      factor: factorKernel(context),
    };
  }

  async run(): Promise<TargetProducts> {
    const { inputs, washout, values, targets } = this.#work;
    const { size, precision } = this.#model;
    const context = this.#context;
    const lefts = size + 1;
    const rows = inputs.rows - washout;
    const pacer = new WorkPacer(this.#work, rows);
    const streams = ["states", "products", "triangle"].map((label) => context.stream({ label })) as [Stream, Stream, Stream];
    const [states, work, factor] = streams;
    const memory = new Uploads(context, states, precision);
    const draws = new Uploads(context, states, "float64");
    const events: DeviceEvent[] = [];
    const event = (stream: Stream) => {
      const made = context.event({ timing: false });
      events.push(made);
      made.record(stream);
      return made;
    };
    try {
      const values1 = targets.count * (lefts + 1);
      const blocks = Math.max(1, Math.min(mostBlocks, Math.floor(partBytes / (8 * values1)), Math.ceil(rows / blockRows)));
      const chunk = blocks * blockRows;
      const wave = this.#members.wave(0, 1);
      const prepared = this.#members.prepare(states, memory, wave, this.#members.upload(draws));
      this.#members.reset(states, prepared);
      const series = memory.matrix([inputs], inputs.data.length, "inputs", ({ data }) => data);
      const pitch = inputs.rows;
      const polynomials = memory.take("f64", values.length * pitch, "polynomials");
      for (const [d, row] of values.entries())
        states.upload(polynomials.slice(d * pitch, (d + 1) * pitch), row as Float64Array<ArrayBuffer>);
      const first = memory.take("u32", targets.count + 1, "first terms");
      const degrees = memory.take("u8", targets.termDegrees.length, "degrees of terms");
      const delays = memory.take("u32", targets.termDelays.length, "delays of terms");
      states.upload(first, targets.first as Uint32Array<ArrayBuffer>);
      states.upload(degrees, targets.termDegrees as Uint8Array<ArrayBuffer>);
      states.upload(delays, targets.termDelays as Uint32Array<ArrayBuffer>);
      const products = memory.take("f64", targets.count * lefts, "products");
      const squares = memory.take("f64", targets.count, "squares");
      const parts = memory.take("f64", blocks * targets.count * lefts, "products of blocks");
      const partSquares = memory.take("f64", blocks * targets.count, "squares of blocks");
      const origin = memory.take("f64", size, "first states");
      const panels = memory.take("f64", panelRows * lefts, "panels");
      const triangle = memory.take("f64", lefts * lefts, "triangle");
      const scratch = memory.take("f64", reflectionColumns * lefts, "reflections");
      for (const filled of [products, squares, triangle]) states.fill(filled);
      // As many chunks of states as there is room for: the states then run ahead.
      const chunkBytes = chunk * size * elementBytes(precision);
      const slots = Math.max(2, Math.min(Math.ceil(rows / chunk), Math.floor((freeMemory(context) * 0.25) / chunkBytes)));
      const ring = Array.from({ length: slots }, () => memory.real(chunk * size, "states"));
      const used: DeviceEvent[] = [];
      if (washout > 0) this.#washOut(states, wave, prepared, series, ring[0]!, chunk);
      const { threads, tiles } = this.#tiles(lefts);
      const fused = this.#model.config.arithmetic === "fast" ? 1 : 0;
      for (let from = 0, c = 0; from < rows; from += chunk, c++) {
        const count = Math.min(chunk, rows - from);
        const slot = ring[c % slots]!;
        if (used[2 * (c - slots)]) for (const before of used.slice(2 * (c - slots), 2 * (c - slots) + 2)) states.wait(before);
        this.#members.run(states, wave, prepared, series, slot, washout + from, washout + from + count);
        if (c === 0) states.launch(this.#kernels.origin, { grid: 1, block: 256 }, ...([slot, size, origin] as never[]));
        const made = event(states);
        work.wait(made);
        factor.wait(made);
        const parted = Math.ceil(count / blockRows);
        const grid = [Math.ceil(targets.count / targetTile) * tiles, parted] as const;
        const given = [slot, origin, count, size, polynomials, pitch, washout + from, first, degrees, delays, targets.count];
        work.launch(this.#kernels.products, { grid, block: threads }, ...([...given, parts, partSquares, fused] as never[]));
        this.#fold(work, parts, parted, targets.count * lefts, products);
        this.#fold(work, partSquares, parted, targets.count, squares);
        for (let t = 0; t < count; t += panelRows) {
          const panel = Math.min(panelRows, count - t);
          const config = { grid: Math.ceil((panel * lefts) / 1024), block: 256 };
          factor.launch(this.#kernels.rows, config, ...([slot, origin, t, panel, size, panels] as never[]));
          const reflections = [panels, 0, panel, 0, lefts, lefts, triangle, scratch];
          factor.launch(this.#kernels.factor, factorShape(1), ...(reflections as never[]));
        }
        used.push(event(work), event(factor));
        // The host may be some chunks ahead, and no more: work can be stopped.
        if (c >= 2) await used[2 * (c - 2)]!.done();
        if (pacer.due()) await pacer.pause(from);
      }
      for (const stream of streams) await stream.done();
      const failure = await states.download(prepared.failures.as("u32"));
      if (failure[0] !== 0xffffffff || failure[1] !== 0xffffffff) throw new NonFiniteStateError(failure[1]!, failure[0]!);
      const found = {
        products: await work.download(products),
        squares: await work.download(squares),
        triangle: new Matrix(lefts, lefts, await factor.download(triangle)),
      };
      disposeAll([...streams, memory, draws, ...events]);
      pacer.finish();
      return found;
    } catch (error) {
      abandonAll([...streams, memory, draws, ...events]);
      throw error;
    }
  }

  #washOut(
    stream: Stream,
    wave: Parameters<SweptMembers["run"]>[1],
    prepared: Parameters<SweptMembers["run"]>[2],
    series: RealSlice,
    states: RealSlice,
    chunk: number,
  ): void {
    for (let from = 0; from < this.#work.washout; from += chunk)
      this.#members.run(stream, wave, prepared, series, states, from, Math.min(this.#work.washout, from + chunk));
  }

  /** Threads of a block, 16 targets wide, and tiles of left columns. */
  #tiles(lefts: number): { readonly threads: number; readonly tiles: number } {
    const most = Math.ceil(lefts / leftTile);
    const width = Math.max(16, Math.ceil(lefts / most / 4) * 4);
    return { threads: 4 * width, tiles: Math.ceil(lefts / width) };
  }

  #fold(stream: Stream, parts: unknown, blocks: number, count: number, totals: unknown): void {
    const config = { grid: Math.min(65_535, Math.ceil(count / 256)), block: 256 };
    stream.launch(this.#kernels.fold, config, ...([parts, blocks, count, totals] as never[]));
  }
}
