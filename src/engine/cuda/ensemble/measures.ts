// Measures of many reservoirs on a device: states by the ensemble's kernels, and what is made of
// them by kernels/reservoir_measures.cu, with the host's bits. Of each member only a few numbers
// come to the host.
import { Making } from "@spillway/core/disposal.js";
import type { Context, Stream } from "@spillway/gpu";
import { Matrix } from "@spillway/numerics";
import type { MeasuresAsked, MeasuresFound, RankStreams } from "../../../reservoir/engine/measures.js";
import type { MeasuresAsk } from "../../../reservoir/engine.js";
import { activationNumber } from "../activation.js";
import { type AnyArgument, type RealParameter, realKernel, realType, shippedKernel } from "../kernels.js";
import { freeMemory } from "../memory.js";
import { elementBytes } from "../shape.js";
import { capacitiesOf, capacityBytes } from "./capacities.js";
import { dynamicsBytes, dynamicsOf } from "./dynamics.js";
import { tableColumns } from "./members.js";
import type { SweptMembers } from "./swept-members.js";
import {
  type Bench,
  chunksOf,
  factorKernel,
  factorShape,
  finiteStates,
  type LaunchShape,
  panelRows,
  reflectionColumns,
  sharedLimit,
  type Turn,
  type WaveTask,
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

/** What was found of a prefix, by its index in the wave. */
type FoundOf<Value> = (prefix: number) => Value | undefined;

/** Makes one measure of all reservoirs of a wave, in memory of its own. */
type Measuring<Asked, Value> = (turn: Turn, asked: Asked, own: Uploads) => Promise<FoundOf<Value>>;

export class MeasureTask implements WaveTask {
  readonly waveSize: number;
  readonly wavesAtOnce = 1;
  readonly bytes: number;
  readonly title: string;
  readonly details: WaveTask["details"];
  readonly #context: Context;
  readonly #members: SweptMembers;
  readonly #ask: MeasuresAsk;
  /** Bytes of shared memory that a block may have beside what its kernel declares. */
  readonly #sharedLimit: number;

  constructor({ context, members }: Bench, ask: MeasuresAsk, count: number) {
    this.#context = context;
    this.#members = members;
    this.#ask = ask;
    this.#sharedLimit = sharedLimit(context);
    const most = ask.membersAtOnce ?? usualWave;
    this.waveSize = members.waveSize({ rows: 64, budget: Number.POSITIVE_INFINITY, further: this.#furtherBytes, most });
    this.bytes = this.waveSize * (members.bytesOf(0) + this.#furtherBytes) + chunkBytes;
    const measures = Object.keys(ask.measures).join(", ");
    this.title = `${measures} of ${count} reservoirs`;
    this.details = { measures };
  }

  /** Bytes that a member takes besides its weights and states. */
  get #furtherBytes(): number {
    const { size, precision } = this.#members.rowShape;
    const { memory, kernelRank, generalisationRank, capacity, dynamics } = this.#ask.measures;
    const streams = Math.max(kernelRank?.streams.length ?? 0, generalisationRank?.streams.length ?? 0);
    const ranks = streams * (size * (elementBytes(precision) + 8) + 4 * tableColumns + 8);
    const columns = memory ? size + 2 + memory.maxDelay : 0;
    const squares = memory ? 8 * columns * (panelRows + 2 * (size + 1) + reflectionColumns) : 0;
    const capacities = capacity ? capacityBytes(size, precision, capacity) : 0;
    return Math.max(ranks, squares, capacities, dynamics ? dynamicsBytes(size, precision, dynamics) : 0);
  }

  start(turn: Turn): () => Promise<void> {
    return async () => {
      const { measures } = this.#ask;
      const found = {
        exponent: await this.#measure(turn, measures.exponent, this.#exponent),
        curve: await this.#measure(turn, measures.memory, this.#memory),
        kernelRank: await this.#measure(turn, measures.kernelRank, this.#rank),
        generalisationRank: await this.#measure(turn, measures.generalisationRank, this.#rank),
        echo: await this.#measure(turn, measures.echo, this.#echo),
        capacities: await this.#measure(turn, measures.capacity, (_, asked, own) =>
          capacitiesOf(this.#context, this.#members, turn, asked, own),
        ),
        dynamics: await this.#measure(turn, measures.dynamics, (_, asked, own) =>
          dynamicsOf(this.#context, this.#members, turn, asked, own),
        ),
      } satisfies { readonly [Name in keyof MeasuresFound]-?: FoundOf<NonNullable<MeasuresFound[Name]>> | undefined };
      const { slots, prefixOf, memberOf } = turn.wave;
      for (let slot = 0; slot < slots; slot++) {
        const values = Object.entries(found).flatMap(([name, of]) => (of ? [[name, of(prefixOf[slot]!)] as const] : []));
        this.#ask.take(memberOf[slot]!, Object.fromEntries(values));
      }
    };
  }

  /** What was found of prefixes whose states were finite; undefined if it is not asked for. */
  async #measure<Asked, Value>(
    turn: Turn,
    asked: Asked | undefined,
    measuring: Measuring<Asked, Value>,
  ): Promise<FoundOf<Value> | undefined> {
    if (asked === undefined) return undefined;
    const { stream, prepared } = turn;
    using owned = new Making();
    const own = new Uploads(owned, this.#context, stream, this.#members.rowShape.precision);
    this.#members.reset(stream, prepared);
    const found = await measuring.call(this, turn, asked, own);
    const finite = await finiteStates(stream, prepared.failures);
    owned.dispose();
    return (prefix) => (finite(prefix) ? found(prefix) : undefined);
  }

  /** Tangents follow chunks of states. */
  async #exponent(turn: Turn, { inputs, tangent, washout }: NonNullable<MeasuresAsked["exponent"]>, own: Uploads) {
    const { stream, wave, prepared } = turn;
    const { size } = this.#members.rowShape;
    const count = wave.prefixes.length;
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
    const series = own.series(inputs, "inputs");
    const { threads, shared, resident } = this.#tangentShape();
    const weights = weightArguments(this.#members, prepared);
    for (const { from, to } of chunksOf([inputs.rows], chunk)) {
      stream.copy(before, prepared.state);
      this.#members.run(stream, wave, prepared, series, states, from, to);
      const given = [...weights, states, before, prepared.leakRates, tangents, growths];
      const sizes = [to - from, size, activationNumber[this.#members.activation], resident ? 1 : 0];
      this.#launchReal(stream, "tangent", { grid: count, block: threads, shared }, [...given, ...sizes]);
      const counted = Math.max(0, Math.min(to, washout) - from);
      this.#launch(stream, "logarithms", { grid: Math.ceil(count / 256), block: 256 }, [growths, counted, to - from, count, sums]);
      await turn.pause();
    }
    const found = await stream.download(sums);
    const steps = inputs.rows - washout;
    return (prefix: number) => found[2 * prefix]! / steps;
  }

  /** Reflections of panels of rows, and then the readouts' answers to those held out. */
  async #memory(turn: Turn, asked: NonNullable<MeasuresAsked["memory"]>, own: Uploads) {
    const { stream, wave, prepared } = turn;
    const { inputs, values, washout, length, heldOut, maxDelay, lambda } = asked;
    const { size } = this.#members.rowShape;
    const count = wave.prefixes.length;
    const [features, delays] = [size + 1, maxDelay + 1];
    const columns = features + delays;
    const pitch = panelRows * columns;
    // A chunk holds whole panels, so that only the last of the training rows is short.
    const most = Math.max(panelRows, this.#chunkSteps(count, inputs.rows));
    const chunk = Math.floor(most / panelRows) * panelRows;
    const states = own.real(count * chunk * size, "states");
    const series = own.series(inputs, "inputs");
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
      stream.launch(factorKernel(this.#context), factorShape(count), ...given);
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
    const recalled = held <= this.#sharedLimit ? { shared: held, resident: 1 } : { shared: 8 * recallBatch * features, resident: 0 };
    const recall = (rows: number, done: number) => {
      const given = [panels, pitch, rows, done, features, columns, weights, sums];
      const last = done + rows === heldOut ? curves : null;
      this.#launch(stream, "recall", { grid: count, block: 128, shared: recalled.shared }, [...given, last, recalled.resident]);
    };
    for (const { from, to } of chunksOf([washout, washout + length, inputs.rows], chunk)) {
      this.#members.run(stream, wave, prepared, series, states, from, to);
      for (let first = from; from >= washout && first < to; first += panelRows) {
        const rows = Math.min(panelRows, to - first);
        const config = { grid: [Math.ceil((rows * columns) / 1024), count] as const, block: 256 };
        this.#launchReal(stream, "rows", config, [states, to - from, first - from, rows, size, wanted, first, delays, panels, pitch]);
        if (first < washout + length) factor(rows, 0);
        else recall(rows, first - washout - length);
      }
      if (to === washout + length) solve();
      await turn.pause();
    }
    const found = await stream.download(curves);
    return (prefix: number) => found.subarray(prefix * delays, (prefix + 1) * delays);
  }

  /** The last states of all streams, and the rank of each member's matrix of them. */
  async #rank(turn: Turn, { streams, tolerance }: RankStreams, own: Uploads) {
    const { stream, wave, prepared } = turn;
    const { size, inputSize } = this.#members.rowShape;
    const count = wave.prefixes.length;
    const { rows } = streams[0]!;
    const state = own.real(count * streams.length * size, "last states");
    for (let m = 0; m < streams.length; m++) {
      const part = state.slice(m * count * size, (m + 1) * count * size);
      stream.copy(part, prepared.initial);
    }
    const series = own.real(streams.length * rows * inputSize, "streams");
    const starts = streams.map((_, m) => m * rows);
    own.fillRowsAt(series, streams, starts, inputSize);
    const table = new Int32Array(tableColumns * count * streams.length);
    for (let m = 0; m < streams.length; m++)
      for (let p = 0; p < count; p++) table.set([p, p, starts[m]!, -1, 0, rows, m, 0], (m * count + p) * tableColumns);
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
    const resident = held <= this.#sharedLimit;
    const config = { grid: count, block: 256, shared: resident ? held : 32 * size };
    this.#launch(stream, "singular", config, [matrices, size, tolerance, singular, ranks, resident ? 1 : 0]);
    const found = await stream.download(ranks);
    const each = await finiteStates(stream, failures);
    const finite = (prefix: number) => streams.every((_, m) => each(m * count + prefix));
    await turn.pause();
    return (prefix: number) => (finite(prefix) ? found[prefix]! : undefined);
  }

  /** Runs from other states beside the one from the initial state, chunk by chunk. */
  async #echo(turn: Turn, { inputs, starts, washout }: NonNullable<MeasuresAsked["echo"]>, own: Uploads) {
    const { stream, wave, prepared } = turn;
    const { size, precision } = this.#members.rowShape;
    const count = wave.prefixes.length;
    const chunk = this.#chunkSteps(2 * count, inputs.rows);
    const [reference, other] = [own.real(count * chunk * size, "states"), own.real(count * chunk * size, "other states")];
    const series = own.series(inputs, "inputs");
    const curve = own.take("f64", count * chunk, "distances");
    const sums = own.take("f64", count, "sums of distances");
    stream.fill(sums);
    const states = Array.from({ length: starts.rows }, (_, p) => {
      const state = own.real(count * size, "other x");
      const row = Matrix.zeros(count, size, precision);
      for (let m = 0; m < count; m++) row.row(m).set(starts.row(p));
      own.fillRowsAt(state, [row], [0], size);
      return state;
    });
    for (const { from, to } of chunksOf([inputs.rows], chunk)) {
      stream.fill(curve);
      this.#members.run(stream, wave, prepared, series, reference, from, to);
      for (const state of states) {
        this.#members.run(stream, wave, { ...prepared, state }, series, other, from, to);
        const config = { grid: [Math.ceil((to - from) / 256), count] as const, block: 256 };
        this.#launchReal(stream, "distance", config, [reference, other, to - from, size, starts.rows, curve]);
      }
      const counted = Math.min(to, Math.max(from, washout)) - from;
      this.#launch(stream, "sum", { grid: Math.ceil(count / 256), block: 256 }, [curve, counted, to - from, count, sums]);
      await turn.pause();
    }
    const found = await stream.download(sums);
    return (prefix: number) => found[prefix]! / (inputs.rows - washout);
  }

  /** Steps whose states of so many members are kept at a time. */
  #chunkSteps(members: number, rows: number): number {
    const free = freeMemory(this.#context) * 0.5;
    return this.#members.chunkSteps(members, rows, Math.min(chunkBytes, free));
  }

  #tangentShape(): { readonly threads: number; readonly shared: number; readonly resident: boolean } {
    const { size, precision } = this.#members.rowShape;
    const dense = this.#members.kernel.storage === "dense";
    const vectors = 16 * size;
    const held = vectors + size * (size | 1) * elementBytes(precision);
    const resident = dense && held <= this.#sharedLimit;
    return { threads: Math.min(1024, Math.ceil(size / 32) * 32), shared: resident ? held : vectors, resident };
  }

  #launchReal(stream: Stream, name: keyof typeof realParameters, config: LaunchShape, given: readonly AnyArgument[]): void {
    const { precision } = this.#members.rowShape;
    const kernel = realKernel(this.#context, file, `measure_${name}_${realType(precision)}`, precision, realParameters[name]);
    stream.launch(kernel, config, ...given);
  }

  #launch(stream: Stream, name: keyof typeof parameters, config: LaunchShape, given: readonly AnyArgument[]): void {
    stream.launch(shippedKernel(this.#context, file, `measure_${name}`, parameters[name]), config, ...given);
  }
}
