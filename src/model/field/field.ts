// FieldForecaster: reservoirs side by side along a ring, each with its own sites and those next to
// them. How it is kept stands in field-file.ts.
import { ArgumentError } from "../../core/errors.js";
import { resolve } from "../../core/options.js";
import { writeFileAtomic } from "../../io/atomic.js";
import { readBytes } from "../../io/files.js";
import { allocate, type FloatArray, firstNonFinite, Matrix, type MatrixLike } from "../../numerics/index.js";
import { type RidgeTrainer, ridge, type TrainedReadout } from "../../readout/index.js";
import {
  evaluateReadout,
  NonFiniteStateError,
  ReservoirComputer,
  type ReservoirModel,
  type ReservoirOptions,
  type SessionState,
  type WorkOptions,
  writeFeatures,
} from "../../reservoir/index.js";
import { checkWhole } from "../../reservoir/inputs.js";
import { Turns, WorkPacer, workTable } from "../../reservoir/work.js";
import { forecasterReservoir, forecasterTrainer } from "../defaults.js";
import { NotFittedError } from "../errors.js";
import { checkedSeries } from "../forecaster/data.js";
import { inScores, type Range, rangeOf } from "../forecaster/road.js";
import { decodeModelFile, type LoadOptions, loadTable } from "../model-file.js";
import { fitStandardisation, noStandardisation, restored, type Standardisation, standardised } from "../standardisation.js";
import { checkTableNames } from "../table-names.js";
import { decodeField, encodeField } from "./file.js";
import {
  type FieldForecastOptions,
  type FieldOptions,
  type FieldSettings,
  fieldForecastTable,
  fieldOptionsTable,
  sitesOf,
} from "./options.js";

/** What training gives: a readout a group, or one for all. */
export interface FieldFit {
  readonly sites: number;
  readonly scale: Standardisation;
  /** In z-scores. */
  readonly held: Range;
  readonly readouts: readonly TrainedReadout[];
}

interface Open {
  readonly description: ReservoirOptions;
  readonly engine: string | undefined;
  readonly threads: number | undefined;
}

/**
 * Local reservoirs: a field of Q sites on a ring, cut into g groups of q = Q / g. Group i is driven
 * by its sites and l on each side and predicts its own:
 *
 *     x_i' = (1 - a) x_i + a f(W x_i + W_in u[i q - l .. i q + q + l) + b),  y_i = W_out x_i + c
 *
 * (Pathak, Hunt, Girvan, Lu and Ott 2018, "Model-free prediction of large spatiotemporally chaotic
 * systems from data", Phys. Rev. Lett. 120, 024102). In a closed loop groups see the forecasts of
 * their neighbours. With shared weights a field that is turned by a group has the turned forecast,
 * bit for bit; one group without a halo is a plain reservoir.
 *
 * `forecast` puts the state back. Calls that are made while another is running wait for it.
 *
 * @example
 * const field = kuramotoSivashinsky(8000, { N: 256, L: 100, discard: 400 });
 * await using model = await FieldForecaster.fit(field, { groups: 32, halo: 6, reservoir: { size: 1000 } });
 * const next = await model.forecast(300);
 */
export class FieldForecaster implements AsyncDisposable {
  readonly settings: FieldSettings;
  readonly #open: Open;
  #computers: readonly ReservoirComputer[] = [];
  #fit: FieldFit | undefined;
  readonly #turns = new Turns();

  private constructor(settings: FieldSettings, open: Open) {
    this.settings = settings;
    this.#open = open;
  }

  /** Checks the options. @throws ArgumentError */
  static async create(options: FieldOptions): Promise<FieldForecaster> {
    const { reservoir, engine, threads, ...settings } = resolve(fieldOptionsTable, options);
    const description = forecasterReservoir(reservoir) as ReservoirOptions;
    if (description.feedback)
      throw ArgumentError.because("reservoir.feedback is set; groups of a field see each other's forecasts as inputs: leave it out", {
        field: "reservoir.feedback",
      });
    trainerOf(settings);
    return new FieldForecaster(settings, { description, engine, threads });
  }

  /** Makes a forecaster and trains it. */
  static async fit(field: MatrixLike, options: FieldOptions & WorkOptions): Promise<FieldForecaster> {
    const { signal, onProgress, ...rest } = options ?? {};
    const forecaster = await FieldForecaster.create(rest);
    try {
      return await forecaster.fit(field, { signal, onProgress });
    } catch (error) {
      await forecaster.dispose();
      throw error;
    }
  }

  /**
   * Trains on a field, T x Q. @throws ArgumentError if groups, halo or washout do not fit, and what
   * ridge throws
   */
  async fit(field: MatrixLike, work: WorkOptions = {}): Promise<this> {
    return this.#turns.take(async () => {
      resolve(workTable, work);
      const series = checkedSeries(field, "field");
      const { settings } = this;
      checkTableNames(settings.table, { columns: series.cols, known: 0, inputs: 0 });
      const { groups, halo, shared, washout } = settings;
      const own = sitesOf(settings, series.cols);
      if (series.rows - 1 <= washout)
        throw ArgumentError.shape(
          `washout is ${washout} and the field gives ${series.rows - 1} rows to train on; set a washout below that`,
          {
            field: "washout",
            value: washout,
          },
        );
      const computers = await this.#makeComputers(own + 2 * halo);
      const scale = fieldScale(series, settings);
      const held = fieldRange(series, settings);
      const u = standardised(scale, series);
      const trainer = trainerOf(settings);
      const shape = { stateSize: computers[0]!.model.size, inputSize: own + 2 * halo, outputSize: own };
      const sinks = Array.from({ length: shared ? 1 : groups }, () => trainer.accumulator(shape));
      const pacer = new WorkPacer(work, groups);
      try {
        for (const [g, computer] of computers.entries()) {
          const inputs = columnsAround(u, g * own - halo, own + 2 * halo);
          const targets = columnsAround(u, g * own, own);
          computer.reset();
          const sink = sinks[shared ? 0 : g]!;
          await computer.train(inputs.subarray(0, -1), targets.subarray(1), sink, { washout, signal: work.signal });
          await computer.run(inputs.subarray(-1));
          await pacer.pause(g + 1);
        }
        const readouts = sinks.map((sink) => trainer.solve(sink));
        this.#fit = { sites: series.cols, scale, held: inScores(held, scale), readouts };
      } finally {
        for (const sink of sinks) sink.dispose();
      }
      pacer.finish();
      return this;
    });
  }

  /** One reservoir a group, the same ones if weights are shared. @throws NotFittedError */
  get computers(): readonly ReservoirComputer[] {
    this.#fitted();
    return this.#computers;
  }

  /** Q, the sites of its field. @throws NotFittedError */
  get sites(): number {
    return this.#fitted().sites;
  }

  /** One readout, or one a group. @throws NotFittedError */
  get readouts(): readonly TrainedReadout[] {
    return this.#fitted().readouts;
  }

  /**
   * Closed loop: `steps` rows of the whole field (steps x Q, binary64). Row 0 follows the last row
   * that was seen. The state is put back afterwards.
   * @throws ArgumentError, NotFittedError, NonFiniteStateError
   */
  async forecast(steps: number, options: FieldForecastOptions = {}): Promise<Matrix<Float64Array>> {
    return this.#turns.take(async () => {
      const { warmup, ...work } = resolve(fieldForecastTable, options);
      checkWhole("steps", steps, 1);
      const { scale } = this.#fitted();
      const states = this.#computers.map((computer) => computer.state);
      try {
        if (warmup !== undefined) await this.#warmUp(checkedSeries(warmup, "warmup"), work.signal);
        return restored(scale, await this.#loop(steps, work));
      } finally {
        this.#computers.forEach((computer, g) => {
          computer.state = states[g]!;
        });
      }
    });
  }

  /**
   * The model as the bytes of one safetensors file: reservoirs, readouts, settings and states.
   * @throws NotFittedError
   */
  async toBytes(): Promise<Uint8Array> {
    return this.#turns.take(async () => {
      const fit = this.#fitted();
      const models = this.settings.shared ? this.#computers.slice(0, 1) : this.#computers;
      return encodeField(
        this.settings,
        fit,
        models.map(({ model }) => model),
        this.#computers.map(({ state }) => state),
      );
    });
  }

  /** Writes `toBytes()` to a file, whole or not at all (Node). @throws FileError, NotFittedError */
  async save(path: string): Promise<void> {
    await writeFileAtomic(path, await this.toBytes());
  }

  /** Opens what `toBytes` gave. @throws FileError with the reason if it cannot be used */
  static async fromBytes(bytes: Uint8Array, options: LoadOptions = {}): Promise<FieldForecaster> {
    const { source, engine, threads } = resolve(loadTable, options);
    const { settings, fit, models, states } = await decodeField(await decodeModelFile(bytes, source, "field"), source);
    const forecaster = new FieldForecaster(settings, { description: models[0]!.config, engine, threads });
    forecaster.#computers = await opened(settings, models, { engine, threads });
    forecaster.#restore(states);
    forecaster.#fit = fit;
    return forecaster;
  }

  /**
   * Opens a file that `save` wrote (Node). @throws FileError with the reason if it cannot be used
   */
  static async load(path: string, options: Omit<LoadOptions, "source"> = {}): Promise<FieldForecaster> {
    resolve(loadTable, options);
    return FieldForecaster.fromBytes(await readBytes(path), { ...options, source: path });
  }

  /** Gives memory and threads back. Idempotent. */
  async dispose(): Promise<void> {
    await Promise.all(this.#computers.map((computer) => computer.dispose()));
  }

  /** Lets `await using` dispose of it. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  #fitted(): FieldFit {
    if (!this.#fit) throw new NotFittedError("forecaster");
    return this.#fit;
  }

  #restore(states: readonly SessionState[]): void {
    this.#computers.forEach((computer, g) => {
      computer.state = states[g]!;
    });
  }

  async #makeComputers(inputSize: number): Promise<readonly ReservoirComputer[]> {
    const { description, engine, threads } = this.#open;
    if (this.#computers[0]?.model.inputSize === inputSize) return this.#computers;
    await this.dispose();
    this.#fit = undefined;
    if (description.inputSize !== undefined && description.inputSize !== inputSize)
      throw ArgumentError.shape(
        `a group sees ${inputSize} sites and the reservoir takes ${description.inputSize} (inputSize); leave it out`,
      );
    const { groups, shared } = this.settings;
    const made: ReservoirComputer[] = [];
    for (let g = 0; g < (shared ? 1 : groups); g++) {
      // Group 0 is the reservoir that the description says.
      const seed = g === 0 ? description.seed : `${description.seed ?? 0} group ${g}`;
      made.push(await ReservoirComputer.create({ ...description, seed, inputSize }, { engine, threads }));
    }
    this.#computers = made;
    if (shared) {
      const { model } = made[0]!;
      while (made.length < groups) made.push(await ReservoirComputer.fromModel(model, { engine, threads }));
    }
    return made;
  }

  async #warmUp(rows: Matrix, signal: AbortSignal | undefined): Promise<void> {
    const { sites, scale } = this.#fitted();
    if (rows.cols !== sites)
      throw ArgumentError.shape(`warmup has ${rows.cols} sites; this forecaster takes ${sites}`, { field: "warmup" });
    const { groups, halo } = this.settings;
    const u = standardised(scale, rows);
    const own = sites / groups;
    for (const [g, computer] of this.#computers.entries()) {
      computer.reset();
      await computer.run(columnsAround(u, g * own - halo, own + 2 * halo), { every: rows.rows, signal });
    }
  }

  async #loop(steps: number, work: WorkOptions): Promise<Matrix> {
    const { sites, held, readouts } = this.#fitted();
    const { groups, halo, hold, shared } = this.settings;
    const computers = this.#computers;
    const { precision } = computers[0]!.model;
    const own = sites / groups;
    const out = new Matrix(steps, sites, allocate(precision, steps * sites));
    const features = new Float64Array(readouts[0]!.weights.cols);
    const seen = computers.map(({ state }) => ({ values: state.values, input: state.input }));
    const pacer = new WorkPacer(work, steps);
    for (let t = 0; t < steps; t++) {
      const row = out.row(t);
      for (let g = 0; g < groups; g++) {
        const readout = readouts[shared ? 0 : g]!;
        writeFeatures(readout.features, seen[g]!.values, seen[g]!.input, features);
        evaluateReadout(readout, features, row.subarray(g * own, (g + 1) * own));
      }
      const bad = firstNonFinite(row);
      if (bad >= 0) throw new NonFiniteStateError(computers[0]!.state.step, -1);
      if (hold) for (let c = 0; c < sites; c++) row[c] = Math.min(held.upper[c]!, Math.max(held.lower[c]!, row[c]!));
      for (const [g, computer] of computers.entries()) {
        writeAround(row, g * own - halo, seen[g]!.input);
        seen[g]!.values = computer.step(seen[g]!.input);
      }
      if (pacer.due()) await pacer.pause(t + 1);
    }
    pacer.finish();
    return out;
  }
}

/** One computer a model, or one a group of the one that is shared. */
async function opened(
  { groups, shared }: FieldSettings,
  models: readonly ReservoirModel[],
  open: { readonly engine?: string | undefined; readonly threads?: number | undefined },
): Promise<readonly ReservoirComputer[]> {
  const computers: ReservoirComputer[] = [];
  for (let g = 0; g < groups; g++) computers.push(await ReservoirComputer.fromModel(models[shared ? 0 : g]!, open));
  return computers;
}

/** The trainer of a group's readout. @throws ArgumentError for one that keeps every row */
function trainerOf({ readout }: FieldSettings): RidgeTrainer {
  const trainer = ridge(forecasterTrainer(readout).description as object);
  if (!trainer.stream({ stateSize: 1, inputSize: 0, outputSize: 1 }))
    throw ArgumentError.because("readout keeps every row; a field takes solver cholesky or qr, and selection gcv", { field: "readout" });
  return trainer;
}

/** `out.length` values of a ring from site `from` on. */
function writeAround(row: FloatArray, from: number, out: FloatArray): void {
  for (let i = 0; i < out.length; i++) out[i] = row[(from + i + row.length) % row.length]!;
}

/** `count` columns of a ring from site `from` on. */
function columnsAround(field: Matrix<Float64Array>, from: number, count: number): Matrix<Float64Array> {
  const out = Matrix.zeros(field.rows, count);
  for (let t = 0; t < field.rows; t++) writeAround(field.row(t), from, out.row(t));
  return out;
}

/** What all sites have in common if weights are shared: the field as one column. */
const alike = (field: Matrix, shared: boolean): Matrix => (shared ? new Matrix(field.data.length, 1, field.data) : field);

const spread = (values: Float64Array, sites: number): Float64Array =>
  Float64Array.from({ length: sites }, (_, c) => values[c % values.length]!);

function fieldScale(field: Matrix, { shared, standardise }: FieldSettings): Standardisation {
  if (!standardise) return noStandardisation(field.cols);
  const { mean, deviation } = fitStandardisation([alike(field, shared)]);
  return { mean: spread(mean, field.cols), deviation: spread(deviation, field.cols) };
}

function fieldRange(field: Matrix, { shared }: FieldSettings): Range {
  const { lower, upper } = rangeOf([alike(field, shared)]);
  return { lower: spread(lower, field.cols), upper: spread(upper, field.cols) };
}
