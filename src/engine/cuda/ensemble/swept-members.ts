// Members of an evaluation on a device: their weights made from what was drawn, their states, and
// the readouts of each for all its penalties. Tasks make of them what was asked for.
import { getOrMake } from "@spillway/core/maps.js";
import type { Context, DeviceBuffer, DeviceSlice, Stream } from "@spillway/gpu";
import { allocate, type Matrix } from "@spillway/numerics";
import { type SharedPrefix, sharedPrefixes } from "../../../reservoir/engine/evaluation.js";
import type { Ask, Evaluation, SweepMember } from "../../../reservoir/engine.js";
import { plainFeatures } from "../../../reservoir/features.js";
import type { ReservoirModel } from "../../../reservoir/model.js";
import { activationNumber } from "../activation.js";
import { uploadSoon } from "../host-calls.js";
import { type AnyArgument, type AnyKernel, realKernel } from "../kernels.js";
import { freeMemory } from "../memory.js";
import type { DeviceClock } from "../profile.js";
import { elementBytes } from "../shape.js";
import type { RealSlice } from "../time-loop.js";
import { type DeviceGrams, type RowShape, rowFeatures } from "../training/gram.js";
import { Distinct } from "./distinct.js";
import type { EnsembleKernel } from "./kernel-choice.js";
import { ensembleKernel, tableColumns } from "./members.js";
import { evenShared } from "./rounds.js";
import { type DeviceDraws, type ScaledRow, Scaling } from "./scaling.js";
import type { Laid, SweepShape } from "./sweep-shape.js";
import type { Uploads } from "./uploads.js";
import { patternTables } from "./weights.js";

/** Threads of a block that solves (kernels/training.cu). */
const solveThreads = 512;

/** A grid's second axis, along which there is one block a member, ends above this. */
const mostPrefixes = 16_384;

/** What the bases drew, on the device for as long as the evaluation runs. */
export interface SharedDraws {
  readonly weights: DeviceDraws;
  /** Row base * I + i: column i of W_in. */
  readonly inputWeights: DeviceDraws;
  /** A row for each base, and one of zeros. */
  readonly bias: DeviceDraws;
  /** A row of ones, and one for each list of leak rates. */
  readonly leakRates: DeviceDraws;
  readonly leakLists: Distinct<readonly number[]>;
  readonly initialStates: DeviceDraws;
  /** What sliced weights have beside their values. */
  readonly patterns: readonly AnyArgument[];
}

/** Consecutive slots of readouts. */
export interface SlotRange {
  readonly first: number;
  readonly count: number;
}

/** Some shared prefixes with their penalties, side by side on the device. */
export interface Wave {
  readonly prefixes: readonly SharedPrefix[];
  /** Readouts, one for each prefix and penalty. */
  readonly slots: number;
  /**
   * The lambda path: of penalty r the slots of those prefixes that have more than r penalties,
   * which are the first `count` of them.
   */
  readonly path: readonly SlotRange[];
  /** Of each slot its prefix, by its index in the wave. */
  readonly prefixOf: Int32Array;
  /** Of each slot its member, by its index in the evaluation. */
  readonly memberOf: Int32Array;
}

/** Prefixes of a wave on the device, ready to run. */
export interface Prepared {
  /** Of each prefix its first state that is not finite, all ones if there is none. */
  readonly failures: DeviceBuffer<"u64">;
  readonly table: DeviceBuffer<"i32">;
  /** prefixes x N: x, and what it is before the first step. */
  readonly state: RealSlice;
  readonly initial: RealSlice;
  readonly lambdas: DeviceBuffer<"f64">;
  /** Memory for the factors of Cholesky, if a block's shared memory is too small. */
  readonly factors: DeviceBuffer<"f64"> | null;
  /** Weights as the kernel has them, and for sliced ones their patterns. */
  readonly weights: readonly AnyArgument[];
  /** prefixes x N. */
  readonly leakRates: RealSlice;
  /** What the kernel takes before the states, for inputs and states somewhere. */
  arguments(inputs: RealSlice, state: RealSlice): AnyArgument[];
}

/** What the rows of an ask's readouts are. */
function rowShapeOf({ precision, size, inputSize }: ReservoirModel, ask: Ask): RowShape {
  const shape = { precision, size, inputSize };
  if (ask.kind === "measures")
    return { ...shape, outputs: (ask.measures.memory?.maxDelay ?? -1) + 1, features: plainFeatures, constant: true };
  const { features, constant } = ask;
  return { ...shape, outputs: ask.kind === "forecasts" ? inputSize : ask.targets.cols, features, constant };
}

/** The members of an evaluation, as its device runs and trains them. */
export class SweptMembers {
  readonly kernel: EnsembleKernel;
  readonly rowShape: RowShape;
  readonly prefixes: readonly SharedPrefix[];
  readonly #context: Context;
  readonly #work: Evaluation;
  readonly #laid: readonly Laid[];
  readonly #entries: number;
  readonly #run: AnyKernel;
  /** Dynamic shared memory of a launch of so many members. */
  readonly #sharedBytes = new Map<number, number>();
  readonly #scaling: Scaling;
  readonly #solve: AnyKernel;
  readonly #clock: DeviceClock | undefined;

  constructor(context: Context, work: Evaluation, { kernel, laid, entries }: SweepShape, clock: DeviceClock | undefined) {
    this.#context = context;
    this.#work = work;
    this.kernel = kernel;
    this.#laid = laid;
    this.#entries = entries;
    this.#clock = clock;
    const { model } = work.bases[0]!;
    const { precision } = model;
    this.rowShape = rowShapeOf(model, work.ask);
    // Those with most penalties first: of each penalty the prefixes that have it are then the
    // first.
    this.prefixes = sharedPrefixes(work.members).sort((a, b) => b.members.length - a.members.length);
    this.#run = ensembleKernel(context, kernel, precision);
    this.#scaling = new Scaling(context, precision);
    const solving = ["const f64*", "const f64*", "const f64*", "i64", "i32", "i32", "i32", "f64*", "f64*", "i32*"] as const;
    this.#solve = realKernel(context, "training", "training_solve", precision, solving);
  }

  get activation() {
    return this.#work.bases[0]!.model.activation;
  }

  /** Features of a readout times its outputs. */
  get readoutValues(): number {
    return rowFeatures(this.rowShape) * this.rowShape.outputs;
  }

  /** Values of a factor of Cholesky and its right-hand sides. */
  get #factorValues(): number {
    const features = rowFeatures(this.rowShape);
    return (features * (features + 1)) / 2 + this.readoutValues;
  }

  /** Bytes of a prefix's weights, Gram matrix and states of so many steps. */
  bytesOf(steps: number): number {
    const { size, inputSize, precision, outputs } = this.rowShape;
    const element = elementBytes(precision);
    const columns = Math.ceil((rowFeatures(this.rowShape) + outputs) / 64) * 64;
    return element * (this.#entries + size * (inputSize + 4 + steps)) + 8 * columns * (columns + 64) + 8 * columns * outputs;
  }

  /** Steps, of `rows`, whose states so many prefixes can hold at once. */
  chunkSteps(prefixes: number, rows: number, budget: number): number {
    const { size, precision } = this.rowShape;
    return Math.max(1, Math.min(rows, Math.floor(budget / (prefixes * size * elementBytes(precision)))));
  }

  /**
   * Prefixes whose weights and Gram matrices, with a chunk of their states and `further` bytes
   * each, fit; at most `most`.
   */
  waveSize(given: {
    readonly rows: number;
    readonly budget: number;
    readonly further: number;
    readonly most?: number | undefined;
  }): number {
    const { rows, budget, further, most = mostPrefixes } = given;
    const free = Math.min(freeMemory(this.#context) * 0.7, 4 * budget);
    const fitting = Math.max(1, Math.min(most, Math.floor(free / (this.bytesOf(Math.min(rows, 256)) + further))));
    // Waves of equal size: the last one is then not a small rest.
    return Math.ceil(this.prefixes.length / Math.ceil(this.prefixes.length / fitting));
  }

  /** Prefixes from `first` on, at most `size` of them. */
  wave(first: number, size: number): Wave {
    const prefixes = this.prefixes.slice(first, first + size);
    const path: SlotRange[] = [];
    let slots = 0;
    for (let r = 0; r < prefixes[0]!.members.length; r++) {
      const count = prefixes.filter(({ members }) => members.length > r).length;
      path.push({ first: slots, count });
      slots += count;
    }
    const prefixOf = new Int32Array(slots);
    const memberOf = new Int32Array(slots);
    for (const [r, range] of path.entries())
      for (let p = 0; p < range.count; p++) {
        prefixOf[range.first + p] = p;
        memberOf[range.first + p] = prefixes[p]!.members[r]!;
      }
    return { prefixes, slots, path, prefixOf, memberOf };
  }

  /** Draws of all bases. */
  upload(memory: Uploads<"f64">): SharedDraws {
    const { bases, members } = this.#work;
    const { size } = bases[0]!.model;
    const rows = (label: string, columns: number, values: readonly Float64Array[]): DeviceDraws => ({
      ...{ values: memory.gathered(values, columns, `draws of ${label}`, (row, to, at) => to.set(row, at)), columns, label },
    });
    const columnsOf = ({ rows: n, cols, data }: Matrix<Float64Array>) =>
      Array.from({ length: cols }, (_, c) => Float64Array.from({ length: n }, (_, r) => data[r * cols + c]!));
    const lists = new Distinct<readonly number[]>();
    for (const { leakRate } of members) if (typeof leakRate !== "number") lists.index(leakRate);
    return {
      weights: {
        values: memory.matrix(this.#laid, this.#entries, "draws of W", ({ values }) => values),
        ...{ columns: this.#entries, label: "W" },
      },
      inputWeights: rows(
        "W_in",
        size,
        bases.flatMap(({ inputDraws }) => columnsOf(inputDraws)),
      ),
      bias: rows("b", size, [...bases.map(({ biasDraws }) => biasDraws), new Float64Array(size)]),
      leakRates: rows("leak rates", size, [new Float64Array(size).fill(1), ...lists.items.map((list) => Float64Array.from(list))]),
      leakLists: lists,
      initialStates: rows(
        "x",
        size,
        bases.map(({ model }) => Float64Array.from(model.initialState)),
      ),
      patterns:
        this.kernel.storage === "dense"
          ? []
          : patternTables(
              memory,
              this.#laid.map(({ pattern }) => pattern!),
              this.#entries,
            ),
    };
  }

  /** Weights, parameters and states of a wave's prefixes. */
  prepare(stream: Stream, memory: Uploads, { prefixes, slots, memberOf }: Wave, draws: SharedDraws): Prepared {
    const { bases } = this.#work;
    const { inputSize, precision, config } = bases[0]!.model;
    const members = prefixes.map(({ member }) => member);
    const count = members.length;
    const clock = this.#clock;
    const scaled = (of: DeviceDraws, row: (member: SweepMember) => ScaledRow, bfloat16 = false) =>
      this.#scaling.scale(stream, memory, of, members.map(row), bfloat16);
    clock?.on(stream, "scale", { bytes: 0 });
    const weights = scaled(draws.weights, ({ base, factor }) => ({ draws: base, factor }), config.weightPrecision === "bfloat16");
    const inputRows = members.flatMap(({ base, inputScaling }) =>
      Array.from({ length: inputSize }, (_, i) => ({
        draws: base * inputSize + i,
        factor: typeof inputScaling === "number" ? inputScaling : inputScaling[i]!,
      })),
    );
    const inputWeights = this.#scaling.scale(stream, memory, draws.inputWeights, inputRows);
    const noBias = { draws: bases.length, factor: 1 };
    const bias = scaled(draws.bias, (member) => (member.bias === 0 ? noBias : { draws: member.base, factor: member.bias }));
    const leakRates = scaled(draws.leakRates, ({ leakRate }) =>
      typeof leakRate === "number" ? { draws: 0, factor: leakRate } : { draws: 1 + draws.leakLists.index(leakRate), factor: 1 },
    );
    const initial = scaled(draws.initialStates, ({ base }) => ({ draws: base, factor: 1 }));
    clock?.on(stream, "upload");
    const of = memory.table("i32", [Int32Array.from(members, ({ base }) => base)], count, "bases");
    const keys = new Uint32Array(2 * count);
    for (const [m, { base }] of members.entries()) keys.set(bases[base]!.model.noiseKey, 2 * m);
    const noise = allocate(precision, count);
    for (const [m, { noiseLevel }] of members.entries()) noise[m] = noiseLevel;
    const failures = memory.take("u64", count, "first non-finite states");
    const noiseLevels = memory.gathered([noise], count, "noise levels", (levels, to, at) => to.set(levels, at));
    const noiseKeys = memory.table("u32", [keys], 2 * count, "noise keys");
    const patterns = draws.patterns.length > 0 ? [of, ...draws.patterns] : [];
    const lambdas = memory.take("f64", slots, "lambdas");
    uploadSoon(
      stream,
      lambdas,
      Float64Array.from(memberOf, (m) => this.#work.members[m]!.lambda),
    );
    clock?.off(stream);
    const sharedLimit = this.#context.info.attributes.sharedBytesPerBlockOptIn - 1024;
    const inShared = this.#factorValues * 8 <= sharedLimit;
    const factors = inShared ? null : memory.take("f64", count * this.#factorValues, "factors of Cholesky");
    return {
      ...{ failures, lambdas, factors, state: memory.real(count * this.rowShape.size, "x"), initial },
      table: memory.take("i32", tableColumns * count, "members"),
      ...{ weights: [weights, ...patterns], leakRates },
      arguments: (inputs, state) => [
        ...[weights, ...patterns, inputWeights, null, bias, leakRates, noiseLevels, noiseKeys, inputs, null, state],
      ],
    };
  }

  /** Puts x of a wave at its initial values, without a state that is not finite. */
  reset(stream: Stream, { state, initial, failures }: Prepared): void {
    stream.copy(state, initial);
    stream.fill(failures.as("u32"), 0xffffffff);
  }

  /**
   * Steps [from, to) of a wave over a series, from x on; states are those of a prefix after those
   * of the other. Step `origin` was the first.
   */
  run(
    stream: Stream,
    { prefixes }: Wave,
    prepared: Prepared,
    series: RealSlice,
    states: RealSlice,
    from: number,
    to: number,
    origin = 0,
  ): void {
    const table = new Int32Array(tableColumns * prefixes.length);
    for (let p = 0; p < prefixes.length; p++) table.set([p, p, from, -1, p * (to - from), to - from, 0, from - origin], p * tableColumns);
    this.#clock?.on(stream, "batch", { steps: (to - from) * prefixes.length, bytes: 0 });
    uploadSoon(stream, prepared.table, table);
    this.launch(stream, prepared.arguments(series, prepared.state), states, prepared.table, prepared.failures, prefixes.length);
  }

  /** The members of a table, a block each. */
  launch(
    stream: Stream,
    parameters: readonly AnyArgument[],
    states: RealSlice | null,
    table: DeviceBuffer<"i32">,
    failures: DeviceBuffer<"u64">,
    count: number,
  ): void {
    const { size, inputSize, activation } = this.#work.bases[0]!.model;
    const shared = getOrMake(this.#sharedBytes, count, () => evenShared(this.#context.info, this.#run, this.kernel, count));
    const config = { grid: count, block: this.kernel.threads, shared };
    const sizes = [size, inputSize, 0, activationNumber[activation]];
    stream.launch(this.#run, config, ...parameters, states, table, failures, ...sizes);
  }

  /** Readouts of all slots, 0 if a factorisation failed; `failed` then is not 0. */
  solve(
    stream: Stream,
    { path }: Wave,
    { lambdas, factors }: Prepared,
    grams: DeviceGrams,
    weights: DeviceSlice<"f64">,
    failed: DeviceSlice<"i32">,
  ): void {
    const features = rowFeatures(this.rowShape);
    const { outputs, constant } = this.rowShape;
    this.#clock?.on(stream, "solve", { bytes: 0 });
    const sizes = [grams.tiles * 64 * 64, features, outputs, constant ? 1 : 0];
    for (const { first, count } of path) {
      const config = { grid: [1, count] as const, block: solveThreads, shared: factors ? 0 : this.#factorValues * 8 };
      const found = weights.slice(first * this.readoutValues, (first + count) * this.readoutValues);
      const given = [grams.sums, grams.totals, lambdas.slice(first, first + count), ...sizes];
      stream.launch(this.#solve, config, ...given, factors, found, failed.slice(first, first + count));
    }
  }
}
