// Closed loops of an evaluation's members on a device: states, Gram matrices and readouts of the
// rows before each start, and then all members from all starts together, a step a launch. Only the
// forecasts come to the host.
import { Making } from "@spillway/core/disposal.js";
import type { DeviceBuffer } from "@spillway/gpu";
import { allocate } from "@spillway/numerics";
import type { ForecastSeries, ForecastsAsk, SweepMember } from "../../../reservoir/engine.js";
import { uploadSoon } from "../host-calls.js";
import { type AnyKernel, realKernel, realType } from "../kernels.js";
import { elementBytes } from "../shape.js";
import type { RealSlice } from "../time-loop.js";
import { DeviceGrams, rowArguments, rowParameters } from "../training/gram.js";
import { tableColumns } from "./members.js";
import type { Wave } from "./swept-members.js";
import { allFinite, type Bench, chunksOf, type Turn, type WaveTask } from "./turn.js";
import { Uploads } from "./uploads.js";

/** Warps of a block that answers, at most (kernels/training.cu). */
const mostWarps = 8;

/** Memory of a wave, for the longest of the series and the one with most starts. */
interface LoopMemory {
  readonly grams: DeviceGrams;
  readonly chunk: number;
  readonly states: RealSlice;
  readonly readouts: DeviceBuffer<"f64">;
  readonly failed: DeviceBuffer<"i32">;
  /** Starts x slots: x, and u and the one after it. */
  readonly loops: RealSlice;
  readonly inputs: readonly [RealSlice, RealSlice];
  readonly table: DeviceBuffer<"i32">;
  readonly failures: DeviceBuffer<"u64">;
  /** Horizon x starts x slots x I. */
  readonly answers: DeviceBuffer<"f64">;
}

export class ForecastTask implements WaveTask {
  readonly waveSize: number;
  readonly wavesAtOnce = 1;
  readonly title: string;
  readonly details: WaveTask["details"];
  readonly #bench: Bench;
  readonly #ask: ForecastsAsk;
  readonly #answer: AnyKernel;
  readonly #mostStarts: number;
  readonly #mostRows: number;
  /** Bytes of the loops of a prefix, near enough. */
  readonly #loopBytes: number;
  /** Whether a step of a loop depends on its number. */
  readonly #noisy: boolean;

  constructor(bench: Bench, ask: ForecastsAsk, all: readonly SweepMember[]) {
    const { context, members, budget } = bench;
    const { series, horizon } = ask;
    const { size, inputSize, precision } = members.rowShape;
    this.#bench = bench;
    this.#ask = ask;
    const answering = ["i32", "i32", "const f64*", "const f64*", "const f64*", "real*", "f64*"] as const;
    this.#answer = realKernel(context, "training", `training_answer_${realType(precision)}`, precision, [...rowParameters, ...answering]);
    this.#mostStarts = series.reduce((most, { starts }) => Math.max(most, starts.length), 0);
    this.#mostRows = series.reduce((most, { starts }) => Math.max(most, starts.at(-1)!), 0);
    this.#noisy = all.some(({ noiseLevel }) => noiseLevel !== 0);
    const bytes = 8 * members.readoutValues + elementBytes(precision) * (size + 2 * inputSize) + 8 * horizon * inputSize + 48;
    this.#loopBytes = Math.ceil((all.length / members.prefixes.length) * this.#mostStarts * bytes);
    this.waveSize = members.waveSize({ rows: this.#mostRows, budget, further: this.#loopBytes });
    this.title = `forecasts of ${all.length} reservoirs and ${series.length} series`;
    this.details = { series: series.length };
  }

  get bytes(): number {
    const { members, budget } = this.#bench;
    const states = members.chunkSteps(this.waveSize, this.#mostRows, budget);
    return this.waveSize * (this.#loopBytes + members.bytesOf(states));
  }

  start(turn: Turn): () => Promise<void> {
    const loop = this.#memory(turn);
    return async () => {
      let done = 0;
      for (const [s, each] of this.#ask.series.entries()) {
        if (s > 0) await turn.pause(done);
        await this.#forecast(turn, loop, s, each);
        done += turn.wave.slots * each.starts.at(-1)!;
      }
    };
  }

  #memory({ stream, wave, memory, own }: Turn): LoopMemory {
    const { context, members, budget } = this.#bench;
    const { horizon, refit } = this.#ask;
    const { size, inputSize } = members.rowShape;
    const chunk = members.chunkSteps(wave.prefixes.length, this.#mostRows, budget);
    const loops = this.#mostStarts * wave.slots;
    const readouts = refit ? loops : wave.slots;
    const failures = memory.take("u64", loops, "non-finite states of loops");
    // What is not finite shows in the outputs.
    stream.fill(failures.as("u32"), 0xffffffff);
    return {
      ...{ chunk, failures, grams: own(new DeviceGrams(context, members.rowShape, wave.prefixes.length)) },
      states: memory.real(wave.prefixes.length * chunk * size, "states"),
      readouts: memory.take("f64", readouts * members.readoutValues, "readouts"),
      failed: memory.take("i32", readouts, "factorisations"),
      loops: memory.real(loops * size, "x of loops"),
      inputs: [memory.real(loops * inputSize, "u of loops"), memory.real(loops * inputSize, "the next u of loops")],
      table: memory.take("i32", tableColumns * loops, "loops"),
      answers: memory.take("f64", horizon * loops * inputSize, "forecasts"),
    };
  }

  async #forecast(turn: Turn, loop: LoopMemory, index: number, series: ForecastSeries): Promise<void> {
    const { context, members, clock } = this.#bench;
    const { stream, wave, prepared } = turn;
    const { starts, rows, targets, lower, upper } = series;
    using owned = new Making();
    const memory = new Uploads(owned, context, stream, members.rowShape.precision);
    const numbers = new Uploads<"f64">(owned, context, stream, "float64");
    clock?.on(stream, "upload");
    const given = memory.series(rows, "series");
    const wanted = numbers.series(targets, "targets");
    const range = [numbers.series(lower, "lower ends"), numbers.series(upper, "upper ends")] as const;
    clock?.off(stream);
    this.#train(turn, loop, series, given, wanted);
    this.#loop(turn, loop, series, range, wanted);
    const loops = starts.length * wave.slots;
    const values = this.#ask.horizon * loops * rows.cols;
    const answers = loop.answers.slice(0, values);
    const [made, singular, failures] = [
      await stream.download(answers, clock?.around(stream, answers.byteLength)),
      await stream.download(loop.failed, clock?.around(stream, loop.failed.byteLength)),
      await stream.download(prepared.failures.as("u32"), clock?.around(stream, prepared.failures.byteLength)),
    ];
    clock?.collect();
    this.#hand(wave, index, starts.length, made, singular, allFinite(failures));
    owned.dispose();
  }

  /** Readouts of the starts that have one of their own, and the state at each. */
  #train(
    { stream, wave, prepared }: Turn,
    { grams, chunk, states, readouts, failed, failures, loops }: LoopMemory,
    { starts, apart, rows: { cols } }: ForecastSeries,
    series: RealSlice,
    targets: RealSlice<"f64">,
  ): void {
    const { washout, refit } = this.#ask;
    const { members, clock } = this.#bench;
    const { size } = members.rowShape;
    const values = members.readoutValues;
    const keep = (k: number) => {
      for (const { first, count } of wave.path) {
        const at = k * wave.slots + first;
        const own = loops.slice(at * size, (at + count) * size);
        stream.copy(own, prepared.state.slice(0, count * size));
      }
    };
    members.reset(stream, prepared);
    grams.clear(stream);
    // A readout that could not be solved predicts 0.
    stream.fill(readouts);
    // The target of the row before a start is not known at it.
    const trained = (apart?.trainRows ?? (refit ? starts.at(-1)! : starts[0]!)) - 1;
    const ends = apart ? [trained] : starts.flatMap((start) => [start - 1, start]);
    const cuts = [...new Set([washout, ...ends])].sort((a, b) => a - b);
    for (const { from, to } of chunksOf(cuts, chunk)) {
      members.run(stream, wave, prepared, series, states, from, to);
      if (from >= washout && from < trained) {
        clock?.on(stream, "train", { steps: (to - from) * wave.prefixes.length, bytes: 0 });
        grams.add(stream, {
          ...{ rows: to - from, states, statePitch: (to - from) * size, inputPitch: 0 },
          inputs: series.slice(from * cols),
          targets: targets.slice((from + 1) * cols, (to + 1) * cols),
        });
      }
      const solve = (k: number) =>
        members.solve(stream, wave, prepared, grams, readouts.slice(k * wave.slots * values), failed.slice(k * wave.slots));
      if (apart && to === trained) solve(0);
      else if (!apart)
        for (const [k, start] of starts.entries()) {
          if (to === start - 1 && (refit || k === 0)) solve(k);
          if (to === start) keep(k);
        }
      clock?.off(stream);
    }
    if (!apart) return;
    // What is not finite on the way to a start shows in its outputs.
    const warming = { ...prepared, failures };
    for (const [k, start] of starts.entries()) {
      const origin = start - apart.warmup;
      members.reset(stream, warming);
      for (const { from, to } of chunksOf([start], chunk, origin)) members.run(stream, wave, warming, series, states, from, to, origin);
      clock?.off(stream);
      keep(k);
    }
  }

  /** All loops, a step a launch: y of x and u, which is the next u, and the step. */
  #loop(
    { stream, wave, prepared }: Turn,
    { readouts, loops: states, inputs, table, failures, answers }: LoopMemory,
    { starts, apart, rows }: ForecastSeries,
    [lower, upper]: readonly [RealSlice<"f64">, RealSlice<"f64">],
    targets: RealSlice<"f64">,
  ): void {
    const { horizon, refit } = this.#ask;
    const { members, clock } = this.#bench;
    const { size, inputSize, precision } = members.rowShape;
    const { slots } = wave;
    const loops = starts.length * slots;
    const steps = apart ? starts.map(() => apart.warmup) : starts;
    const first = allocate(precision, loops * inputSize);
    for (const [k, start] of starts.entries())
      for (let slot = 0; slot < slots; slot++) first.set(rows.row(start - 1), (k * slots + slot) * inputSize);
    clock?.on(stream, "closedLoop", { steps: horizon * loops, bytes: 0 });
    uploadSoon(stream, inputs[0].slice(0, first.length), first);
    const config = { grid: loops, block: 32 * Math.min(mostWarps, inputSize) };
    for (let h = 0; h < horizon; h++) {
      const [now, next] = h % 2 === 0 ? inputs : [inputs[1], inputs[0]];
      const shape = { rows: 1, states, statePitch: size, inputs: now, inputPitch: inputSize, targets };
      const out = answers.slice(h * loops * inputSize, (h + 1) * loops * inputSize);
      const given = [slots, refit ? loops : slots, readouts, lower, upper, next, out];
      stream.launch(this.#answer, config, ...rowArguments(members.rowShape, shape), ...given);
      if (h + 1 === horizon) break;
      if (h === 0 || this.#noisy) uploadSoon(stream, table.slice(0, tableColumns * loops), this.#table(wave, steps, h));
      members.launch(stream, prepared.arguments(next, states), null, table, failures, loops);
    }
    clock?.off(stream);
  }

  /** Step h of each loop, by the steps before each start. */
  #table({ slots, prefixOf }: Wave, steps: readonly number[], h: number): Int32Array<ArrayBuffer> {
    const table = new Int32Array(tableColumns * steps.length * slots);
    for (const [k, start] of steps.entries())
      for (let slot = 0, loop = k * slots; slot < slots; slot++, loop++) {
        const prefix = prefixOf[slot]!;
        table.set([prefix, prefix, loop, -1, 0, 1, 0, start + h], loop * tableColumns);
      }
    return table;
  }

  /** Forecasts of each member, starts side by side. */
  #hand(
    { slots, memberOf, prefixOf }: Wave,
    series: number,
    starts: number,
    made: Float64Array,
    singular: Int32Array,
    finite: (prefix: number) => boolean,
  ): void {
    const { horizon, refit } = this.#ask;
    const { inputSize } = this.#bench.members.rowShape;
    const forecasts = new Float64Array(starts * horizon * inputSize);
    for (let slot = 0; slot < slots; slot++) {
      let at = 0;
      for (let k = 0; k < starts; k++) {
        const known = finite(prefixOf[slot]!) && singular[(refit ? k * slots : 0) + slot] === 0;
        for (let h = 0; h < horizon; h++) {
          const from = ((h * starts + k) * slots + slot) * inputSize;
          for (let o = 0; o < inputSize; o++) forecasts[at++] = known ? made[from + o]! : Number.NaN;
        }
      }
      this.#ask.take(memberOf[slot]!, forecasts, series);
    }
  }
}
