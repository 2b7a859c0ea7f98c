// Classifier: reservoirs that see whole sequences, and readouts that name their class. What a
// sequence becomes is in representation.ts, the readouts in class-readout.ts, the file in
// classifier-file.ts.
import { DisposedByAwaitUsing, disposeAllAsync, orDispose } from "@spillway/core/disposal.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { namingOwner } from "@spillway/core/field-owner.js";
import { resolve } from "@spillway/core/options.js";
import { writeFileAtomic } from "@spillway/io/atomic.js";
import { readBytes } from "@spillway/io/files.js";
import { Matrix } from "@spillway/numerics";
import { accuracy, type ConfusionMatrix, confusionMatrix } from "../../metrics/index.js";
import { isTrainer, type ReadoutDescription, type TrainedReadout, type Trainer, trainerOf } from "../../readout/index.js";
import {
  type AnyReservoirComputer,
  type AnyReservoirOptions,
  type EngineSelection,
  ReservoirComputer,
  type WorkOptions,
} from "../../reservoir/index.js";
import { describedBy } from "../../reservoir/kinds.js";
import { partOf, Turns, workTable } from "../../reservoir/work.js";
import { classifierReservoir, classifierSettings, descriptionOf, fieldOwners } from "../defaults.js";
import { NotFittedError } from "../errors.js";
import { decodeModelFile, type LoadOptions, loadTable } from "../model-file.js";
import { noStandardisation, type Standardisation } from "../standardisation.js";
import { fitLevels, type Levels, type MemberComputers } from "../views.js";
import { checkClassTrainer, classTrainer, largest, trainClassReadout } from "./class-readout.js";
import { allOf, openAll, prepareDriving, rowsFor, scaledInputs, stepOf } from "./driving.js";
import { decodeClassifier, encodeClassifier } from "./file.js";
import {
  type ClassifierCases,
  type ClassifierOptions,
  type ClassifierSettings,
  checkedSequences,
  checkLabels,
  classesOf,
  classifierOptionsTable,
  classifierTable,
  countCases,
  encodedCases,
  type Label,
  memberSeeds,
  plainCases,
} from "./options.js";
import { classify, represent, type SharesOn } from "./representation.js";
import { SaturationCount, warnWhereSaturated } from "./saturation.js";

/** The reservoir, and where it runs. */
type Running = EngineSelection & Pick<ClassifierOptions, "profile"> & { readonly reservoir: AnyReservoirOptions };

/** What training gives. */
interface Fitted {
  readonly classes: readonly Label[];
  readonly scale: Standardisation;
  /** Of the differences, for reservoirs that see them. */
  readonly differences: Standardisation | undefined;
  readonly readouts: readonly TrainedReadout[];
  /** Of each member; empty but for "statistics". */
  readonly levels: readonly Levels[];
  /** What makes probabilities of the outputs of each member's readout, if that was fitted. */
  readonly factors: readonly (number | undefined)[];
  /**
   * Time from row to row of the sequences that it was trained on, if they were on a device and had
   * one.
   */
  readonly stepMs?: number | undefined;
}

/**
 * Runs each sequence (T x C, any length) through a reservoir from its initial state, makes one
 * vector of features of the run (`representation`), and has a readout name the class; several
 * members with seeds of their own may vote. Calls that are made while another is running wait for
 * it, in their order.
 *
 * Sources: H. Jaeger et al. 2007, "Optimization and applications of echo state networks with
 * leaky-integrator neurons", Neural Networks 20 (votes, Japanese Vowels); F. M. Bianchi et al.
 * 2021, IEEE TNNLS 32 (representations).
 *
 * @example
 * await using classifier = await Classifier.fit(sequences, labels, { reservoir: { size: 200 },
 * members: 10 }); const labels = await classifier.predict(others);
 */
export class Classifier extends DisposedByAwaitUsing {
  readonly settings: ClassifierSettings;
  readonly #options: Running;
  /** If it was given as one. */
  readonly #trainer: Trainer | undefined;
  #members: readonly MemberComputers[] = [];
  #trained: Fitted | undefined;
  #predictedOn: readonly string[] | undefined;
  readonly #turns = new Turns();

  private constructor(options: Running, settings: ClassifierSettings, trainer?: Trainer) {
    super();
    this.#options = options;
    this.#trainer = trainer;
    this.settings = settings;
  }

  /**
   * Checks the options; the reservoirs are made when it is trained. @throws ArgumentError, and what
   * the readout's trainer throws
   */
  static async create(options: ClassifierOptions = {}): Promise<Classifier> {
    return namingOwner(
      () => fieldOwners(classifierOptionsTable),
      () => Classifier.#described(options),
    );
  }

  static async #described(options: ClassifierOptions): Promise<Classifier> {
    const { reservoir: described, engine, context, plan, threads, profile, readout, ...rest } = resolve(classifierOptionsTable, options);
    const trainer = isTrainer(readout) ? trainerOf(readout) : undefined;
    const said = trainer ? descriptionOf(trainer) : (readout as ReadoutDescription | undefined);
    const settings = resolve(classifierTable, {
      ...classifierSettings(rest, described, said),
      ...(said === undefined ? {} : { readout: said }),
    });
    const reservoir = classifierReservoir(described, settings.representation);
    if (trainer) checkClassTrainer(trainer, settings);
    else classTrainer(settings.readout, settings.representation === "statistics");
    if ((reservoir.feedback ?? null) !== null)
      throw ArgumentError.because("feedback is set; a classifier's reservoirs have no outputs to feed back", { field: "feedback" });
    return new Classifier({ reservoir, engine, context, plan, threads, profile }, settings, trainer);
  }

  /** Makes a classifier and trains it. */
  static async fit(
    sequences: ClassifierCases,
    labels: ArrayLike<Label>,
    options: ClassifierOptions & WorkOptions = {},
  ): Promise<Classifier> {
    const { signal, onProgress, ...rest } = options ?? {};
    const classifier = await Classifier.create(rest);
    return orDispose(classifier, () => classifier.fit(sequences, labels, { signal, onProgress }));
  }

  /**
   * Trains on sequences and the label of each.
   * @throws ArgumentError naming the sequence or label that does not fit, or for the reservoir, and
   * what the readout's trainer throws
   */
  async fit(sequences: ClassifierCases, labels: ArrayLike<Label>, work: WorkOptions = {}): Promise<this> {
    return namingOwner(
      () => fieldOwners(classifierOptionsTable),
      () => this.#turns.take(() => this.#fit(sequences, labels, work)),
    );
  }

  async #fit(sequences: ClassifierCases, labels: ArrayLike<Label>, work: WorkOptions): Promise<this> {
    resolve(workTable, work);
    const { settings } = this;
    const encoded = encodedCases(sequences, this.#options.reservoir);
    const plain = encoded ? [] : checkedSequences(plainCases(sequences), settings);
    const classes = classesOf(labels, encoded?.count ?? plain.length);
    const numberOf = new Map(classes.map((label, k) => [label, k]));
    const numbers = Int32Array.from(labels as ArrayLike<unknown> as Label[], (label) => numberOf.get(label)!);
    const channels = encoded?.columns ?? plain[0]!.cols;
    const members = await this.#membersFor(channels);
    using rows = encoded && (await rowsFor(encoded, members[0]![0], settings));
    const checked = rows ? checkedSequences(rows.sequences, settings) : plain;
    using scaled = await scaledInputs(members[0]![0], checked, settings.standardise ? undefined : noStandardisation(channels));
    const { scale } = scaled;
    using made = await prepareDriving(members[0]!, checked, scaled, settings);
    const { driving, differences } = made;
    const readouts: TrainedReadout[] = [];
    const levels: Levels[] = [];
    const factors: (number | undefined)[] = [];
    for (const [m, computers] of members.entries()) {
      if (settings.representation === "statistics") levels.push(await fitLevels(computers, driving, settings, work));
      const saturated = new SaturationCount();
      const member = { computers, levels: levels[m] };
      const features = await represent(member, driving, settings, partOf(work, m, members.length), saturated);
      warnWhereSaturated(computers[0].model, saturated.share, scaled.inputs);
      const { readout, factor } = trainClassReadout(features, numbers, classes.length, settings, this.#trainer);
      readouts.push(readout);
      factors.push(factor);
    }
    this.#trained = { classes, scale, differences, readouts, levels, factors, stepMs: stepOf(checked) };
    this.#predictedOn = undefined;
    return this;
  }

  /** The classes: numbers rising, texts by their characters' codes. @throws NotFittedError */
  get classes(): readonly Label[] {
    return this.#fitted().classes;
  }

  /**
   * The reservoirs that vote, of each member the one that sees the series, then, if there is one,
   * the one that sees its differences. @throws NotFittedError
   */
  get computers(): readonly AnyReservoirComputer[] {
    this.#fitted();
    return this.#members.flatMap(allOf);
  }

  /** The readout of each member. @throws NotFittedError */
  get readouts(): readonly TrainedReadout[] {
    return this.#fitted().readouts;
  }

  /**
   * Where features, scores and class scores of the last prediction were computed, for each member:
   * on the device that has the states, by its engine's name ("cuda", "sim"), if only the class
   * scores came to the host; else on the "host": for the CPU's engines, for "output", and for
   * "statistics" of sequences shared among devices, whose features come to the host. The bits are
   * the same. undefined before the first prediction.
   */
  get predictedOn(): readonly string[] | undefined {
    return this.#predictedOn;
  }

  /** The class of each sequence, by the members' vote. @throws ArgumentError, NotFittedError */
  async predict(sequences: ClassifierCases, work: WorkOptions = {}): Promise<Label[]> {
    const { classes, shares } = await this.#turns.take(() => this.#memberShares(sequences, work));
    const mean = meanOf(shares);
    return Array.from({ length: mean.rows }, (_, b) => {
      if (this.settings.vote === "mean") return classes[largest(mean.row(b))]!;
      const votes = new Float64Array(classes.length);
      for (const member of shares) votes[largest(member.row(b))]! += 1;
      const most = votes[largest(votes)]!;
      return classes[largest(mean.row(b).map((share, k) => (votes[k] === most ? share : -1)))]!;
    });
  }

  /**
   * B x K: for each sequence a number for each class, from 0 to 1, that sum to 1: the mean over the
   * members. Of a softmax readout they are probabilities. So they are of "statistics" and a ridge
   * readout that chose its lambda: softmax of its outputs times one factor, fitted on outputs of
   * cases that were left out. Of another ridge readout they are its outputs, cut at 0 and divided
   * by their sum: good for ranking, not calibrated.
   * @throws ArgumentError, NotFittedError
   */
  async predictProba(sequences: ClassifierCases, work: WorkOptions = {}): Promise<Matrix<Float64Array>> {
    return meanOf((await this.#turns.take(() => this.#memberShares(sequences, work))).shares);
  }

  /**
   * The share of sequences whose predicted class is their label. @throws ArgumentError,
   * NotFittedError
   */
  async score(sequences: ClassifierCases, labels: ArrayLike<Label>, work: WorkOptions = {}): Promise<number> {
    const { classes } = this.#fitted();
    checkLabels(labels, countCases(sequences), classes);
    return accuracy(labels, await this.predict(sequences, work));
  }

  /**
   * Counts of label against predicted class, in the order of `classes`. @throws ArgumentError,
   * NotFittedError
   */
  async confusion(sequences: ClassifierCases, labels: ArrayLike<Label>, work: WorkOptions = {}): Promise<ConfusionMatrix> {
    const { classes } = this.#fitted();
    checkLabels(labels, countCases(sequences), classes);
    return confusionMatrix(labels, await this.predict(sequences, work), classes);
  }

  /**
   * The model as the bytes of one safetensors file: weights, readouts, settings and classes.
   * @throws NotFittedError
   */
  async toBytes(): Promise<Uint8Array> {
    return this.#turns.take(async () => {
      const { classes, scale, differences, readouts, levels, factors } = this.#fitted();
      const members = readouts.map((readout, m) => ({
        models: allOf(this.#members[m]!).map(({ model }) => model),
        readout,
        levels: levels[m],
        factor: factors[m],
      }));
      return encodeClassifier({ settings: this.settings, classes, scale, differences, members });
    });
  }

  /** Writes `toBytes()` to a file, whole or not at all (Node). @throws FileError, NotFittedError */
  async save(path: string): Promise<void> {
    await writeFileAtomic(path, await this.toBytes());
  }

  /** Opens what `toBytes` gave. @throws FileError with the reason if it cannot be used */
  static async fromBytes(bytes: Uint8Array, options: LoadOptions = {}): Promise<Classifier> {
    const { source, ...selection } = resolve(loadTable, options);
    const file = await decodeModelFile(bytes, source, "classifier");
    const { settings, classes, scale, differences, members } = await decodeClassifier(file, source);
    const classifier = new Classifier({ reservoir: describedBy(members[0]!.models[0]!), ...selection }, settings);
    const models = members.map((member) => member.models);
    classifier.#members = await openAll(models, (model) => ReservoirComputer.fromModel(model, selection));
    const readouts = members.map(({ readout }) => readout);
    const levels = members.flatMap((member) => member.levels ?? []);
    const factors = members.map(({ factor }) => factor);
    classifier.#trained = { classes, scale, differences, readouts, levels, factors };
    return classifier;
  }

  /**
   * Opens a file that `save` wrote (Node). @throws FileError with the reason if it cannot be used
   */
  static async load(path: string, options: Omit<LoadOptions, "source"> = {}): Promise<Classifier> {
    resolve(loadTable, options);
    return Classifier.fromBytes(await readBytes(path), { ...options, source: path });
  }

  /** Gives memory and threads back. Idempotent. */
  async dispose(): Promise<void> {
    await disposeAllAsync(this.#members.flatMap(allOf));
  }

  #fitted(): Fitted {
    if (!this.#trained) throw new NotFittedError("classifier");
    return this.#trained;
  }

  /**
   * The reservoirs that are there, or new ones if the sequences have another number of channels.
   */
  async #membersFor(channels: number): Promise<readonly MemberComputers[]> {
    if (this.#members[0]?.[0].model.inputSize === channels) return this.#members;
    await this.dispose();
    this.#members = [];
    this.#trained = undefined;
    const { settings } = this;
    const { reservoir, ...selection } = this.#options;
    const inputSize = reservoir.inputSize ?? channels;
    if (inputSize !== channels) {
      throw ArgumentError.shape(
        `the sequences have ${channels} channels and the reservoir takes ${inputSize} (inputSize); leave inputSize out`,
      );
    }
    const pairs = settings.representation === "statistics" && settings.differences;
    const seeds = memberSeeds(settings, reservoir).map((seed) => (pairs ? [seed, `${seed}/differences`] : [seed]));
    this.#members = await openAll(seeds, (seed) => ReservoirComputer.create({ ...reservoir, inputSize, seed }, selection));
    return this.#members;
  }

  async #memberShares(sequences: ClassifierCases, work: WorkOptions) {
    resolve(workTable, work);
    const { classes, scale, differences, readouts, levels, factors, stepMs } = this.#fitted();
    const encoded = encodedCases(sequences, this.#options.reservoir);
    using rows = encoded && (await rowsFor(encoded, this.#members[0]![0], this.settings));
    const checked = checkedSequences(rows?.sequences ?? plainCases(sequences), this.settings, scale.mean.length);
    const given = stepOf(checked);
    if (stepMs !== undefined && given !== undefined && given !== stepMs)
      throw ArgumentError.shape(
        `sequences have rows of ${given} ms and the classifier was trained on rows of ${stepMs} ms; take the same step length`,
      );
    using scaled = await scaledInputs(this.#members[0]![0], checked, scale, this.settings.standardise);
    using made = await prepareDriving(this.#members[0]!, checked, scaled, this.settings, differences);
    const shared: SharesOn[] = [];
    for (const [m, readout] of readouts.entries()) {
      const member = { computers: this.#members[m]!, levels: levels[m], factor: factors[m] };
      shared.push(await classify(member, readout, made.driving, this.settings, partOf(work, m, readouts.length)));
    }
    this.#predictedOn = shared.map(({ computedOn }) => computedOn);
    return { classes, shares: shared.map(({ shares }) => shares) };
  }
}

/** Summed over the members in rising order, then divided. */
function meanOf(shares: readonly Matrix<Float64Array>[]): Matrix<Float64Array> {
  const first = shares[0]!;
  const out = Matrix.zeros(first.rows, first.cols);
  for (const member of shares) for (let i = 0; i < out.data.length; i++) out.data[i] = out.data[i]! + member.data[i]!;
  for (let i = 0; i < out.data.length; i++) out.data[i] = out.data[i]! / shares.length;
  return out;
}
