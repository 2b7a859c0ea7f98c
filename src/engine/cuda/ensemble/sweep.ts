// A sweep on a device: of each member the weights are scaled, the states made, the Gram matrix
// summed, the readout solved and its errors added, and only those errors come to the host. Members
// that differ in their penalty alone share states and Gram matrix.
import { type Disposes, disposeAll, disposeQuietly } from "@spillway/core/disposal.js";
import type { Context, DeviceBuffer, DeviceSlice, Dtype, Stream } from "@spillway/gpu";
import { Matrix } from "@spillway/numerics";
import { type EnginePlan, formatBytes, type SweepErrors, type SweepWork } from "../../../reservoir/engine.js";
import { WorkPacer } from "../../../reservoir/work.js";
import { type AnyKernel, type RealParameter, realKernel, realType } from "../kernels.js";
import { DeviceClock } from "../profile.js";
import { elementBytes } from "../shape.js";
import type { RealSlice } from "../time-loop.js";
import { DeviceGrams, type MemberRows, rowArguments, rowParameters } from "../training/gram.js";
import { fastDetail } from "./kernel-choice.js";
import { type SharedDraws, type SweepShape, SweptMembers, sweepShape, type Wave } from "./swept-members.js";
import { Uploads } from "./uploads.js";

/** Threads of a block that scores or predicts (kernels/training.cu). */
const answerThreads = 256;

/** Bytes of states in one chunk; most of what a wave's memory is. */
export const chunkBytes = 4 * 2 ** 30;

/** `DeviceAbilities.sweep` on a device, or undefined if a base has a shape that is better run by itself. */
export function sweepTogether(context: Context, engine: string, work: SweepWork, budget?: number): Promise<SweepErrors> | undefined {
  const shape = sweepShape(context, work.bases);
  return shape && new Sweep(context, engine, work, shape).run(budget);
}

/**
 * Trunks of a wave whose predictions the host takes: few enough that the device has the next wave
 * meanwhile.
 */
const mostTakenAtOnce = 2048;

/** Trunks of a wave, and the bytes of its states. */
interface WaveSize {
  readonly size: number;
  readonly budget: number;
}

/** A wave that the device has, and what it answers. */
interface RunningWave {
  readonly wave: Wave;
  readonly found: Promise<[Float64Array, Int32Array, Uint32Array]>;
  readonly memory: readonly Disposes[];
}

class Sweep {
  readonly #context: Context;
  readonly #engine: string;
  readonly #work: SweepWork;
  readonly #members: SweptMembers;
  readonly #score: AnyKernel;
  readonly #predict: AnyKernel;
  /** While it runs, if it is to be measured. */
  readonly #clock: DeviceClock | undefined;

  constructor(context: Context, engine: string, work: SweepWork, shape: SweepShape) {
    this.#context = context;
    this.#engine = engine;
    this.#work = work;
    this.#clock = work.profile ? new DeviceClock(context) : undefined;
    this.#members = new SweptMembers(context, work, work.targets.cols, shape, this.#clock);
    const { precision } = work.bases[0]!.model;
    const kernel = (name: string, parameters: readonly RealParameter[]) =>
      realKernel(context, "training", `training_${name}_${realType(precision)}`, precision, [...rowParameters, ...parameters]);
    this.#score = kernel("score", ["i32", "i32", "const f64*", "f64*"]);
    this.#predict = kernel("predict", ["i32", "i64", "const f64*", "f64*"]);
  }

  async run(budget = chunkBytes): Promise<SweepErrors> {
    const { members, inputs, targets } = this.#work;
    const { trunks } = this.#members;
    const pacer = new WorkPacer(this.#work, members.length * inputs.rows);
    const out = Matrix.zeros(members.length, targets.cols);
    const waves = this.#waves(budget);
    const stream = this.#context.stream({ label: "sweep" });
    const shared = new Uploads<"f64">(this.#context, stream, "float64");
    const clock = this.#clock;
    clock?.watch(stream);
    /** What the device has: the wave whose answers are next, and the one behind it. */
    const running: RunningWave[] = [];
    try {
      clock?.on(stream, "upload");
      const draws = this.#members.upload(shared);
      const given = shared.matrix([targets], targets.data.length, "targets", ({ data }) => data);
      let done = 0;
      const finishOne = async () => {
        await this.#finish(running[0]!, out);
        const { wave, memory } = running.shift()!;
        disposeAll(memory);
        done += wave.slots;
        await pacer.pause(done * inputs.rows);
      };
      for (let first = 0; first < trunks.length; first += waves.size) {
        running.push(this.#start(stream, this.#members.wave(first, waves.size), draws, given, waves.budget));
        if (running.length > 1) await finishOne();
      }
      await finishOne();
    } catch (error) {
      disposeQuietly([stream, shared, clock, ...running.flatMap(({ memory }) => memory)]);
      throw error;
    }
    disposeAll([stream, shared, clock]);
    pacer.finish();
    return { squares: out, plan: this.#plan(waves), profile: clock?.read() };
  }

  /**
   * Trunks of a wave, and the bytes of its states. Of several waves two are on the device: the host
   * takes what one answered while the other runs.
   */
  #waves(budget: number): WaveSize {
    const { inputs, take } = this.#work;
    const { trunks } = this.#members;
    const fitting = this.#members.waveSize(inputs.rows, budget, Math.ceil(8 * this.#answerValues * this.#slotsPerTrunk));
    const most = take ? Math.min(fitting, mostTakenAtOnce) : fitting;
    if (most >= trunks.length) return { size: trunks.length, budget };
    const size = Math.min(most, Math.ceil(fitting / 2));
    return { size: Math.ceil(trunks.length / Math.ceil(trunks.length / size)), budget: budget / 2 };
  }

  /** What of a slot comes to the host: sums, or every prediction. */
  get #answerValues(): number {
    const { take, inputs, targets, trainRows } = this.#work;
    return targets.cols * (take ? inputs.rows - trainRows : 1);
  }

  get #slotsPerTrunk(): number {
    return this.#work.members.length / this.#members.trunks.length;
  }

  #plan({ size: waveSize, budget }: WaveSize): EnginePlan {
    const { members, bases, inputs } = this.#work;
    const { size, precision } = bases[0]!.model;
    const { trunks, fixedBytes, kernel } = this.#members;
    const { name } = kernel;
    const waves = Math.ceil(trunks.length / waveSize);
    const bytes = waveSize * (fixedBytes + this.#members.chunkSteps(waveSize, inputs.rows, budget) * size * elementBytes(precision));
    return {
      engine: this.#engine,
      summary: `${this.#context.info.name}, sweep of ${members.length} reservoirs by ${name} in ${waves === 1 ? "one wave" : `${waves} waves`}, readouts solved and scored there, ${formatBytes(bytes)}`,
      bytes,
      details: {
        ...{ plan: "sweep", reservoirs: members.length, seeds: bases.length, kernel: name, waves, reservoirsPerWave: waveSize },
        ...fastDetail([kernel]),
      },
    };
  }

  /** Gives the stream all of a wave. */
  #start(stream: Stream, wave: Wave, draws: SharedDraws, targets: RealSlice<"f64">, budget: number): RunningWave {
    const { inputs, washout, trainRows, take } = this.#work;
    const { size, inputSize, precision } = this.#work.bases[0]!.model;
    const outputs = this.#work.targets.cols;
    const { rowShape, readoutValues } = this.#members;
    const count = wave.trunks.length;
    const memory = new Uploads(this.#context, stream, precision);
    const grams = new DeviceGrams(this.#context, rowShape, count);
    try {
      grams.clear(stream);
      const clock = this.#clock;
      const prepared = this.#members.prepare(stream, memory, wave, draws);
      this.#members.reset(stream, prepared);
      const series = memory.matrix([inputs], inputs.data.length, "inputs", ({ data }) => data);
      const chunk = this.#members.chunkSteps(count, inputs.rows, budget);
      const states = memory.real(count * chunk * size, "states");
      const weights = memory.take("f64", wave.slots * readoutValues, "readouts");
      const failed = memory.take("i32", wave.slots, "factorisations");
      const answers = memory.take("f64", wave.slots * this.#answerValues, take ? "predictions" : "squared errors");
      stream.fill(answers);
      // A readout that could not be solved predicts 0.
      stream.fill(weights);
      // Rows of training and rows to predict are chunks of their own.
      const cuts = [washout, trainRows, inputs.rows];
      for (let from = 0; from < inputs.rows; ) {
        const cut = cuts.find((row) => row > from)!;
        const to = Math.min(cut, from + chunk);
        this.#members.run(stream, wave, prepared, series, states, from, to);
        const rows: MemberRows = {
          ...{ rows: to - from, states, statePitch: (to - from) * size, inputPitch: 0 },
          inputs: series.slice(from * inputSize),
          targets: targets.slice(from * outputs, to * outputs),
        };
        if (from >= washout && from < trainRows) {
          clock?.on(stream, "train", { steps: (to - from) * count, bytes: 0 });
          grams.add(stream, rows);
        }
        if (to === trainRows) this.#members.solve(stream, wave, prepared, grams, weights, failed);
        if (from >= trainRows) {
          clock?.on(stream, "score", { steps: (to - from) * wave.slots, bytes: 0 });
          for (const rung of wave.rungs) this.#answer(stream, rung, rows, weights, answers, from - trainRows);
        }
        clock?.off(stream);
        from = to;
      }
      const download = <T extends Dtype>(of: DeviceSlice<T>) => stream.download(of, clock?.around(stream, of.byteLength));
      // Two words a member of the last, all ones if its states are finite.
      const found = Promise.all([download(answers), download(failed), download(prepared.failures.as("u32"))]);
      // It is awaited when the wave before is through, unless that one failed.
      found.catch(() => undefined);
      return { wave, found, memory: [memory, grams] };
    } catch (error) {
      disposeQuietly([memory, grams]);
      throw error;
    }
  }

  /** Takes what a wave came to. */
  async #finish({ wave, found }: RunningWave, out: Matrix<Float64Array>): Promise<void> {
    const { take } = this.#work;
    const values = this.#answerValues;
    const [sums, singular, infinite] = await found;
    this.#clock?.collect();
    for (let slot = 0; slot < wave.slots; slot++) {
      const member = wave.memberOf[slot]!;
      const t = wave.trunkOf[slot]!;
      const known = singular[slot] === 0 && infinite[2 * t] === 0xffffffff && infinite[2 * t + 1] === 0xffffffff;
      const own = sums.subarray(slot * values, (slot + 1) * values);
      if (take) take.call(this.#work, member, known ? own : undefined);
      else if (known) out.row(member).set(own);
      else out.row(member).fill(Number.NaN);
    }
  }

  /** Errors or predictions of rows after training, by the readouts of a rung. */
  #answer(
    stream: Stream,
    rung: Wave["rungs"][number],
    rows: MemberRows,
    weights: DeviceBuffer<"f64">,
    out: DeviceBuffer<"f64">,
    at: number,
  ): void {
    const { rowShape, readoutValues } = this.#members;
    const [first, end] = [rung.first, rung.first + rung.count];
    const readouts = weights.slice(first * readoutValues, end * readoutValues);
    const answers = out.slice(first * this.#answerValues, end * this.#answerValues);
    const row = rowArguments(rowShape, rows);
    if (!this.#work.take) {
      stream.launch(this.#score, { grid: [1, rung.count], block: answerThreads }, ...row, 0, rows.rows, readouts, answers);
      return;
    }
    const blocks = Math.min(32, Math.ceil((32 * rows.rows * rowShape.outputs) / answerThreads));
    const own = answers.slice(at * rowShape.outputs);
    const given = [...row, rows.rows, this.#answerValues, readouts, own];
    stream.launch(this.#predict, { grid: [blocks, rung.count], block: answerThreads }, ...given);
  }
}
