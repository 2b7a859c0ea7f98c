// Closed loops of many reservoirs on a device: states, Gram matrices and readouts as in a sweep,
// and then all members from all starts together, a step a launch. Only the forecasts come to the
// host.
import { disposeAll, disposeQuietly } from "@spillway/core/disposal.js";
import type { Context, DeviceBuffer, Stream } from "@spillway/gpu";
import { allocate, type FloatArray, type Matrix } from "@spillway/numerics";
import {
  type EnginePlan,
  type ForecastSeries,
  type ForecastSweepWork,
  formatBytes,
  type SweptForecasts,
} from "../../../reservoir/engine.js";
import { WorkPacer } from "../../../reservoir/work.js";
import { uploadSoon } from "../host-calls.js";
import { type AnyKernel, realKernel, realType } from "../kernels.js";
import { DeviceClock } from "../profile.js";
import { elementBytes } from "../shape.js";
import type { RealSlice } from "../time-loop.js";
import { DeviceGrams, rowArguments, rowParameters } from "../training/gram.js";
import { fastDetail } from "./kernel-choice.js";
import { tableColumns } from "./members.js";
import { chunkBytes } from "./sweep.js";
import { type Prepared, type SweepShape, SweptMembers, sweepShape, type Wave } from "./swept-members.js";
import { Uploads } from "./uploads.js";

/** Warps of a block that answers, at most (kernels/training.cu). */
const mostWarps = 8;

/**
 * `DeviceAbilities.sweepForecasts` on a device, or undefined if a base has a shape that is better run by
 * itself.
 */
export function forecastTogether(
  context: Context,
  engine: string,
  work: ForecastSweepWork,
  budget?: number,
): Promise<SweptForecasts> | undefined {
  const shape = sweepShape(context, work.bases);
  return shape && new ForecastSweep(context, engine, work, shape).run(budget);
}

/** Memory of a wave, for the longest of the series and the one with most starts. */
interface Room {
  readonly prepared: Prepared;
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

class ForecastSweep {
  readonly #context: Context;
  readonly #engine: string;
  readonly #work: ForecastSweepWork;
  readonly #members: SweptMembers;
  readonly #answer: AnyKernel;
  readonly #mostStarts: number;
  readonly #mostRows: number;
  /** Whether a step of a loop depends on its number. */
  readonly #noisy: boolean;
  readonly #clock: DeviceClock | undefined;

  constructor(context: Context, engine: string, work: ForecastSweepWork, shape: SweepShape) {
    this.#context = context;
    this.#engine = engine;
    this.#work = work;
    this.#clock = work.profile ? new DeviceClock(context) : undefined;
    const { precision, inputSize } = work.bases[0]!.model;
    this.#members = new SweptMembers(context, work, inputSize, shape, this.#clock);
    const answering = ["i32", "i32", "const f64*", "const f64*", "const f64*", "real*", "f64*"] as const;
    this.#answer = realKernel(context, "training", `training_answer_${realType(precision)}`, precision, [...rowParameters, ...answering]);
    this.#mostStarts = work.series.reduce((most, { starts }) => Math.max(most, starts.length), 0);
    this.#mostRows = work.series.reduce((most, { starts }) => Math.max(most, starts.at(-1)!), 0);
    this.#noisy = work.members.some(({ noiseLevel }) => noiseLevel !== 0);
  }

  async run(budget = chunkBytes): Promise<SweptForecasts> {
    const { members, series } = this.#work;
    const rows = series.reduce((sum, { starts }) => sum + starts.at(-1)!, 0);
    const pacer = new WorkPacer(this.#work, members.length * rows);
    const size = this.#members.waveSize(this.#mostRows, budget, this.#loopBytes());
    const stream = this.#context.stream({ label: "sweep of forecasts" });
    const shared = new Uploads<"f64">(this.#context, stream, "float64");
    const clock = this.#clock;
    clock?.watch(stream);
    try {
      clock?.on(stream, "upload");
      const draws = this.#members.upload(shared);
      clock?.off(stream);
      let done = 0;
      for (let first = 0; first < this.#members.trunks.length; first += size) {
        const wave = this.#members.wave(first, size);
        const memory = new Uploads(this.#context, stream, this.#members.rowShape.precision);
        const grams = new DeviceGrams(this.#context, this.#members.rowShape, wave.trunks.length);
        try {
          const room = this.#room(stream, memory, grams, wave, this.#members.prepare(stream, memory, wave, draws), budget);
          for (const [s, each] of series.entries()) {
            await this.#forecast(stream, wave, room, s, each);
            done += wave.slots * each.starts.at(-1)!;
            await pacer.pause(done);
          }
        } finally {
          disposeAll([memory, grams]);
        }
      }
    } catch (error) {
      disposeQuietly([stream, shared, clock]);
      throw error;
    }
    disposeAll([stream, shared, clock]);
    pacer.finish();
    return { plan: this.#plan(size, budget), profile: clock?.read() };
  }

  #plan(waveSize: number, budget: number): EnginePlan {
    const { members, bases, series } = this.#work;
    const { trunks, fixedBytes, kernel, rowShape } = this.#members;
    const waves = Math.ceil(trunks.length / waveSize);
    const states = this.#members.chunkSteps(waveSize, this.#mostRows, budget) * rowShape.size * elementBytes(rowShape.precision);
    const bytes = waveSize * (fixedBytes + this.#loopBytes() + states);
    return {
      engine: this.#engine,
      summary: `${this.#context.info.name}, forecasts of ${members.length} reservoirs and ${series.length} series by ${kernel.name} in ${waves === 1 ? "one wave" : `${waves} waves`}, ${formatBytes(bytes)}`,
      bytes,
      details: {
        ...{ plan: "sweep", reservoirs: members.length, seeds: bases.length, series: series.length },
        ...{ kernel: kernel.name, waves, reservoirsPerWave: waveSize },
        ...fastDetail([kernel]),
      },
    };
  }

  /** Bytes of the loops of a trunk, near enough. */
  #loopBytes(): number {
    const { members, horizon } = this.#work;
    const { size, inputSize, precision } = this.#members.rowShape;
    const readouts = members.length / this.#members.trunks.length;
    const element = elementBytes(precision);
    return Math.ceil(
      readouts * this.#mostStarts * (8 * this.#members.readoutValues + element * (size + 2 * inputSize) + 8 * horizon * inputSize + 48),
    );
  }

  #room(stream: Stream, memory: Uploads, grams: DeviceGrams, wave: Wave, prepared: Prepared, budget: number): Room {
    const { horizon, refit } = this.#work;
    const { size, inputSize } = this.#members.rowShape;
    const chunk = this.#members.chunkSteps(wave.trunks.length, this.#mostRows, budget);
    const loops = this.#mostStarts * wave.slots;
    const readouts = refit ? loops : wave.slots;
    const failures = memory.take("u64", loops, "non-finite states of loops");
    // What is not finite shows in the outputs.
    stream.fill(failures.as("u32"), 0xffffffff);
    return {
      ...{ prepared, grams, chunk, failures },
      states: memory.real(wave.trunks.length * chunk * size, "states"),
      readouts: memory.take("f64", readouts * this.#members.readoutValues, "readouts"),
      failed: memory.take("i32", readouts, "factorisations"),
      loops: memory.real(loops * size, "x of loops"),
      inputs: [memory.real(loops * inputSize, "u of loops"), memory.real(loops * inputSize, "the next u of loops")],
      table: memory.take("i32", tableColumns * loops, "loops"),
      answers: memory.take("f64", horizon * loops * inputSize, "forecasts"),
    };
  }

  async #forecast(stream: Stream, wave: Wave, room: Room, place: number, series: ForecastSeries): Promise<void> {
    const { precision } = this.#members.rowShape;
    const { starts, rows, targets, lower, upper } = series;
    const memory = new Uploads(this.#context, stream, precision);
    const numbers = new Uploads<"f64">(this.#context, stream, "float64");
    try {
      this.#clock?.on(stream, "upload");
      const given = memory.matrix([rows], rows.data.length, "series", ({ data }) => data);
      const onDevice = (matrix: Matrix<Float64Array>, label: string) =>
        numbers.matrix([matrix], matrix.data.length, label, ({ data }) => data);
      const wanted = onDevice(targets, "targets");
      const range = [onDevice(lower, "lower ends"), onDevice(upper, "upper ends")] as const;
      this.#clock?.off(stream);
      this.#train(stream, wave, room, series, given, wanted);
      this.#loop(stream, wave, room, series, range, wanted);
      const loops = starts.length * wave.slots;
      const values = this.#work.horizon * loops * rows.cols;
      const clock = this.#clock;
      const answers = room.answers.slice(0, values);
      const [made, singular, infinite] = [
        await stream.download(answers, clock?.around(stream, answers.byteLength)),
        await stream.download(room.failed, clock?.around(stream, room.failed.byteLength)),
        await stream.download(room.prepared.failures.as("u32"), clock?.around(stream, room.prepared.failures.byteLength)),
      ];
      clock?.collect();
      this.#hand(wave, place, starts.length, made, singular, infinite);
    } finally {
      disposeAll([memory, numbers]);
    }
  }

  /** Readouts of the starts that have one of their own, and the state at each. */
  #train(
    stream: Stream,
    wave: Wave,
    { prepared, grams, chunk, states, readouts, failed, failures, loops }: Room,
    { starts, apart, rows: { cols } }: ForecastSeries,
    series: RealSlice,
    targets: RealSlice<"f64">,
  ): void {
    const { washout, refit } = this.#work;
    const { size } = this.#members.rowShape;
    const values = this.#members.readoutValues;
    const clock = this.#clock;
    const keep = (k: number) => {
      for (const { first, count } of wave.rungs) {
        const at = k * wave.slots + first;
        const own = loops.slice(at * size, (at + count) * size);
        stream.copy(own, prepared.state.slice(0, count * size));
      }
    };
    this.#members.reset(stream, prepared);
    grams.clear(stream);
    // A readout that could not be solved predicts 0.
    stream.fill(readouts);
    // The target of the row before a start is not known at it.
    const trained = (apart?.trainRows ?? (refit ? starts.at(-1)! : starts[0]!)) - 1;
    const end = apart ? trained : starts.at(-1)!;
    const ends = apart ? [trained] : starts.flatMap((start) => [start - 1, start]);
    const cuts = [...new Set([washout, ...ends])].sort((a, b) => a - b);
    for (let from = 0; from < end; ) {
      const to = Math.min(cuts.find((row) => row > from)!, from + chunk);
      this.#members.run(stream, wave, prepared, series, states, from, to);
      if (from >= washout && from < trained) {
        clock?.on(stream, "train", { steps: (to - from) * wave.trunks.length, bytes: 0 });
        grams.add(stream, {
          ...{ rows: to - from, states, statePitch: (to - from) * size, inputPitch: 0 },
          inputs: series.slice(from * cols),
          targets: targets.slice((from + 1) * cols, (to + 1) * cols),
        });
      }
      const solve = (k: number) =>
        this.#members.solve(stream, wave, prepared, grams, readouts.slice(k * wave.slots * values), failed.slice(k * wave.slots));
      if (apart && to === trained) solve(0);
      else if (!apart)
        for (const [k, start] of starts.entries()) {
          if (to === start - 1 && (refit || k === 0)) solve(k);
          if (to === start) keep(k);
        }
      clock?.off(stream);
      from = to;
    }
    if (!apart) return;
    // What is not finite on the way to a start shows in its outputs.
    const warming = { ...prepared, failures };
    for (const [k, start] of starts.entries()) {
      const origin = start - apart.warmup;
      this.#members.reset(stream, warming);
      for (let from = origin; from < start; from += chunk)
        this.#members.run(stream, wave, warming, series, states, from, Math.min(start, from + chunk), origin);
      clock?.off(stream);
      keep(k);
    }
  }

  /** All loops, a step a launch: y of x and u, which is the next u, and the step. */
  #loop(
    stream: Stream,
    wave: Wave,
    { prepared, readouts, loops: states, inputs, table, failures, answers }: Room,
    { starts, apart, rows }: ForecastSeries,
    [lower, upper]: readonly [RealSlice<"f64">, RealSlice<"f64">],
    targets: RealSlice<"f64">,
  ): void {
    const { horizon, refit } = this.#work;
    const { size, inputSize, precision } = this.#members.rowShape;
    const { slots } = wave;
    const loops = starts.length * slots;
    const steps = apart ? starts.map(() => apart.warmup) : starts;
    const first = allocate(precision, loops * inputSize);
    for (const [k, start] of starts.entries())
      for (let slot = 0; slot < slots; slot++) first.set(rows.row(start - 1), (k * slots + slot) * inputSize);
    this.#clock?.on(stream, "closedLoop", { steps: horizon * loops, bytes: 0 });
    uploadSoon(stream, inputs[0].slice(0, first.length), first);
    const config = { grid: loops, block: 32 * Math.min(mostWarps, inputSize) };
    for (let h = 0; h < horizon; h++) {
      const [now, next] = h % 2 === 0 ? inputs : [inputs[1], inputs[0]];
      const shape = { rows: 1, states, statePitch: size, inputs: now, inputPitch: inputSize, targets };
      const out = answers.slice(h * loops * inputSize, (h + 1) * loops * inputSize);
      const given = [slots, refit ? loops : slots, readouts, lower, upper, next, out];
      stream.launch(this.#answer, config, ...rowArguments(this.#members.rowShape, shape), ...given);
      if (h + 1 === horizon) break;
      if (h === 0 || this.#noisy) uploadSoon(stream, table.slice(0, tableColumns * loops), this.#table(wave, steps, h));
      this.#members.launch(stream, prepared.arguments(next, states), null, table, failures, loops);
    }
    this.#clock?.off(stream);
  }

  /** Step h of each loop, by the steps before each start. */
  #table({ slots, trunkOf }: Wave, steps: readonly number[], h: number): Int32Array<ArrayBuffer> {
    const table = new Int32Array(tableColumns * steps.length * slots);
    for (const [k, start] of steps.entries())
      for (let slot = 0, loop = k * slots; slot < slots; slot++, loop++) {
        const trunk = trunkOf[slot]!;
        table.set([trunk, trunk, loop, -1, 0, 1, 0, start + h], loop * tableColumns);
      }
    return table;
  }

  /** Forecasts of each member, starts side by side. */
  #hand(wave: Wave, place: number, starts: number, made: Float64Array, singular: Int32Array, infinite: Uint32Array): void {
    const { horizon, refit, take } = this.#work;
    const { inputSize } = this.#members.rowShape;
    const { slots, memberOf, trunkOf } = wave;
    const forecasts: FloatArray = new Float64Array(starts * horizon * inputSize);
    for (let slot = 0; slot < slots; slot++) {
      const t = trunkOf[slot]!;
      const finite = infinite[2 * t] === 0xffffffff && infinite[2 * t + 1] === 0xffffffff;
      let at = 0;
      for (let k = 0; k < starts; k++) {
        const known = finite && singular[(refit ? k * slots : 0) + slot] === 0;
        for (let h = 0; h < horizon; h++) {
          const from = ((h * starts + k) * slots + slot) * inputSize;
          for (let o = 0; o < inputSize; o++) forecasts[at++] = known ? made[from + o]! : Number.NaN;
        }
      }
      take(place, memberOf[slot]!, forecasts);
    }
  }
}
