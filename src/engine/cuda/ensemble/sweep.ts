// A sweep on a device: of each member the weights are scaled, the states made, the Gram matrix
// summed, the readout solved and its errors added, and only those errors come to the host.
import { ArgumentError } from "../../../core/errors.js";
import type { Context, DeviceBuffer, Stream } from "../../../gpu/index.js";
import { allocate, isSparse, Matrix, type SparseMatrix, toDense } from "../../../numerics/index.js";
import { type EnginePlan, formatBytes, type SweepErrors, type SweepMember, type SweepWork } from "../../../reservoir/engine.js";
import { isQuantized } from "../../../reservoir/weight-rounding.js";
import { WorkPacer } from "../../../reservoir/work.js";
import { activationNumber } from "../activation.js";
import { abandonAll, disposeAll } from "../dispose.js";
import { type AnyKernel, realKernel, realType } from "../kernels.js";
import { freeMemory } from "../memory.js";
import { DeviceClock } from "../profile.js";
import { elementBytes } from "../shape.js";
import type { RealSlice } from "../time-loop.js";
import { DeviceGrams, type MemberRows, type RowShape, rowArguments, rowFeatures, rowParameters } from "../training/gram.js";
import { Distinct } from "./distinct.js";
import { chooseEnsembleKernel, type EnsembleKernel, fastDetail } from "./kernel-choice.js";
import { ensembleKernel, tableColumns } from "./members.js";
import { type DeviceDraws, type ScaledRow, Scaling } from "./scaling.js";
import { type SlicedPattern, slicePattern, sliceValues } from "./slices.js";
import { Uploads } from "./uploads.js";

/** Threads of a block that solves, and of one that scores (kernels/training.cu). */
const solveThreads = 512;
const scoreThreads = 256;

/** A grid's second axis, along which there is one block a member, ends above this. */
const mostMembers = 16_384;

/** Bytes of states in one chunk; most of what a wave's memory is. */
const chunkBytes = 4 * 2 ** 30;

/** Draws of a base as the kernel wants its weights laid out. */
interface Laid {
  readonly values: Float64Array<ArrayBuffer>;
  readonly pattern: SlicedPattern | undefined;
}

/**
 * `Engine.sweep` on a device, or undefined if a base is of another shape than the first, too
 * large for a block, or has weights of steps.
 */
export function sweepTogether(context: Context, engine: string, work: SweepWork, budget?: number): Promise<SweepErrors> | undefined {
  const first = work.bases[0]!.model;
  const sparse = isSparse(first.weights);
  const same = work.bases.every(
    ({ model }) =>
      model.size === first.size &&
      model.precision === first.precision &&
      isSparse(model.weights) === sparse &&
      !isQuantized(model.config.weightPrecision) &&
      model.config.arithmetic === first.config.arithmetic &&
      model.activation === first.activation,
  );
  if (!same || first.outputSize > 0 || first.size > 65_536) return undefined;
  const laid = work.bases.map(({ draws }) => layOut(draws, sparse));
  const patterns = laid.flatMap(({ pattern }) => (pattern ? [pattern] : []));
  const sliced = patterns[0] && { slots: patterns[0].slots, entries: patterns.reduce((most, { entries }) => Math.max(most, entries), 0) };
  const { size, precision, config } = first;
  const kernel = chooseEnsembleKernel(context.info, { size, precision, arithmetic: config.arithmetic, sliced });
  return kernel && new Sweep(context, engine, work, kernel, laid, sliced?.entries).run(budget);
}

function layOut(draws: Matrix | SparseMatrix, sparse: boolean): Laid {
  if (!sparse) return { values: (isSparse(draws) ? toDense(draws) : draws).data as Float64Array<ArrayBuffer>, pattern: undefined };
  if (!isSparse(draws)) throw ArgumentError.because("draws of sparse weights are sparse themselves");
  const pattern = slicePattern(draws);
  return { values: sliceValues(pattern, draws.values, new Float64Array(pattern.entries)), pattern };
}

/** What the bases drew, on the device for as long as the sweep runs. */
interface SharedDraws {
  readonly weights: DeviceDraws;
  /** Row base * I + i: column i of W_in. */
  readonly inputWeights: DeviceDraws;
  /** A row for each base, and one of zeros. */
  readonly bias: DeviceDraws;
  /** A row of ones, and one for each list of leak rates. */
  readonly leakRates: DeviceDraws;
  readonly leakLists: Distinct<readonly number[]>;
  readonly initialStates: DeviceDraws;
}

/** Members on the device, ready to run. */
interface Prepared {
  /** T x I. */
  readonly inputs: RealSlice;
  readonly failures: DeviceBuffer<"u64">;
  readonly table: DeviceBuffer<"i32">;
  /** What the kernel takes before the states. */
  readonly arguments: readonly unknown[];
}

class Sweep {
  readonly #context: Context;
  readonly #engine: string;
  readonly #work: SweepWork;
  readonly #shape: EnsembleKernel;
  readonly #laid: readonly Laid[];
  /** Stored values of a weight matrix. */
  readonly #entries: number;
  readonly #rowShape: RowShape;
  readonly #run: AnyKernel;
  readonly #scaling: Scaling;
  readonly #solve: AnyKernel;
  readonly #score: AnyKernel;

  /** While it runs, if it is to be measured. */
  #clock: DeviceClock | undefined;

  constructor(
    context: Context,
    engine: string,
    work: SweepWork,
    shape: EnsembleKernel,
    laid: readonly Laid[],
    entries: number | undefined,
  ) {
    this.#context = context;
    this.#engine = engine;
    this.#work = work;
    this.#shape = shape;
    this.#laid = laid;
    const { size, inputSize, precision } = work.bases[0]!.model;
    this.#entries = entries ?? size * size;
    const outputs = work.targets.cols;
    this.#rowShape = { precision, size, inputSize, outputs, features: work.features, constant: work.constant };
    const real = realType(precision);
    this.#run = ensembleKernel(context, shape, precision);
    this.#scaling = new Scaling(context, precision);
    const solving = ["const f64*", "const f64*", "const f64*", "i64", "i32", "i32", "i32", "f64*", "f64*", "i32*"] as const;
    this.#solve = realKernel(context, "training", "training_solve", precision, solving);
    this.#score = realKernel(context, "training", `training_score_${real}`, precision, [
      ...rowParameters,
      "i32",
      "i32",
      "const f64*",
      "f64*",
    ]);
  }

  async run(budget = chunkBytes): Promise<SweepErrors> {
    const { members, inputs, targets } = this.#work;
    const pacer = new WorkPacer(this.#work, members.length * inputs.rows);
    const out = Matrix.zeros(members.length, targets.cols);
    const size = this.#waveSize(budget);
    const stream = this.#context.stream({ label: "sweep" });
    const shared = new Uploads(this.#context, stream, "float64");
    const clock = this.#work.profile ? new DeviceClock(this.#context) : undefined;
    this.#clock = clock;
    clock?.watch(stream);
    try {
      clock?.on(stream, "upload");
      const draws = this.#upload(shared);
      const given = shared.matrix([targets], targets.data.length, "targets", ({ data }) => data) as DeviceBuffer<"f64">;
      for (let first = 0; first < members.length; first += size) {
        const wave = members.slice(first, first + size);
        const squares = await this.#wave(stream, wave, draws, given, budget, () => pacer.pause((first + wave.length) * inputs.rows));
        out.data.set(squares, first * targets.cols);
      }
    } catch (error) {
      abandonAll([stream, shared, clock]);
      throw error;
    }
    disposeAll([stream, shared, clock]);
    pacer.finish();
    return { squares: out, plan: this.#plan(size, budget), profile: clock?.read() };
  }

  #plan(waveSize: number, budget: number): EnginePlan {
    const { members, bases } = this.#work;
    const { size, precision } = bases[0]!.model;
    const { name } = this.#shape;
    const waves = Math.ceil(members.length / waveSize);
    const bytes = waveSize * (this.#fixedBytes() + this.#chunkSteps(waveSize, budget) * size * elementBytes(precision));
    return {
      engine: this.#engine,
      summary: `${this.#context.info.name}, sweep of ${members.length} reservoirs by ${name} in ${waves === 1 ? "one wave" : `${waves} waves`}, readouts solved and scored there, ${formatBytes(bytes)}`,
      bytes,
      details: {
        ...{ plan: "sweep", reservoirs: members.length, seeds: bases.length, kernel: name, waves, reservoirsPerWave: waveSize },
        ...fastDetail([this.#shape]),
      },
    };
  }

  /** Bytes of a member's weights and Gram matrices. */
  #fixedBytes(): number {
    const { targets, bases } = this.#work;
    const { size, inputSize, precision } = bases[0]!.model;
    const element = elementBytes(precision);
    const columns = Math.ceil((rowFeatures(this.#rowShape) + targets.cols) / 64) * 64;
    return element * (this.#entries + size * (inputSize + 4)) + 8 * columns * (columns + 64) + 8 * columns * targets.cols;
  }

  /** Steps whose states a wave of so many members can hold at once. */
  #chunkSteps(members: number, budget: number): number {
    const { inputs, bases } = this.#work;
    const { size, precision } = bases[0]!.model;
    return Math.max(1, Math.min(inputs.rows, Math.floor(budget / (members * size * elementBytes(precision)))));
  }

  /** Members whose weights and Gram matrices, with a chunk of their states, fit. */
  #waveSize(budget: number): number {
    const { members, inputs, bases } = this.#work;
    const { size, precision } = bases[0]!.model;
    const free = Math.min(freeMemory(this.#context) * 0.7, 4 * budget);
    const states = elementBytes(precision) * size * Math.min(inputs.rows, 256);
    const most = Math.max(1, Math.min(mostMembers, Math.floor(free / (this.#fixedBytes() + states))));
    // Waves of equal size: the last one is then not a small rest.
    return Math.ceil(members.length / Math.ceil(members.length / most));
  }

  async #wave(
    stream: Stream,
    members: readonly SweepMember[],
    draws: SharedDraws,
    targets: DeviceBuffer<"f64">,
    budget: number,
    pause: () => Promise<void>,
  ): Promise<Float64Array> {
    const { inputs, washout, trainRows } = this.#work;
    const { size, inputSize, precision } = this.#work.bases[0]!.model;
    const outputs = this.#work.targets.cols;
    const memory = new Uploads(this.#context, stream, precision);
    const grams = new DeviceGrams(this.#context, this.#rowShape, members.length);
    try {
      grams.clear(stream);
      const clock = this.#clock;
      const prepared = this.#prepare(stream, memory, members, draws);
      const chunk = this.#chunkSteps(members.length, budget);
      const states = memory.real(members.length * chunk * size, "states");
      const weights = memory.take("f64", members.length * rowFeatures(this.#rowShape) * outputs, "readouts");
      const failed = memory.take("i32", members.length, "factorisations");
      const squares = memory.take("f64", members.length * outputs, "squared errors");
      stream.fill(squares);
      // A readout that could not be solved predicts 0.
      stream.fill(weights);
      // Rows of training and rows to predict are chunks of their own.
      const cuts = [washout, trainRows, inputs.rows];
      for (let from = 0; from < inputs.rows; ) {
        const cut = cuts.find((row) => row > from)!;
        const to = Math.min(cut, from + chunk);
        this.#enqueue(stream, members, prepared, states, from, to);
        const rows: MemberRows = {
          ...{ rows: to - from, states, statePitch: (to - from) * size, inputPitch: 0 },
          inputs: prepared.inputs.slice(from * inputSize) as RealSlice,
          targets: targets.slice(from * outputs, to * outputs),
        };
        const made = (to - from) * members.length;
        if (from >= washout && from < trainRows) {
          clock?.on(stream, "train", { steps: made, bytes: 0 });
          grams.add(stream, rows);
        }
        if (to === trainRows) this.#solveAll(stream, memory, members, grams, weights, failed);
        if (from >= trainRows) {
          clock?.on(stream, "score", { steps: made, bytes: 0 });
          const config = { grid: [1, members.length] as const, block: scoreThreads };
          stream.launch(this.#score, config, ...([...rowArguments(this.#rowShape, rows), 0, to - from, weights, squares] as never[]));
        }
        clock?.off(stream);
        from = to;
      }
      const [sums, singular, infinite] = [
        await stream.download(squares, clock?.around(stream, squares.byteLength)),
        await stream.download(failed, clock?.around(stream, failed.byteLength)),
        // Two words a member, all ones if its states are finite.
        await stream.download(prepared.failures.as("u32"), clock?.around(stream, prepared.failures.byteLength)),
      ];
      clock?.collect();
      for (let m = 0; m < members.length; m++)
        if (singular[m] !== 0 || infinite[2 * m] !== 0xffffffff || infinite[2 * m + 1] !== 0xffffffff)
          sums.fill(Number.NaN, m * outputs, (m + 1) * outputs);
      await pause();
      return sums;
    } finally {
      disposeAll([memory, grams]);
    }
  }

  /** Draws of all bases. */
  #upload(memory: Uploads): SharedDraws {
    const { bases, members } = this.#work;
    const { size } = bases[0]!.model;
    const rows = (label: string, columns: number, values: readonly Float64Array[]): DeviceDraws => ({
      ...{ values: memory.gathered(values, columns, `draws of ${label}`, (row) => row) as DeviceBuffer<"f64">, columns, label },
    });
    const columnsOf = ({ rows: n, cols, data }: Matrix<Float64Array>) =>
      Array.from({ length: cols }, (_, c) => Float64Array.from({ length: n }, (_, r) => data[r * cols + c]!));
    const lists = new Distinct<readonly number[]>();
    for (const { leakRate } of members) if (typeof leakRate !== "number") lists.index(leakRate);
    return {
      weights: {
        values: memory.matrix(this.#laid, this.#entries, "draws of W", ({ values }) => values) as DeviceBuffer<"f64">,
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
    };
  }

  /** Weights, parameters and states of members, and the arguments of their kernel. */
  #prepare(stream: Stream, memory: Uploads, members: readonly SweepMember[], draws: SharedDraws): Prepared {
    const { bases, inputs } = this.#work;
    const { inputSize, precision, config } = bases[0]!.model;
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
    const state = scaled(draws.initialStates, ({ base }) => ({ draws: base, factor: 1 }));
    clock?.on(stream, "upload");
    const of = memory.table("i32", [Int32Array.from(members, ({ base }) => base)], count, "bases");
    const keys = new Uint32Array(2 * count);
    for (const [m, { base }] of members.entries()) keys.set(bases[base]!.model.noiseKey, 2 * m);
    const noise = allocate(precision, count);
    for (const [m, { noiseLevel }] of members.entries()) noise[m] = noiseLevel;
    const series = memory.real(inputs.data.length, "inputs");
    memory.place(series, [inputs], [0], inputSize);
    const failures = memory.take("u64", count, "first non-finite states");
    stream.fill(failures.as("u32"), 0xffffffff);
    const parameters = [
      inputWeights,
      null,
      bias,
      leakRates,
      memory.gathered([noise], count, "noise levels", (levels) => levels),
      memory.table("u32", [keys], 2 * count, "noise keys"),
      series,
      null,
      state,
    ];
    const patterns = this.#patterns(memory, of);
    clock?.off(stream);
    return {
      ...{ inputs: series, failures },
      table: memory.take("i32", tableColumns * count, "members"),
      arguments: [weights, ...patterns, ...parameters],
    };
  }

  /** What sliced weights have beside their values. */
  #patterns(memory: Uploads, of: DeviceBuffer<"i32">): unknown[] {
    if (this.#shape.storage === "dense") return [];
    const patterns = this.#laid.map(({ pattern }) => pattern!);
    const { slots } = patterns[0]!;
    return [
      of,
      memory.table(
        "u16",
        patterns.map(({ columns }) => columns),
        this.#entries,
        "columns",
      ),
      memory.table(
        "i32",
        patterns.map(({ order }) => order),
        slots,
        "rows of slots",
      ),
      memory.table(
        "i32",
        patterns.map(({ offsets }) => offsets),
        slots / 32 + 1,
        "slices",
      ),
      this.#entries,
      slots,
    ];
  }

  #enqueue(stream: Stream, members: readonly SweepMember[], prepared: Prepared, states: RealSlice, from: number, to: number) {
    const { size, inputSize, activation } = this.#work.bases[0]!.model;
    const table = new Int32Array(tableColumns * members.length);
    for (let m = 0; m < members.length; m++) table.set([m, m, from, -1, m * (to - from), to - from, 0, from], m * tableColumns);
    this.#clock?.on(stream, "batch", { steps: (to - from) * members.length, bytes: 0 });
    stream.upload(prepared.table, table);
    const config = { grid: members.length, block: this.#shape.threads, shared: this.#shape.shared };
    const sizes = [size, inputSize, 0, activationNumber[activation]];
    stream.launch(this.#run, config, ...([...prepared.arguments, states, prepared.table, prepared.failures, ...sizes] as never[]));
  }

  #solveAll(
    stream: Stream,
    memory: Uploads,
    members: readonly SweepMember[],
    grams: DeviceGrams,
    weights: DeviceBuffer<"f64">,
    failed: DeviceBuffer<"i32">,
  ): void {
    const features = rowFeatures(this.#rowShape);
    const { outputs, constant } = this.#rowShape;
    this.#clock?.on(stream, "solve", { bytes: 0 });
    const lambdas = memory.take("f64", members.length, "lambdas");
    stream.upload(
      lambdas,
      Float64Array.from(members, ({ lambda }) => lambda),
    );
    const values = (features * (features + 1)) / 2 + outputs * features;
    const room = this.#context.info.attributes.sharedBytesPerBlockOptIn - 1024;
    const inShared = values * 8 <= room;
    const scratch = inShared ? null : memory.take("f64", members.length * values, "factors of Cholesky");
    const config = { grid: [1, members.length] as const, block: solveThreads, shared: inShared ? values * 8 : 0 };
    const sizes = [grams.tiles * 64 * 64, features, outputs, constant ? 1 : 0];
    stream.launch(this.#solve, config, ...([grams.sums, grams.totals, lambdas, ...sizes, scratch, weights, failed] as never[]));
  }
}
