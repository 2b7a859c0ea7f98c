// Measures of many reservoirs on a device: states by the ensemble's kernels, and what is made of
// them by kernels/reservoir_measures.cu, with the host's bits. Of each member only a few numbers
// come to the host.
import { disposeAll, disposeQuietly } from "@spillway/core/disposal.js";
import type { Context, Stream } from "@spillway/gpu";
import { Matrix } from "@spillway/numerics";
import type { MeasuresAsked, MeasuresFound, MeasureWork, RankStreams } from "../../../reservoir/engine/measures.js";
import { type EnginePlan, formatBytes } from "../../../reservoir/engine.js";
import { plainFeatures } from "../../../reservoir/features.js";
import { WorkPacer } from "../../../reservoir/work.js";
import { activationNumber } from "../activation.js";
import { type AnyArgument, type AnyKernel, loadEntries, type RealParameter, realKernel, realType } from "../kernels.js";
import { freeMemory } from "../memory.js";
import { elementBytes } from "../shape.js";
import type { RealSlice } from "../time-loop.js";
import { capacitiesOf, capacityBytes } from "./capacities.js";
import { dynamicsBytes, dynamicsOf } from "./dynamics.js";
import { fastDetail } from "./kernel-choice.js";
import { tableColumns } from "./members.js";
import { type SharedDraws, type SweepShape, SweptMembers, sweepShape, type Wave } from "./swept-members.js";
import {
  factorKernel,
  factorShape,
  finiteStates,
  type LaunchShape,
  panelRows,
  reflectionColumns,
  sharedRoom,
  type Turn,
  weightArguments,
  weightParameters,
} from "./turn.js";
import { Uploads } from "./uploads.js";

/** Members of a wave, at most: few enough to be stopped within two seconds. */
const usualWave = 4096;

/** Rows of features that a block of measure_recall holds. */
const recallBatch = 8;

/** Bytes of states that are kept at a time. */
const chunkBytes = 2 * 2 ** 30;

const file = "reservoir_measures";

/** Kernels of both precisions, and those of binary64 alone. */
const realParameters = {
  tangent: [...weightParameters, ...(["const real*", "const real*", "const real*", "f64*", "f64*", "i32", "i32", "i32", "i32"] as const)],
  rows: ["const real*", "i32", "i32", "i32", "i32", "const f64*", "i32", "i32", "f64*", "i64"],
  gather: ["const real*", "i32", "i32", "i32", "f64*"],
  distance: ["const real*", "const real*", "i32", "i32", "f64", "f64*"],
} as const satisfies Record<string, readonly RealParameter[]>;
const parameters = {
  logarithms: ["const f64*", "i32", "i32", "i32", "f64*"],
  diagonal: ["f64*", "i64", "i32", "i32", "i32", "i32", "f64"],
  solve: ["const f64*", "i32", "i32", "f64*"],
  recall: ["const f64*", "i64", "i32", "i32", "i32", "i32", "const f64*", "f64*", "f64*", "i32"],
  singular: ["f64*", "i32", "f64", "f64*", "i32*", "i32"],
  sum: ["const f64*", "i32", "i32", "i32", "f64*"],
} as const;

function binary64Kernel(context: Context, name: keyof typeof parameters): AnyKernel {
  return loadEntries(context, file, [`measure_${name}`]).kernel(`measure_${name}`, parameters[name]);
}

/**
 * `DeviceAbilities.measure` on a device, or undefined if a base has a shape that is better run by itself.
 */
export function measureTogether(context: Context, engine: string, work: MeasureWork): Promise<EnginePlan> | undefined {
  const shape = sweepShape(context, work.bases);
  return shape && new Measuring(context, engine, work, shape).run();
}

/** What was found of each trunk of a wave. */
type Found = Map<keyof MeasuresFound, (trunk: number) => MeasuresFound[keyof MeasuresFound]>;

class Measuring {
  readonly #context: Context;
  readonly #engine: string;
  readonly #work: MeasureWork;
  readonly #members: SweptMembers;
  readonly #kernels = new Map<string, AnyKernel>();
  /** Bytes of shared memory that a block may have beside what its kernel declares. */
  readonly #room: number;

  constructor(context: Context, engine: string, work: MeasureWork, shape: SweepShape) {
    this.#context = context;
    this.#engine = engine;
    this.#work = work;
    const readouts = { ...work, washout: 0, features: plainFeatures, constant: true };
    this.#members = new SweptMembers(context, readouts, (work.asked.memory?.maxDelay ?? -1) + 1, shape, undefined);
    this.#room = sharedRoom(context);
  }

  get #model() {
    return this.#work.bases[0]!.model;
  }

  async run(): Promise<EnginePlan> {
    const { members, asked } = this.#work;
    const pacer = new WorkPacer(this.#work, members.length);
    const size = this.#waveSize();
    const stream = this.#context.stream({ label: "measures" });
    const shared = new Uploads<"f64">(this.#context, stream, "float64");
    try {
      const draws = this.#members.upload(shared);
      let done = 0;
      for (let first = 0; first < this.#members.trunks.length; first += size) {
        const wave = this.#members.wave(first, size);
        const pause = async () => {
          await stream.done();
          await pacer.pause(done);
        };
        await this.#wave(stream, wave, draws, pause, asked);
        done += wave.slots;
      }
    } catch (error) {
      disposeQuietly([stream, shared]);
      throw error;
    }
    disposeAll([stream, shared]);
    pacer.finish();
    return this.#plan(size);
  }

  /** Bytes that a member takes besides its weights and states. */
  get #furtherBytes(): number {
    const { size, precision } = this.#model;
    const { memory, kernelRank, generalisationRank, capacity, dynamics } = this.#work.asked;
    const streams = Math.max(kernelRank?.streams.length ?? 0, generalisationRank?.streams.length ?? 0);
    const ranks = streams * (size * (elementBytes(precision) + 8) + 4 * tableColumns + 8);
    const columns = memory ? size + 2 + memory.maxDelay : 0;
    const squares = memory ? 8 * columns * (panelRows + 2 * (size + 1) + reflectionColumns) : 0;
    const capacities = capacity ? capacityBytes(size, precision, capacity) : 0;
    return Math.max(ranks, squares, capacities, dynamics ? dynamicsBytes(size, precision, dynamics) : 0);
  }

  #waveSize(): number {
    const { size, precision } = this.#model;
    const perMember = this.#members.fixedBytes + this.#furtherBytes + 64 * size * elementBytes(precision);
    const fit = Math.floor((freeMemory(this.#context) * 0.7) / perMember);
    const { trunks } = this.#members;
    const most = Math.max(1, Math.min(this.#work.membersAtOnce ?? usualWave, fit));
    return Math.ceil(trunks.length / Math.ceil(trunks.length / most));
  }

  #plan(waveSize: number): EnginePlan {
    const { members, bases, asked } = this.#work;
    const { trunks, fixedBytes, kernel } = this.#members;
    const waves = Math.ceil(trunks.length / waveSize);
    const bytes = waveSize * (fixedBytes + this.#furtherBytes) + chunkBytes;
    const measures = Object.keys(asked).join(", ");
    return {
      engine: this.#engine,
      summary: `${this.#context.info.name}, ${measures} of ${members.length} reservoirs by ${kernel.name} in ${waves === 1 ? "one wave" : `${waves} waves`}, ${formatBytes(bytes)}`,
      bytes,
      details: {
        ...{ plan: "measures", measures, reservoirs: members.length, seeds: bases.length, kernel: kernel.name, waves },
        ...fastDetail([kernel]),
      },
    };
  }

  async #wave(stream: Stream, wave: Wave, draws: SharedDraws, pause: () => Promise<void>, asked: MeasuresAsked): Promise<void> {
    const memory = new Uploads(this.#context, stream, this.#model.precision);
    try {
      const prepared = this.#members.prepare(stream, memory, wave, draws);
      const turn: Turn = { stream, wave, prepared, pause };
      const found: Found = new Map();
      if (asked.exponent) found.set("exponent", await this.#exponent(turn, asked.exponent));
      if (asked.memory) found.set("curve", await this.#memory(turn, asked.memory));
      for (const kind of ["kernelRank", "generalisationRank"] as const) {
        const streams = asked[kind];
        if (streams) found.set(kind, await this.#rank(turn, streams));
      }
      if (asked.echo) found.set("echo", await this.#echo(turn, asked.echo));
      if (asked.capacity) found.set("capacities", await capacitiesOf(this.#context, this.#members, turn, asked.capacity));
      if (asked.dynamics) found.set("dynamics", await dynamicsOf(this.#context, this.#members, turn, asked.dynamics));
      for (let slot = 0; slot < wave.slots; slot++) {
        const trunk = wave.trunkOf[slot]!;
        const values = [...found].map(([name, of]) => [name, of(trunk)] as const);
        this.#work.take(wave.memberOf[slot]!, Object.fromEntries(values) as MeasuresFound);
      }
      await pause();
    } finally {
      disposeAll([memory]);
    }
  }

  /** Tangents follow chunks of states. */
  async #exponent(turn: Turn, { inputs, tangent, washout }: NonNullable<MeasuresAsked["exponent"]>) {
    const { stream, wave, prepared } = turn;
    const { size, precision, activation } = this.#model;
    const count = wave.trunks.length;
    const own = new Uploads(this.#context, stream, precision);
    try {
      const chunk = this.#chunkSteps(count, inputs.rows);
      const states = own.real(count * chunk * size, "states");
      const before = own.real(count * size, "states before a chunk");
      const tangents = own.take("f64", count * size, "tangents");
      const all = new Float64Array(count * size);
      for (let m = 0; m < count; m++) all.set(tangent, m * size);
      stream.upload(tangents, all);
      const growths = own.take("f64", count * chunk, "growths");
      const sums = own.take("f64", 2 * count, "sums of logarithms");
      stream.fill(sums);
      const series = this.#series(own, inputs);
      const { threads, shared, resident } = this.#tangentShape();
      const weights = weightArguments(this.#members, prepared);
      this.#members.reset(stream, prepared);
      for (let from = 0; from < inputs.rows; from += chunk) {
        const to = Math.min(inputs.rows, from + chunk);
        stream.copy(before, prepared.state);
        this.#members.run(stream, wave, prepared, series, states, from, to);
        const given = [...weights, states, before, prepared.leakRates, tangents, growths];
        const sizes = [to - from, size, activationNumber[activation], resident ? 1 : 0];
        this.#launchReal(stream, "tangent", { grid: count, block: threads, shared }, [...given, ...sizes]);
        const counted = Math.max(0, Math.min(to, washout) - from);
        this.#launch(stream, "logarithms", { grid: Math.ceil(count / 256), block: 256 }, [growths, counted, to - from, count, sums]);
        await turn.pause();
      }
      const found = await stream.download(sums);
      const finite = await finiteStates(stream, prepared.failures);
      const steps = inputs.rows - washout;
      return (trunk: number) => (finite(trunk) ? found[2 * trunk]! / steps : undefined);
    } finally {
      disposeAll([own]);
    }
  }

  /** Reflections of panels of rows, and then the readouts' answers to those held out. */
  async #memory(turn: Turn, asked: NonNullable<MeasuresAsked["memory"]>) {
    const { stream, wave, prepared } = turn;
    const { inputs, values, washout, length, heldOut, maxDelay, lambda } = asked;
    const { size, precision } = this.#model;
    const count = wave.trunks.length;
    const [features, delays] = [size + 1, maxDelay + 1];
    const columns = features + delays;
    const pitch = panelRows * columns;
    const own = new Uploads(this.#context, stream, precision);
    try {
      // A chunk holds whole panels, so that only the last of the training rows is short.
      const most = Math.max(panelRows, this.#chunkSteps(count, inputs.rows));
      const chunk = Math.floor(most / panelRows) * panelRows;
      const states = own.real(count * chunk * size, "states");
      const series = this.#series(own, inputs);
      const wanted = own.take("f64", values.length, "delayed inputs");
      stream.upload(wanted, values);
      const panels = own.take("f64", count * pitch, "panels");
      const triangles = own.take("f64", count * features * columns, "triangles");
      stream.fill(triangles);
      const scratch = own.take("f64", count * reflectionColumns * columns, "reflections");
      const weights = own.take("f64", count * features * delays, "readouts");
      const sums = own.take("f64", count * 5 * delays, "correlations");
      stream.fill(sums);
      const curves = own.take("f64", count * delays, "curves");
      const factor = (rows: number, first: number) => {
        const given = [panels, pitch, rows, first, features, columns, triangles, scratch];
        this.#start(stream, factorShape(count), given, "factor", () => factorKernel(this.#context));
      };
      const solve = () => {
        if (lambda > 0)
          for (let first = 0; first < features; first += panelRows) {
            const rows = Math.min(panelRows, features - first);
            const config = { grid: [Math.ceil((rows * columns) / 1024), count] as const, block: 256 };
            this.#launch(stream, "diagonal", config, [panels, pitch, rows, first, features, columns, Math.sqrt(lambda)]);
            factor(rows, first);
          }
        this.#launch(stream, "solve", { grid: count, block: 256 }, [triangles, features, columns, weights]);
      };
      const held = 8 * features * (recallBatch + delays);
      const recalled = held <= this.#room ? { shared: held, resident: 1 } : { shared: 8 * recallBatch * features, resident: 0 };
      const recall = (rows: number, done: number) => {
        const given = [panels, pitch, rows, done, features, columns, weights, sums];
        const last = done + rows === heldOut ? curves : null;
        this.#launch(stream, "recall", { grid: count, block: 128, shared: recalled.shared }, [...given, last, recalled.resident]);
      };
      this.#members.reset(stream, prepared);
      const cuts = [washout, washout + length, inputs.rows];
      for (let from = 0; from < inputs.rows; ) {
        const to = Math.min(cuts.find((row) => row > from)!, from + chunk);
        this.#members.run(stream, wave, prepared, series, states, from, to);
        for (let first = from; from >= washout && first < to; first += panelRows) {
          const rows = Math.min(panelRows, to - first);
          const config = { grid: [Math.ceil((rows * columns) / 1024), count] as const, block: 256 };
          this.#launchReal(stream, "rows", config, [states, to - from, first - from, rows, size, wanted, first, delays, panels, pitch]);
          if (first < washout + length) factor(rows, 0);
          else recall(rows, first - washout - length);
        }
        if (to === washout + length) solve();
        from = to;
        await turn.pause();
      }
      const found = await stream.download(curves);
      const finite = await finiteStates(stream, prepared.failures);
      return (trunk: number) => (finite(trunk) ? found.subarray(trunk * delays, (trunk + 1) * delays) : undefined);
    } finally {
      disposeAll([own]);
    }
  }

  /** The last states of all streams, and the rank of each member's matrix of them. */
  async #rank(turn: Turn, { streams, tolerance }: RankStreams) {
    const { stream, wave, prepared } = turn;
    const { size, precision } = this.#model;
    const count = wave.trunks.length;
    const { rows } = streams[0]!;
    const own = new Uploads(this.#context, stream, precision);
    try {
      const state = own.real(count * streams.length * size, "last states");
      for (let m = 0; m < streams.length; m++) {
        const part = state.slice(m * count * size, (m + 1) * count * size);
        stream.copy(part, prepared.initial);
      }
      const series = own.real(streams.length * rows * this.#model.inputSize, "streams");
      const starts = streams.map((_, m) => m * rows);
      own.place(series, streams, starts, this.#model.inputSize);
      const table = new Int32Array(tableColumns * count * streams.length);
      for (let m = 0, at = 0; m < streams.length; m++)
        for (let t = 0; t < count; t++) {
          table[at++] = t;
          table[at++] = t;
          table[at++] = starts[m]!;
          table[at++] = -1;
          table[at++] = 0;
          table[at++] = rows;
          table[at++] = m;
          table[at++] = 0;
        }
      const deviceTable = own.take("i32", table.length, "streams of members");
      stream.upload(deviceTable, table);
      const failures = own.take("u64", count * streams.length, "first non-finite states");
      stream.fill(failures.as("u32"), 0xffffffff);
      this.#members.launch(stream, prepared.arguments(series, state), null, deviceTable, failures, count * streams.length);
      await turn.pause();
      const matrices = own.take("f64", count * size * size, "matrices");
      const singular = own.take("f64", count * size, "singular values");
      const ranks = own.take("i32", count, "ranks");
      const gather = { grid: [Math.ceil((size * size) / 1024), count] as const, block: 256 };
      this.#launchReal(stream, "gather", gather, [state, count, 0, size, matrices]);
      const held = 8 * (4 * size + size * (size | 1));
      const resident = held <= this.#room;
      const config = { grid: count, block: 256, shared: resident ? held : 32 * size };
      this.#launch(stream, "singular", config, [matrices, size, tolerance, singular, ranks, resident ? 1 : 0]);
      const found = await stream.download(ranks);
      const each = await finiteStates(stream, failures);
      const finite = (trunk: number) => streams.every((_, m) => each(m * count + trunk));
      await turn.pause();
      return (trunk: number) => (finite(trunk) ? found[trunk]! : undefined);
    } finally {
      disposeAll([own]);
    }
  }

  /** Runs from other states beside the one from the initial state, chunk by chunk. */
  async #echo(turn: Turn, { inputs, starts, washout }: NonNullable<MeasuresAsked["echo"]>) {
    const { stream, wave, prepared } = turn;
    const { size, precision } = this.#model;
    const count = wave.trunks.length;
    const own = new Uploads(this.#context, stream, precision);
    try {
      const chunk = this.#chunkSteps(2 * count, inputs.rows);
      const [reference, other] = [own.real(count * chunk * size, "states"), own.real(count * chunk * size, "other states")];
      const series = this.#series(own, inputs);
      const curve = own.take("f64", count * chunk, "distances");
      const sums = own.take("f64", count, "sums of distances");
      stream.fill(sums);
      this.#members.reset(stream, prepared);
      const placed = Array.from({ length: starts.rows }, (_, p) => {
        const state = own.real(count * size, "other x");
        const row = Matrix.zeros(count, size, precision);
        for (let m = 0; m < count; m++) row.row(m).set(starts.row(p));
        own.place(state, [row], [0], size);
        return state;
      });
      for (let from = 0; from < inputs.rows; from += chunk) {
        const to = Math.min(inputs.rows, from + chunk);
        stream.fill(curve);
        this.#members.run(stream, wave, prepared, series, reference, from, to);
        for (const state of placed) {
          this.#members.run(stream, wave, { ...prepared, state }, series, other, from, to);
          const config = { grid: [Math.ceil((to - from) / 256), count] as const, block: 256 };
          this.#launchReal(stream, "distance", config, [reference, other, to - from, size, starts.rows, curve]);
        }
        const counted = Math.min(to, Math.max(from, washout)) - from;
        this.#launch(stream, "sum", { grid: Math.ceil(count / 256), block: 256 }, [curve, counted, to - from, count, sums]);
        await turn.pause();
      }
      const found = await stream.download(sums);
      const finite = await finiteStates(stream, prepared.failures);
      return (trunk: number) => (finite(trunk) ? found[trunk]! / (inputs.rows - washout) : undefined);
    } finally {
      disposeAll([own]);
    }
  }

  /** Steps whose states of so many members are kept at a time. */
  #chunkSteps(members: number, rows: number): number {
    const free = freeMemory(this.#context) * 0.5;
    return this.#members.chunkSteps(members, rows, Math.min(chunkBytes, free));
  }

  #series(memory: Uploads, inputs: Matrix): RealSlice {
    return memory.matrix([inputs], inputs.data.length, "inputs", ({ data }) => data);
  }

  #tangentShape(): { readonly threads: number; readonly shared: number; readonly resident: boolean } {
    const { size, precision } = this.#model;
    const dense = this.#members.kernel.storage === "dense";
    const vectors = 16 * size;
    const held = vectors + size * (size | 1) * elementBytes(precision);
    const resident = dense && held <= this.#room;
    return { threads: Math.min(1024, Math.ceil(size / 32) * 32), shared: resident ? held : vectors, resident };
  }

  #launchReal(stream: Stream, name: keyof typeof realParameters, config: LaunchShape, given: readonly AnyArgument[]): void {
    const { precision } = this.#model;
    this.#start(stream, config, given, name, () =>
      realKernel(this.#context, file, `measure_${name}_${realType(precision)}`, precision, realParameters[name]),
    );
  }

  #launch(stream: Stream, name: keyof typeof parameters, config: LaunchShape, given: readonly AnyArgument[]): void {
    this.#start(stream, config, given, name, () => binary64Kernel(this.#context, name));
  }

  #start(stream: Stream, config: LaunchShape, given: readonly AnyArgument[], name: string, load: () => AnyKernel): void {
    const kernel = this.#kernels.get(name) ?? load();
    this.#kernels.set(name, kernel);
    stream.launch(kernel, config, ...given);
  }
}
