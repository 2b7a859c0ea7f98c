// Readouts of an evaluation's members on a device: Gram matrices are summed while the states are
// made, solved for every penalty, and answer the rows after training with errors or predictions.
import type { Context, DeviceBuffer, DeviceSlice, Dtype, Stream } from "@spillway/gpu";
import type { ErrorsAsk, PredictionsAsk } from "../../../reservoir/engine.js";
import { type AnyKernel, type RealParameter, realKernel, realType } from "../kernels.js";
import type { RealSlice } from "../time-loop.js";
import { DeviceGrams, type MemberRows, rowArguments, rowParameters } from "../training/gram.js";
import type { SlotRange, Wave } from "./swept-members.js";
import { allFinite, type Bench, chunksOf, type Turn, type WaveTask } from "./turn.js";
import type { Uploads } from "./uploads.js";

/** Threads of a block that scores or predicts (kernels/training.cu). */
const answerThreads = 256;

/**
 * Prefixes of a wave whose predictions the host takes: few enough that the device has the next wave
 * meanwhile.
 */
const mostTakenAtOnce = 2048;

export class ReadoutTask implements WaveTask {
  readonly waveSize: number;
  readonly wavesAtOnce = 2;
  readonly title: string;
  readonly details = {};
  readonly #bench: Bench;
  readonly #ask: ErrorsAsk | PredictionsAsk;
  /** Bytes of states in one chunk. */
  readonly #budget: number;
  /** Of a slot: sums, or every prediction. */
  readonly #answerValues: number;
  readonly #answer: AnyKernel;
  #targets: RealSlice<"f64"> | undefined;

  constructor(bench: Bench, ask: ErrorsAsk | PredictionsAsk, count: number) {
    const { context, members, budget } = bench;
    const { inputs, targets, trainRows, kind } = ask;
    this.#bench = bench;
    this.#ask = ask;
    this.#answerValues = targets.cols * (kind === "predictions" ? inputs.rows - trainRows : 1);
    const { prefixes } = members;
    this.title = `readouts of ${count} reservoirs, solved and ${kind === "errors" ? "scored" : "predicting"} there,`;
    // Of several waves two are on the device: the host takes what one answered while the other
    // runs.
    const fitting = members.waveSize({ rows: inputs.rows, budget, further: Math.ceil((8 * this.#answerValues * count) / prefixes.length) });
    const most = kind === "predictions" ? Math.min(fitting, mostTakenAtOnce) : fitting;
    const inOne = most >= prefixes.length;
    this.#budget = inOne ? budget : budget / 2;
    const size = Math.min(most, Math.ceil(fitting / 2));
    this.waveSize = inOne ? prefixes.length : Math.ceil(prefixes.length / Math.ceil(prefixes.length / size));
    this.#answer = answerKernel(context, members.rowShape.precision, kind);
  }

  get bytes(): number {
    const { members } = this.#bench;
    return this.waveSize * members.bytesOf(members.chunkSteps(this.waveSize, this.#ask.inputs.rows, this.#budget));
  }

  upload(memory: Uploads<"f64">): void {
    const { targets } = this.#ask;
    this.#targets = memory.series(targets, "targets");
  }

  start({ stream, wave, prepared, memory, own }: Turn): () => Promise<void> {
    const { context, members, clock } = this.#bench;
    const { inputs, washout, trainRows, kind } = this.#ask;
    const { rowShape, readoutValues } = members;
    const { size, inputSize, outputs } = rowShape;
    const count = wave.prefixes.length;
    const grams = own(new DeviceGrams(context, rowShape, count));
    grams.clear(stream);
    members.reset(stream, prepared);
    const series = memory.series(inputs, "inputs");
    const chunk = members.chunkSteps(count, inputs.rows, this.#budget);
    const states = memory.real(count * chunk * size, "states");
    const weights = memory.take("f64", wave.slots * readoutValues, "readouts");
    const failed = memory.take("i32", wave.slots, "factorisations");
    const answers = memory.take("f64", wave.slots * this.#answerValues, kind);
    stream.fill(answers);
    // A readout that could not be solved predicts 0.
    stream.fill(weights);
    // Rows of training and rows to predict are chunks of their own.
    for (const { from, to } of chunksOf([washout, trainRows, inputs.rows], chunk)) {
      members.run(stream, wave, prepared, series, states, from, to);
      const rows: MemberRows = {
        ...{ rows: to - from, states, statePitch: (to - from) * size, inputPitch: 0 },
        inputs: series.slice(from * inputSize),
        targets: this.#targets!.slice(from * outputs, to * outputs),
      };
      if (from >= washout && from < trainRows) {
        clock?.on(stream, "train", { steps: (to - from) * count, bytes: 0 });
        grams.add(stream, rows);
      }
      if (to === trainRows) members.solve(stream, wave, prepared, grams, weights, failed);
      if (from >= trainRows) {
        clock?.on(stream, "score", { steps: (to - from) * wave.slots, bytes: 0 });
        for (const range of wave.path) this.#launch(stream, range, rows, weights, answers, from - trainRows);
      }
      clock?.off(stream);
    }
    const download = <T extends Dtype>(of: DeviceSlice<T>) => stream.download(of, clock?.around(stream, of.byteLength));
    const found = Promise.all([download(answers), download(failed), download(prepared.failures.as("u32"))]);
    // It is awaited when the wave before is through, unless that one failed.
    found.catch(() => undefined);
    return async () => {
      const [values, singular, failures] = await found;
      clock?.collect();
      this.#hand(wave, values, singular, allFinite(failures));
    };
  }

  #hand({ slots, prefixOf, memberOf }: Wave, values: Float64Array, singular: Int32Array, finite: (prefix: number) => boolean): void {
    const length = this.#answerValues;
    for (let slot = 0; slot < slots; slot++) {
      const isKnown = singular[slot] === 0 && finite(prefixOf[slot]!);
      this.#ask.take(memberOf[slot]!, isKnown ? values.subarray(slot * length, (slot + 1) * length) : undefined);
    }
  }

  /** Errors or predictions of rows after training, by the readouts of a range of slots. */
  #launch(
    stream: Stream,
    { first, count }: SlotRange,
    rows: MemberRows,
    weights: DeviceBuffer<"f64">,
    out: DeviceBuffer<"f64">,
    at: number,
  ): void {
    const { rowShape, readoutValues } = this.#bench.members;
    const readouts = weights.slice(first * readoutValues, (first + count) * readoutValues);
    const answers = out.slice(first * this.#answerValues, (first + count) * this.#answerValues);
    const row = rowArguments(rowShape, rows);
    if (this.#ask.kind === "errors") {
      stream.launch(this.#answer, { grid: [1, count], block: answerThreads }, ...row, 0, rows.rows, readouts, answers);
      return;
    }
    const blocks = Math.min(32, Math.ceil((32 * rows.rows * rowShape.outputs) / answerThreads));
    const given = [...row, rows.rows, this.#answerValues, readouts, answers.slice(at * rowShape.outputs)];
    stream.launch(this.#answer, { grid: [blocks, count], block: answerThreads }, ...given);
  }
}

function answerKernel(context: Context, precision: "float32" | "float64", kind: "errors" | "predictions"): AnyKernel {
  const [name, parameters] = {
    errors: ["score", ["i32", "i32", "const f64*", "f64*"]],
    predictions: ["predict", ["i32", "i64", "const f64*", "f64*"]],
  }[kind] as [string, RealParameter[]];
  return realKernel(context, "training", `training_${name}_${realType(precision)}`, precision, [...rowParameters, ...parameters]);
}
