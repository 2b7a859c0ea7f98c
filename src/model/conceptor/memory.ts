// ConceptorMemory: several patterns in one reservoir, each recalled under its conceptor.

import { checkWhole } from "@spillway/core/checks.js";
import { DisposedByAwaitUsing, disposeAllAsync, orDispose } from "@spillway/core/disposal.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { resolve } from "@spillway/core/options.js";
import { firstNonFinite, Matrix, type MatrixLike, RandomStream, seedKeys, toDense } from "@spillway/numerics";
import { isSparse } from "@spillway/numerics/matrix.js";
import { ridge, type TrainedReadout } from "../../readout/index.js";
import {
  NonFiniteStateError,
  ReservoirComputer,
  type ReservoirModel,
  type ReservoirOptions,
  type WorkOptions,
} from "../../reservoir/index.js";
import { Turns, WorkPacer, workTable } from "../../reservoir/work.js";
import { checkedSeries } from "../forecaster/data.js";
import { fitStandardisation, noStandardisation, restored, type Standardisation, standardised } from "../standardisation.js";
import { Conceptor } from "./conceptor.js";
import { type ConceptorMemoryOptions, conceptorMemoryTable, type RecallOptions, recallTable } from "./options.js";
import { product } from "./products.js";

/** What a memory is made of. */
interface Parts {
  readonly driven: ReservoirComputer;
  readonly loaded: ReservoirComputer;
  readonly conceptors: readonly Conceptor[];
  /** Of each pattern, the state after its last row. */
  readonly ends: readonly Float64Array[];
  readonly readout: TrainedReadout;
  readonly scale: Standardisation;
}

/**
 * Patterns in one reservoir (Jaeger 2014, arXiv 1403.3369, sections 3.3 to 3.5). Pattern p_j drives
 * the reservoir as it was drawn, x(t+1) = (1 - a) x(t) + a f(W* x(t) + W_in p_j(t+1) + b); its
 * states give the conceptor C_j. Then W is trained by ridge regression over all patterns to do
 * without the input, W x(t) near W* x(t) + W_in p_j(t+1), and a readout to say p_j(t) from x(t).
 * Pattern j is recalled by
 *
 *     x(t+1) = C_j ((1 - a) x(t) + a f(W x(t) + b)),  y(t) = W_out x(t) + c.
 *
 * Without the conceptor the loaded reservoir falls into any of its patterns, or between them.
 * Combined conceptors recall what has something of several patterns, or of none.
 *
 * It has no state: the same `recall` gives the same bits. Calls that are made while another is
 * running wait for it.
 *
 * @example
 * await using memory = await ConceptorMemory.store([sine, sawtooth]);
 * const again = await memory.recall(1, 200); // the sawtooth, from where it ended
 * const other = await memory.recall(memory.conceptors[0].or(memory.conceptors[1]), 200);
 */
export class ConceptorMemory extends DisposedByAwaitUsing {
  readonly #parts: Parts;
  readonly #turns = new Turns();

  private constructor(parts: Parts) {
    super();
    this.#parts = parts;
  }

  /**
   * Stores patterns, each T x D with its own T. @throws ArgumentError for patterns that are too
   * short, not of the same columns or not finite, and what the reservoir and ridge throw
   */
  static async store(patterns: readonly MatrixLike[], options: ConceptorMemoryOptions & WorkOptions = {}): Promise<ConceptorMemory> {
    const { signal, onProgress, ...rest } = options ?? {};
    const work = resolve(workTable, { signal, onProgress });
    const { reservoir, engine, context, plan, threads, ...settings } = resolve(conceptorMemoryTable, rest);
    const selection = { engine, context, plan, threads };
    const series = checkedPatterns(patterns, settings.washout);
    const apertures = typeof settings.aperture === "number" ? series.map(() => settings.aperture as number) : settings.aperture;
    if (apertures.length !== series.length)
      throw ArgumentError.shape(`aperture has ${apertures.length} values for ${series.length} patterns; it takes one a pattern`, {
        field: "aperture",
      });
    const scale = settings.standardise ? fitStandardisation(series) : noStandardisation(series[0]!.cols);
    const scores = series.map((one) => standardised(scale, one));
    const driven = await ReservoirComputer.create(described(reservoir, series[0]!.cols), selection);
    const opened = [driven];
    const load = async () => {
      const states = await statesOf(driven, scores, work);
      const { washout } = settings;
      const taught = states.map((rows) => rows.subarray(washout));
      const targets = scores.map((rows) => rows.subarray(washout));
      const readout = ridge({ lambda: settings.readoutLambda }).fit(taught, targets);
      const weights = loadedWeights(driven.model, taught, scores, settings);
      const model = { ...driven.model, weights, inputWeights: Matrix.zeros(driven.model.size, 0, driven.model.precision), inputSize: 0 };
      const loaded = await ReservoirComputer.fromModel({ ...model, config: { ...model.config, inputSize: 0 } }, selection);
      opened.push(loaded);
      const conceptors = taught.map((rows, j) => Conceptor.fromStates(rows, { aperture: apertures[j] }));
      const ends = states.map((rows) => Float64Array.from(rows.row(rows.rows - 1)));
      return new ConceptorMemory({ driven, loaded, conceptors, ends, readout: readout as TrainedReadout, scale });
    };
    return orDispose(() => opened, load);
  }

  /** One a pattern, in their order. */
  get conceptors(): readonly Conceptor[] {
    return this.#parts.conceptors;
  }

  /** From a state to the z-scores of a row. */
  get readout(): TrainedReadout {
    return this.#parts.readout;
  }

  /** The reservoir that does without its input. */
  get computer(): ReservoirComputer {
    return this.#parts.loaded;
  }

  /**
   * Rows of a pattern (steps x D, binary64), or what a conceptor of your own makes of the
   * reservoir. A pattern goes on from its last row that was stored, or from a cue. A random start
   * (`seed`, and any start of a conceptor without a cue) finds it in some phase; now and then it
   * finds another pattern that the reservoir happens to hold, most often the stored one times -1.
   * @throws ArgumentError for a pattern that is not there, or a conceptor or cue of another size;
   * NonFiniteStateError, WorkInterruptedError
   */
  async recall(pattern: number | Conceptor, steps: number, options: RecallOptions = {}): Promise<Matrix<Float64Array>> {
    return this.#turns.take(async () => {
      const { cue, seed, settle: asked, ...work } = resolve(recallTable, options);
      checkWhole("steps", steps, 1);
      const conceptor = this.#conceptor(pattern);
      const end = typeof pattern === "number" && seed === undefined ? this.#parts.ends[pattern] : undefined;
      const settle = asked ?? (cue === undefined && !end ? 100 : 0);
      const { loaded, readout, scale } = this.#parts;
      const pacer = new WorkPacer(work, settle + steps);
      let values = cue === undefined ? (end ?? this.#random(seed ?? "recall")) : await this.#cued(cue, work);
      loaded.reset();
      const states = Matrix.zeros(steps, loaded.model.size);
      for (let t = 0; t < settle + steps; t++) {
        loaded.state = { ...loaded.state, values };
        values = conceptor.apply(loaded.step([]));
        const bad = firstNonFinite(values);
        if (bad >= 0) throw new NonFiniteStateError(t + 1, bad);
        if (t >= settle) states.row(t - settle).set(values);
        if (pacer.due()) await pacer.pause(t + 1);
      }
      pacer.finish();
      return restored(scale, readout.predict(states));
    });
  }

  /** Gives memory and threads back. Idempotent. */
  async dispose(): Promise<void> {
    await disposeAllAsync([this.#parts.driven, this.#parts.loaded]);
  }

  #conceptor(pattern: number | Conceptor): Conceptor {
    const { conceptors } = this.#parts;
    if (pattern instanceof Conceptor) {
      const { size } = conceptors[0]!;
      if (pattern.size !== size)
        throw ArgumentError.shape(`pattern is a conceptor of ${pattern.size} neurons; the reservoir has ${size}`, { field: "pattern" });
      return pattern;
    }
    const found = conceptors[pattern];
    if (!found) throw new ArgumentError("pattern", pattern, `a whole number from 0 to ${conceptors.length - 1}, or a Conceptor`);
    return found;
  }

  /** The state after a cue. */
  async #cued(cue: MatrixLike, { signal }: WorkOptions): Promise<Float64Array> {
    const { driven, scale } = this.#parts;
    const rows = checkedSeries(cue, "cue");
    if (rows.cols !== driven.model.inputSize)
      throw ArgumentError.shape(`cue has ${rows.cols} columns; the patterns have ${driven.model.inputSize}`, { field: "cue" });
    driven.reset();
    const states = await driven.run(standardised(scale, rows), { every: rows.rows, signal });
    return Float64Array.from(states.row(0));
  }

  /** Uniform in [-1, 1). */
  #random(seed: string | number): Float64Array {
    const draws = new RandomStream(seedKeys(seed).weights, 0);
    return Float64Array.from({ length: this.#parts.driven.model.size }, (_, i) => 2 * draws.uniform(0, i) - 1);
  }
}

/** That of section 4.1. */
const paperReservoir = {
  size: 100,
  spectralRadius: 1.5,
  weightDistribution: "normal",
  inputScaling: 1.5,
  inputDistribution: "normal",
  bias: 0.2,
  biasDistribution: "normal",
  leakRate: 1,
  precision: "float64",
} as const;

function described(reservoir: Partial<ReservoirOptions>, inputSize: number): ReservoirOptions {
  const options = { ...paperReservoir, inputSize, ...reservoir };
  if (options.inputSize !== inputSize)
    throw ArgumentError.shape(
      `the patterns have ${inputSize} columns and the reservoir takes ${options.inputSize} (inputSize); leave it out`,
    );
  if (options.feedback)
    throw ArgumentError.because("reservoir.feedback is set; a loaded reservoir feeds itself: leave it out", {
      field: "reservoir.feedback",
    });
  if (options.arithmetic === "integer")
    throw new ArgumentError("reservoir.arithmetic", "integer", '"portable" or "fast": a conceptor\'s states are no whole numbers of steps');
  return options as ReservoirOptions;
}

function checkedPatterns(patterns: readonly MatrixLike[], washout: number): readonly Matrix[] {
  if (!Array.isArray(patterns) || patterns.length === 0) throw new ArgumentError("patterns", patterns, "a list of at least one pattern");
  return patterns.map((pattern, j) => {
    const rows = checkedSeries(pattern as MatrixLike, `patterns[${j}]`);
    const { cols } = checkedSeries(patterns[0] as MatrixLike, "patterns[0]");
    if (rows.cols !== cols)
      throw ArgumentError.shape(`patterns[${j}] has ${rows.cols} columns and patterns[0] has ${cols}; they take the same`, {
        field: "patterns",
      });
    if (rows.rows < washout + 2)
      throw ArgumentError.shape(`patterns[${j}] has ${rows.rows} rows; with a washout of ${washout} it takes at least ${washout + 2}`, {
        field: "patterns",
      });
    return rows;
  });
}

/** The states of each pattern, from the initial state. */
async function statesOf(computer: ReservoirComputer, patterns: readonly Matrix[], { signal, onProgress }: WorkOptions): Promise<Matrix[]> {
  const states: Matrix[] = [];
  for (const [j, rows] of patterns.entries()) {
    computer.reset();
    states.push(await computer.run(rows, { signal }));
    onProgress?.(j + 1, patterns.length);
  }
  return states;
}

/**
 * W* S + W_in P, or W* + W_in P, with ridge regressions S of x(t) and P of p(t+1) on x(t): what the
 * drive W* x + W_in p has in common with the states is linear in both.
 */
function loadedWeights(
  { weights, inputWeights, size, precision }: ReservoirModel,
  states: readonly Matrix[],
  patterns: readonly Matrix[],
  {
    loading,
    loadingLambda,
    washout,
  }: { readonly loading: "reservoir" | "input"; readonly loadingLambda: number; readonly washout: number },
): Matrix {
  const before = states.map((rows) => rows.subarray(0, -1));
  const next = patterns.map((rows) => rows.subarray(washout + 1));
  const trainer = ridge({ lambda: loadingLambda, intercept: false });
  const said = trainer.fit(before, next).weights;
  const own = Matrix.from(isSparse(weights) ? toDense(weights) : weights, "float64");
  const kept = loading === "input" ? own : product(own, Matrix.from(trainer.fit(before, before).weights, "float64"));
  const fromInput = product(Matrix.from(inputWeights, "float64"), Matrix.from(said, "float64"));
  const sum = kept.data.map((value, i) => value + fromInput.data[i]!);
  return Matrix.from(new Matrix(size, size, sum), precision);
}
