// Pipeline: from raw cases to classes in one object that JSON describes. Its reservoirs and
// readouts are a Classifier's.
import { DisposedByAwaitUsing } from "@spillway/core/disposal.js";
import { option, resolve, text } from "@spillway/core/options.js";
import { readBytes, writeFileAtomic } from "@spillway/io";
import type { Matrix } from "@spillway/numerics";
import { accuracy, type ConfusionMatrix, confusionMatrix } from "../metrics/index.js";
import { checkLabels } from "../model/classifier/options.js";
import { Classifier, type Label, NotFittedError } from "../model/index.js";
import type { WorkOptions } from "../reservoir/index.js";
import { checkSequences } from "../reservoir/inputs.js";
import { Turns, workTable } from "../reservoir/work.js";
import { checkParameters, runTable } from "./check.js";
import { Front } from "./front.js";
import type { PipelineCase, PipelineParameters, PipelineRunOptions } from "./parameters.js";
import { decodePipeline, encodePipeline } from "./pipeline-file.js";

const openTable = { ...runTable, source: option(text(), "model data", "The name that errors call the data by.") };

/**
 * Scaler, encoder, reservoir, representation and readout in a row. All of it is `parameters`, plain
 * JSON; the same parameters and cases give the same model. Calls that are made while another is
 * running wait for it, in their order.
 *
 * @example
 * const pipeline = await new Pipeline({ reservoir: { size: 200, leakRate: 0.2 }
 * }).fit(train.sequences, train.labels); const share = await pipeline.score(test.sequences,
 * test.labels);
 */
export class Pipeline extends DisposedByAwaitUsing {
  readonly parameters: PipelineParameters;
  readonly #run: PipelineRunOptions;
  #front: Front;
  #classifier: Classifier | undefined;
  readonly #turns = new Turns();

  /**
   * @throws ArgumentError naming the parameter, the value it got and what it takes, or
   * for an option of the readout
   */
  constructor(parameters: PipelineParameters = {}, options: PipelineRunOptions = {}) {
    super();
    checkParameters(parameters);
    this.#run = resolve(runTable, options);
    this.parameters = structuredClone(parameters);
    this.#front = new Front(parameters);
  }

  /** Trains on cases (T x C each, or spike patterns) and their labels. @throws ArgumentError */
  async fit(sequences: readonly PipelineCase[], labels: ArrayLike<Label>, work: WorkOptions = {}): Promise<this> {
    const read = resolve(workTable, work);
    return this.#turns.take(() => this.#fit(sequences, labels, read));
  }

  async #fit(sequences: readonly PipelineCase[], labels: ArrayLike<Label>, work: WorkOptions): Promise<this> {
    const { scaler: _, encoder: __, ...settings } = this.parameters;
    const front = new Front(this.parameters).fit(sequences);
    const options = { ...settings, standardise: front.standardise, ...this.#run, ...work };
    const classifier = await Classifier.fit(front.apply(sequences), labels, options);
    await this.#classifier?.dispose();
    this.#front = front;
    this.#classifier = classifier;
    return this;
  }

  /** The reservoirs and readouts behind the front. @throws NotFittedError */
  get classifier(): Classifier {
    if (!this.#classifier) throw new NotFittedError("pipeline");
    return this.#classifier;
  }

  /** The classes, in the order of `predictProba`'s columns. @throws NotFittedError */
  get classes(): readonly Label[] {
    return this.classifier.classes;
  }

  /** The class of each case. @throws ArgumentError, NotFittedError */
  async predict(sequences: readonly PipelineCase[], work: WorkOptions = {}): Promise<Label[]> {
    return this.#turns.take(() => this.classifier.predict(this.#front.apply(sequences), work));
  }

  /**
   * B x K shares of the classes; see `Classifier.predictProba`. @throws ArgumentError,
   * NotFittedError
   */
  async predictProba(sequences: readonly PipelineCase[], work: WorkOptions = {}): Promise<Matrix<Float64Array>> {
    return this.#turns.take(() => this.classifier.predictProba(this.#front.apply(sequences), work));
  }

  /**
   * The share of cases whose class is predicted rightly. @throws ArgumentError, also for a label
   * that is no class it was trained on; NotFittedError
   */
  async score(sequences: readonly PipelineCase[], labels: ArrayLike<Label>, work: WorkOptions = {}): Promise<number> {
    this.#checkAnswers(sequences, labels);
    return accuracy(labels, await this.predict(sequences, work));
  }

  /** Counts of label against predicted class. @throws ArgumentError, NotFittedError */
  async confusion(sequences: readonly PipelineCase[], labels: ArrayLike<Label>, work: WorkOptions = {}): Promise<ConfusionMatrix> {
    this.#checkAnswers(sequences, labels);
    return confusionMatrix(labels, await this.predict(sequences, work), this.classes);
  }

  /** @throws ArgumentError for labels that are not one of the classes for each case */
  #checkAnswers(sequences: readonly PipelineCase[], labels: ArrayLike<Label>): void {
    const { classes } = this;
    checkSequences(sequences, "sequences");
    checkLabels(labels, sequences.length, classes);
  }

  /** The trained pipeline as the bytes of one model file. @throws NotFittedError */
  async toBytes(): Promise<Uint8Array> {
    return this.#turns.take(async () =>
      encodePipeline(await this.classifier.toBytes(), { parameters: this.parameters, range: this.#front.range }),
    );
  }

  /** Writes `toBytes()` to a file, whole or not at all (Node). @throws FileError, NotFittedError */
  async save(path: string): Promise<void> {
    await writeFileAtomic(path, await this.toBytes());
  }

  /** Opens what `toBytes` gave. @throws FileError with the reason if it cannot be used */
  static async fromBytes(
    bytes: Uint8Array,
    options: PipelineRunOptions & { readonly source?: string | undefined } = {},
  ): Promise<Pipeline> {
    const { source, ...run } = resolve(openTable, options);
    const { classifier, parameters, range } = await decodePipeline(bytes, source);
    const pipeline = new Pipeline(parameters, run);
    pipeline.#front = new Front(parameters, range);
    pipeline.#classifier = await Classifier.fromBytes(classifier, { ...run, source });
    return pipeline;
  }

  /**
   * Opens a file that `save` wrote (Node). @throws FileError with the reason if it cannot be used
   */
  static async load(path: string, options: PipelineRunOptions = {}): Promise<Pipeline> {
    resolve(runTable, options);
    return Pipeline.fromBytes(await readBytes(path), { ...options, source: path });
  }

  /** Gives memory and threads back. Idempotent. */
  async dispose(): Promise<void> {
    await this.#classifier?.dispose();
  }
}
