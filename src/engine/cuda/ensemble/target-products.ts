// Products of a reservoir's states with targets on a device: states on one stream, products on
// another and the triangular factor on a third, chunk by chunk. Nothing but sums comes to the host.
import { Making } from "@spillway/core/disposal.js";
import type { Context, DeviceEvent, Stream } from "@spillway/gpu";
import { isSparse, Matrix } from "@spillway/numerics";
import { NonFiniteStateError } from "../../../reservoir/engine/errors.js";
import type { SurrogateWork, SweepBase, SweepMember, TargetProducts, TargetTerms, TargetWork } from "../../../reservoir/engine.js";
import type { ReservoirModel } from "../../../reservoir/model.js";
import { isDeviceOnly } from "../../../reservoir/weight-draws.js";
import { WorkPacer } from "../../../reservoir/work.js";
import { type AnyArgument, type AnyKernel, shippedKernel } from "../kernels.js";
import { freeMemory } from "../memory.js";
import { elementBytes } from "../shape.js";
import type { RealSlice } from "../time-loop.js";
import { blockRows, capacityKernels, leftTiles, productThreads, targetTile, uploadPolynomials, uploadTerms } from "./capacities.js";
import { type SweepShape, sweepShape } from "./sweep-shape.js";
import { SweptMembers } from "./swept-members.js";
import { chunksOf, factorShape, panelRows, reflectionColumns } from "./turn.js";
import { Uploads } from "./uploads.js";

/** Kernels read a row of polynomials by a byte; row 0 is not used. */
const mostPolynomials = 255;

/** Blocks of rows whose sums are made beside each other, and bytes of them at most. */
const mostBlocks = 8;
const partBytes = 2 ** 30;

/** Undefined if the reservoir runs in another way. */
export function multiplyTargets(context: Context, model: ReservoirModel, work: TargetWork): Promise<TargetProducts> | undefined {
  if (model.inputSize !== 1 || model.cell || isDeviceOnly(model)) return undefined;
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
  readonly #kernels: Readonly<Record<"origin" | "rows" | "factors" | "products" | "fold" | "factor" | "surrogates", AnyKernel>>;

  constructor(context: Context, model: ReservoirModel, base: SweepBase, work: TargetWork, shape: SweepShape) {
    this.#context = context;
    this.#model = model;
    this.#work = work;
    const { leakRate, noiseLevel, precision } = model;
    const rates = leakRate.every((rate) => rate === leakRate[0]) ? leakRate[0]! : Array.from(leakRate);
    const member: SweepMember = { ...{ base: 0, factor: 1, inputScaling: 1, bias: 1, lambda: 0 }, leakRate: rates, noiseLevel };
    const ask = { kind: "measures", measures: {}, take: () => undefined } as const;
    this.#members = new SweptMembers(context, { bases: [base], members: [member], ask }, shape, undefined);
    this.#kernels = {
      ...capacityKernels(context, precision),
      surrogates: shippedKernel(context, "capacity_surrogates", "capacity_surrogates", [
        ...(["const f64*", "i32", "u32", "u32", "u32", "u32", "i64", "i32", "const f64*", "i32", "f64*", "i64"] as const),
      ]),
    };
  }

  async run(): Promise<TargetProducts> {
    const { inputs, washout, values, targets, surrogates } = this.#work;
    const { size, precision } = this.#model;
    const context = this.#context;
    const lefts = size + 1;
    const rows = inputs.rows - washout;
    const pacer = new WorkPacer(this.#work, rows);
    // States and triangles are a few blocks of threads each: the others' thousands would be in
    // front.
    const { greatest } = context.priorities;
    using owned = new Making();
    const { own } = owned;
    const states = own(context.stream({ label: "states", priority: greatest }));
    const factor = own(context.stream({ label: "triangle", priority: greatest }));
    const work = own(context.stream({ label: "products" }));
    const memory = new Uploads(owned, context, states, precision);
    const draws = new Uploads<"f64">(owned, context, states, "float64");
    const event = (stream: Stream) => {
      const made = own(context.event({ timing: false }));
      made.record(stream);
      return made;
    };
    const groups = surrogates ? groupsOf(surrogates) : [];
    const all = targets.count + groups.reduce((sum, group) => sum + group.count, 0);
    const atOnce = Math.max(targets.count, ...groups.map((group) => group.count));
    const atOnceBytes = 8 * atOnce * (lefts + 1);
    const blocks = Math.max(1, Math.min(mostBlocks, Math.floor(partBytes / atOnceBytes), Math.ceil(rows / blockRows)));
    const chunk = blocks * blockRows;
    const wave = this.#members.wave(0, 1);
    const prepared = this.#members.prepare(states, memory, wave, this.#members.upload(draws));
    this.#members.reset(states, prepared);
    const series = memory.series(inputs, "inputs");
    const pitch = inputs.rows;
    const polynomials = uploadPolynomials(memory, states, values, pitch);
    const terms = uploadTerms(memory, states, targets);
    const products = memory.take("f64", all * lefts, "products");
    const squares = memory.take("f64", all, "squares");
    const parts = memory.take("f64", blocks * atOnce * lefts, "products of blocks");
    const partSquares = memory.take("f64", blocks * atOnce, "squares of blocks");
    const origin = memory.take("f64", size, "first states");
    const { tiles, width } = leftTiles(lefts);
    const factors = memory.take("f64", chunk * width, "factors");
    const triangles = this.#triangles(memory, factor, blocks, origin);
    const { triangle } = triangles;
    for (const filled of [products, squares, triangle]) states.fill(filled);
    // As many chunks of states as fit the memory: the states then run ahead.
    const chunkBytes = chunk * size * elementBytes(precision);
    const slots = Math.max(2, Math.min(Math.ceil(rows / chunk), Math.floor((freeMemory(context) * 0.25) / chunkBytes)));
    const ring = Array.from({ length: slots }, () => memory.real(chunk * size, "states"));
    const used: DeviceEvent[] = [];
    for (const { from, to } of chunksOf([washout], chunk)) this.#members.run(states, wave, prepared, series, ring[0]!, from, to);
    const drawn = surrogates && this.#uploadSurrogates(memory, states, surrogates, groups, chunk);
    for (let from = 0, c = 0; from < rows; from += chunk, c++) {
      const count = Math.min(chunk, rows - from);
      const slot = ring[c % slots]!;
      if (used[2 * (c - slots)]) for (const before of used.slice(2 * (c - slots), 2 * (c - slots) + 2)) states.wait(before);
      this.#members.run(states, wave, prepared, series, slot, washout + from, washout + from + count);
      if (c === 0) states.launch(this.#kernels.origin, { grid: 1, block: 256 }, slot, chunk, size, origin);
      const made = event(states);
      work.wait(made);
      factor.wait(made);
      const parted = Math.ceil(count / blockRows);
      this.#rows(work, this.#kernels.factors, slot, origin, count, width, factors);
      const multiply = (made: TermsThere, rowsOf: AnyArgument, apart: number, at: number, to: number) => {
        const grid = [Math.ceil(made.count / targetTile) * tiles, parted] as const;
        const given = [factors, count, lefts, rowsOf, apart, at, made.first, made.degrees, made.delays, made.count, 0];
        work.launch(this.#kernels.products, { grid, block: productThreads }, ...given, parts, partSquares);
        this.#fold(work, parts, parted, made.count * lefts, products.slice(to * lefts, (to + made.count) * lefts));
        this.#fold(work, partSquares, parted, made.count, squares.slice(to, to + made.count));
      };
      multiply({ ...terms, count: targets.count }, polynomials, pitch, washout + from, 0);
      let to = targets.count;
      for (const group of drawn?.groups ?? []) {
        drawn!.draw(work, group, from, count);
        multiply(group, drawn!.values, drawn!.pitch, drawn!.lags, to);
        to += group.count;
      }
      triangles.add(slot, count);
      used.push(event(work), event(factor));
      // The host may be some chunks ahead, and no more: work can be stopped.
      if (c >= 2) await used[2 * (c - 2)]!.done();
      if (pacer.due()) await pacer.pause(from);
    }
    for (const stream of [states, work, factor]) await stream.done();
    const failure = await states.download(prepared.failures.as("u32"));
    if (failure[0] !== 0xffffffff || failure[1] !== 0xffffffff) throw new NonFiniteStateError(failure[1]!, failure[0]!);
    const found = {
      products: await work.download(products),
      squares: await work.download(squares),
      triangle: new Matrix(lefts, lefts, await factor.download(triangle)),
    };
    owned.dispose();
    pacer.finish();
    return found;
  }

  /** What draws a chunk's rows of a group of surrogates, and where they lie. */
  #uploadSurrogates(memory: Uploads, stream: Stream, work: SurrogateWork, groups: readonly SurrogateGroup[], chunk: number) {
    const { u, key, stream: draws, recurrences } = work;
    const lags = recurrences.length - 1;
    const pitch = chunk + lags;
    const values = memory.take("f64", (1 + groups[0]!.inputs * recurrences.length) * pitch, "surrogate inputs");
    const from = memory.take("f64", u.length, "values of the input");
    const steps = memory.take("f64", 3 * recurrences.length, "recurrences");
    stream.upload(from, u);
    stream.upload(steps, Float64Array.from(recurrences.flatMap(({ a, b, c }) => [a, b, c])));
    const draw = (on: Stream, { firstInput, inputs }: Pick<SurrogateGroup, "firstInput" | "inputs">, row: number, rows: number) => {
      const grid = [Math.ceil((rows + lags) / 256), inputs] as const;
      const which = [from, u.length, ...key.map((word) => word >>> 0), draws, firstInput, row, rows + lags];
      on.launch(this.#kernels.surrogates, { grid, block: 256 }, ...which, steps, recurrences.length, values, pitch);
    };
    return { lags, pitch, values, draw, groups: groups.map((group) => ({ ...group, ...uploadTerms(memory, stream, group) })) };
  }

  /**
   * Rule 11 for a chunk of states: each block of 1024 rows by itself, all at a time, and then their
   * triangles as rows of the whole one.
   */
  #triangles(memory: Uploads, stream: Stream, blocks: number, origin: AnyArgument) {
    const { size } = this.#model;
    const lefts = size + 1;
    const square = lefts * lefts;
    const panels = memory.take("f64", blocks * blockRows * lefts, "panels");
    const parts = memory.take("f64", blocks * square, "triangles of blocks");
    const triangle = memory.take("f64", square, "triangle");
    const scratch = memory.take("f64", blocks * reflectionColumns * lefts, "reflections");
    const reflect = (members: number, rows: AnyArgument, pitch: number, count: number, first: number, into: AnyArgument) => {
      const given = [rows, pitch, count, first, lefts, lefts, into, scratch];
      stream.launch(this.#kernels.factor, factorShape(members), ...given);
    };
    const add = (states: RealSlice, count: number) => {
      const whole = Math.floor(count / blockRows);
      this.#rows(stream, this.#kernels.rows, states, origin, count, lefts, panels);
      stream.fill(parts);
      for (let t = 0; whole > 0 && t < blockRows; t += panelRows)
        reflect(whole, panels.slice(t * lefts), blockRows * lefts, panelRows, 0, parts);
      for (let t = whole * blockRows; t < count; t += panelRows)
        reflect(1, panels.slice(t * lefts), 0, Math.min(panelRows, count - t), 0, parts.slice(whole * square));
      for (let block = 0; block < Math.ceil(count / blockRows); block++)
        for (let first = 0; first < lefts; first += panelRows)
          reflect(1, parts.slice(block * square + first * lefts), 0, Math.min(panelRows, lefts - first), first, triangle);
    };
    return { triangle, add };
  }

  /** Makes rows of `width` of states. */
  #rows(stream: Stream, kernel: AnyKernel, states: RealSlice, origin: AnyArgument, count: number, width: number, out: AnyArgument): void {
    const config = { grid: Math.ceil((count * width) / 1024), block: 256 };
    stream.launch(kernel, config, states, origin, count, this.#model.size, out);
  }

  #fold(stream: Stream, parts: AnyArgument, blocks: number, count: number, totals: AnyArgument): void {
    const config = { grid: Math.min(65_535, Math.ceil(count / 256)), block: 256 };
    stream.launch(this.#kernels.fold, config, parts, blocks, count, totals);
  }
}

/** Targets whose terms are on the device. */
type TermsThere = Pick<TargetTerms, "count"> & ReturnType<typeof uploadTerms>;

/** Targets of some surrogates, whose degrees are rows of polynomials. */
interface SurrogateGroup extends TargetTerms {
  readonly firstInput: number;
  readonly inputs: number;
}

/** As many surrogates at a time as a byte tells rows apart; the first group is the largest. */
function groupsOf({ count, targets, recurrences }: SurrogateWork): SurrogateGroup[] {
  const most = Math.floor(mostPolynomials / recurrences.length);
  const groups: SurrogateGroup[] = [];
  for (let firstInput = 0; firstInput < count; firstInput += most) {
    const inputs = Math.min(most, count - firstInput);
    const terms = targets.termDegrees.length;
    const first = new Uint32Array(inputs * targets.count + 1);
    const termDegrees = new Uint8Array(inputs * terms);
    const termDelays = new Uint32Array(inputs * terms);
    for (let s = 0; s < inputs; s++) {
      for (let j = 1; j <= targets.count; j++) first[s * targets.count + j] = s * terms + targets.first[j]!;
      termDegrees.set(
        targets.termDegrees.map((degree) => s * recurrences.length + degree),
        s * terms,
      );
      termDelays.set(targets.termDelays, s * terms);
    }
    groups.push({ firstInput, inputs, count: inputs * targets.count, first, termDegrees, termDelays });
  }
  return groups;
}
