// Reservoirs that a search proposes, over the same rows: each its own description, seed and
// penalties, trained and asked together if an engine can. What a seed draws is kept for the next
// ones.
import { ArgumentError } from "@spillway/core/errors.js";
import { isSparse, Matrix, type Seed } from "@spillway/numerics";
import { isOwnActivation } from "../../reservoir/activations.js";
import type { ReservoirConfig, ReservoirOptions } from "../../reservoir/config.js";
import type { Engine, SweepMember } from "../../reservoir/engine.js";
import type { FeatureSpec } from "../../reservoir/features.js";
import { series } from "../../reservoir/inputs.js";
import { type Base, leakRatesOf, memberOf } from "../../reservoir/swept.js";
import { expectedNonzeros } from "../../reservoir/topologies/index.js";
import type { Transform } from "../../series/transform-kinds.js";
import { restoredForecast, rowsLost } from "../../series/transforms.js";
import { forecasterReservoir } from "../defaults.js";
import { fitPreprocessing, inScores, preprocessed, withTransforms } from "../forecaster/preprocessing.js";
import { restored, restoreInto, standardised } from "../standardisation.js";
import { BaseDrawing } from "./bases.js";

/** A reservoir and the penalties of its readouts. */
export interface SweepCandidate {
  /**
   * As a Forecaster takes it: what is left out has the Forecaster's defaults. It is read once for
   * all candidates that share the object.
   */
  readonly reservoir: ReservoirOptions;
  readonly seed: Seed;
  readonly lambdas: readonly number[];
}

/** Rows that train and, right after them, rows to predict; all in the units of the data. */
export interface CandidateRows {
  readonly train: { readonly inputs: Matrix; readonly targets: Matrix };
  readonly test: { readonly inputs: Matrix };
  readonly washout: number;
  readonly standardise: boolean;
  readonly features: FeatureSpec;
  /** Whether readouts have an intercept. */
  readonly constant: boolean;
}

/** A series whose first rows train, and places in it from which it is to go on by itself. */
export interface CandidateSeries {
  /** T x D, as it was measured. */
  readonly series: Matrix;
  readonly transforms: readonly Transform[];
  /** Rows that train, and the first rows of forecasts, counted after those that transforms lose. */
  readonly trainRows: number;
  readonly starts: readonly number[];
  /** Rows before each start over which the reservoir comes from its initial state. */
  readonly warmup: number;
  readonly horizon: number;
  readonly washout: number;
  readonly standardise: boolean;
  readonly features: FeatureSpec;
  readonly constant: boolean;
}

/** Takes a candidate's forecasts by one of its penalties, one a start; undefined as below. */
export type TakeForecasts = (candidate: number, penalty: number, forecasts: readonly Matrix<Float64Array>[] | undefined) => void;

/**
 * Takes what a candidate predicts by one of its penalties, T x O, in memory that the next one is
 * written to; undefined if a state is not finite or the penalty is too small.
 */
export type TakePrediction = (candidate: number, penalty: number, prediction: Matrix<Float64Array> | undefined) => void;

/** Bytes of W of the bases that are kept, near enough, with what a device makes of them. */
const keptBytes = 2 ** 29;

/** Trains and predicts candidates on an engine that has sweeps. */
export class CandidateSweep {
  readonly #engine: Engine;
  /** By what is drawn but for the seed, and by the seed. */
  readonly #bases = new Map<string, Map<Seed, Base>>();

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /**
   * What `Forecaster.fit` and `predict` give for each candidate and penalty, to the bit. Those of
   * one shape run side by side.
   * @returns the places of candidates that the engine does not take
   * @throws ArgumentError for rows that a Forecaster refuses
   */
  predict(
    candidates: readonly SweepCandidate[],
    { train, test, washout, standardise, features, constant }: CandidateRows,
    take: TakePrediction,
    signal: AbortSignal,
  ): Promise<readonly number[]> {
    const preprocessing = fitPreprocessing([train], { transforms: [], standardise, hold: false }, false);
    const trained = preprocessed(preprocessing, train, { hybrid: undefined, feedback: false });
    const following = standardised(preprocessing.inputScale, test.inputs);
    const outputs = trained.targets.cols;
    const all = stacked(trained.inputs, following);
    // Rows to predict have no targets, and take none.
    const targets = stacked(trained.targets, Matrix.zeros(following.rows, outputs));
    const prediction = Matrix.zeros(following.rows, outputs);
    return this.#inGroups(candidates, train.inputs.cols, signal, ({ bases, members, slots }, { inputSize, precision }) =>
      this.#engine.device?.sweep({
        ...{ bases, members, washout, features, constant, signal, targets, trainRows: trained.inputs.rows },
        inputs: series(all, "inputs", inputSize, "inputSize", precision),
        take: (m, values) => {
          const { place, penalty } = slots[m]!;
          if (values) restoreInto(prediction.data, preprocessing.targetScale, values);
          take(place, penalty, values && prediction);
        },
      }),
    );
  }

  /**
   * What `Forecaster.fit` and `forecast` give for each candidate and penalty, to the bit: all rows
   * NaN of a forecast that leaves the finite numbers. Returns and throws as `predict` does.
   */
  forecast(
    candidates: readonly SweepCandidate[],
    { series: measured, transforms, trainRows, starts, warmup, horizon, washout, standardise, features, constant }: CandidateSeries,
    take: TakeForecasts,
    signal: AbortSignal,
  ): Promise<readonly number[]> {
    const lost = rowsLost(transforms);
    const preprocessing = fitPreprocessing(
      [{ series: measured.subarray(0, lost + trainRows) }],
      { transforms, standardise, hold: true },
      false,
    );
    const scale = preprocessing.targetScale;
    const scores = standardised(scale, withTransforms(preprocessing.transforms, { series: measured }).series);
    const held = inScores(preprocessing.held!, scale);
    const ends = (of: "lower" | "upper") =>
      new Matrix(starts.length, scores.cols, Float64Array.from(starts.flatMap(() => Array.from(held[of]))));
    const range = { lower: ends("lower"), upper: ends("upper") };
    const forecastOf = (values: Float64Array, start: number): Matrix<Float64Array> => {
      if (!values.every(Number.isFinite)) return new Matrix(horizon, scores.cols, values.slice().fill(Number.NaN));
      const made = restored(scale, new Matrix(horizon, scores.cols, values));
      return lost > 0 || transforms.length > 0
        ? restoredForecast(made, measured.subarray(0, lost + start), preprocessing.transforms)
        : made;
    };
    return this.#inGroups(candidates, scores.cols, signal, ({ bases, members, slots }, { inputSize, precision }) => {
      const rows = series(scores, "series", inputSize, "inputSize", precision);
      return this.#engine.device?.sweepForecasts({
        ...{ bases, members, washout, features, constant, signal, horizon, refit: false },
        series: [{ rows, targets: scores, starts, ...range, apart: { trainRows, warmup } }],
        take: (_, m, values) => {
          const { place, penalty } = slots[m]!;
          const length = horizon * scores.cols;
          const isTrained = !values.every(Number.isNaN);
          const made = starts.map((start, k) => forecastOf(values.subarray(k * length, (k + 1) * length), start));
          take(place, penalty, isTrained ? made : undefined);
        },
      });
    });
  }

  /** Runs candidates of one shape together; those that `run` gives nothing for are left. */
  async #inGroups(
    candidates: readonly SweepCandidate[],
    inputSize: number,
    signal: AbortSignal,
    run: (members: GroupMembers, config: ReservoirConfig) => Promise<unknown> | undefined,
  ): Promise<readonly number[]> {
    const all = await describedCandidates(candidates, inputSize);
    const places = Array.from(all.keys()).filter((place) => all[place]);
    const left = Array.from(all.keys()).filter((place) => !all[place]);
    await this.#draw(candidates, all, signal);
    const groups = new Map<string, GroupedCandidate[]>();
    for (const place of places) {
      const { config, draws } = all[place]!;
      const base = this.#bases.get(draws)!.get(candidates[place]!.seed)!;
      const key = shapeOf(base);
      const group = groups.get(key) ?? [];
      groups.set(key, group);
      group.push({ place, base, config });
    }
    this.#forget();
    for (const group of groups.values()) {
      const running = run(membersOfGroup(group, candidates), group[0]!.config);
      if (running) await running;
      else left.push(...group.map(({ place }) => place));
    }
    return left;
  }

  /** Draws the bases that are not known. */
  async #draw(candidates: readonly SweepCandidate[], all: readonly (DescribedCandidate | undefined)[], signal: AbortSignal): Promise<void> {
    const wanted = new Map<string, Map<Seed, ReservoirConfig>>();
    for (const [place, described] of all.entries()) {
      if (!described) continue;
      const { config, draws } = described;
      const { seed } = candidates[place]!;
      if (this.#bases.get(draws)?.has(seed)) continue;
      const ofDraws = wanted.get(draws) ?? new Map<Seed, ReservoirConfig>();
      wanted.set(draws, ofDraws);
      // A radius is measured if any candidate takes it.
      if (ofDraws.get(seed)?.spectralRadius == null) ofDraws.set(seed, { ...config, seed });
    }
    const fresh = [...wanted].flatMap(([draws, configs]) => [...configs.values()].map((config) => ({ draws, config })));
    if (fresh.length === 0) return;
    const drawing = new BaseDrawing(
      fresh.map(({ config }) => config),
      this.#engine,
      { signal },
      () => 0,
      fresh.length,
    );
    try {
      const drawn = await drawing.draw({ from: 0, to: fresh.length });
      for (const [i, { draws, config }] of fresh.entries()) {
        const ofDraws = this.#bases.get(draws) ?? new Map<Seed, Base>();
        this.#bases.set(draws, ofDraws);
        ofDraws.set(config.seed, drawn[i]!);
      }
    } finally {
      await drawing.dispose();
    }
  }

  /** Lets go of the oldest bases that memory has no room for. */
  #forget(): void {
    const bytes = ({ model: { size, config } }: Base) => 40 * (expectedNonzeros(config) + size);
    let kept = 0;
    for (const ofDraws of this.#bases.values()) for (const base of ofDraws.values()) kept += bytes(base);
    for (const ofDraws of this.#bases.values())
      for (const [seed, base] of ofDraws) {
        if (kept <= keptBytes) return;
        ofDraws.delete(seed);
        kept -= bytes(base);
      }
  }
}

/** A candidate's description, and what it has in common with others that draw the same. */
interface DescribedCandidate {
  /** With any seed. */
  readonly config: ReservoirConfig;
  readonly draws: string;
}

/** A candidate beside others of its shape. */
interface GroupedCandidate {
  readonly place: number;
  readonly base: Base;
  readonly config: ReservoirConfig;
}

/**
 * The descriptions of candidates, one object for all that share theirs; undefined for one that is
 * refused, or that no sweep takes.
 */
async function describedCandidates(
  candidates: readonly SweepCandidate[],
  inputSize: number,
): Promise<readonly (DescribedCandidate | undefined)[]> {
  const { resolveConfig } = await import("../../reservoir/config-schema.js");
  const known = new Map<ReservoirOptions, DescribedCandidate | undefined>();
  return candidates.map(({ reservoir }) => {
    if (!known.has(reservoir)) known.set(reservoir, described(reservoir));
    return known.get(reservoir);
  });

  function described(reservoir: ReservoirOptions): DescribedCandidate | undefined {
    try {
      const config = resolveConfig(forecasterReservoir({ inputSize, ...reservoir }));
      return isPlain(config) ? { config, draws: drawnBy(config) } : undefined;
    } catch (error) {
      if (error instanceof ArgumentError) return undefined;
      throw error;
    }
  }
}

/** Whether members of a sweep can be made of a description. */
function isPlain({ cell, feedback, activation, arithmetic }: ReservoirConfig): boolean {
  return !cell && !feedback && arithmetic !== "integer" && !isOwnActivation(activation);
}

/** Candidates of one shape as members, each with all its penalties. */
interface GroupMembers {
  readonly bases: readonly Base[];
  readonly members: readonly SweepMember[];
  /** Of each member its candidate and penalty. */
  readonly slots: readonly { readonly place: number; readonly penalty: number }[];
}

function membersOfGroup(group: readonly GroupedCandidate[], candidates: readonly SweepCandidate[]): GroupMembers {
  const indices = new Map<Base, { readonly index: number; readonly leakRates: ReturnType<typeof leakRatesOf> }>();
  const members: SweepMember[] = [];
  const slots: { readonly place: number; readonly penalty: number }[] = [];
  for (const { place, base, config } of group) {
    const { seed, lambdas } = candidates[place]!;
    const known = indices.get(base) ?? { index: indices.size, leakRates: leakRatesOf(seed) };
    indices.set(base, known);
    const leakRate = known.leakRates(config.leakRate, config.size);
    for (const [penalty, lambda] of lambdas.entries()) {
      members.push(memberOf(base, known.index, config, leakRate, lambda));
      slots.push({ place, penalty });
    }
  }
  return { bases: [...indices.keys()], members, slots };
}

/** What is drawn depends on, but for the seed. */
function drawnBy({
  spectralRadius: _,
  leakRate: __,
  inputScaling: ___,
  bias: ____,
  noiseLevel: _____,
  seed: ______,
  ...drawn
}: ReservoirConfig): string {
  return JSON.stringify(drawn);
}

const shapes = new WeakMap<Base, string>();

/** What members that run side by side have in common. */
function shapeOf(base: Base): string {
  const { size, precision, activation, weights, config } = base.model;
  const known =
    shapes.get(base) ?? JSON.stringify([size, precision, activation, isSparse(weights), config.arithmetic, config.weightPrecision]);
  shapes.set(base, known);
  return known;
}

function stacked(above: Matrix, below: Matrix): Matrix<Float64Array> {
  const out = Matrix.zeros(above.rows + below.rows, above.cols);
  out.data.set(above.data);
  out.data.set(below.data, above.data.length);
  return out;
}
