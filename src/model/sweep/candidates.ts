// Reservoirs that a search proposes, over the same rows: each its own description, seed and
// penalties, predicted together if an engine can. What a seed draws is kept for the next ones.
import { isSparse, Matrix } from "../../numerics/index.js";
import { isOwnActivation } from "../../reservoir/activations.js";
import type { ReservoirConfig, ReservoirOptions } from "../../reservoir/config.js";
import type { Engine, SweepMember, SweepWork } from "../../reservoir/engine.js";
import type { FeatureSpec } from "../../reservoir/features.js";
import { series } from "../../reservoir/inputs.js";
import { expectedNonzeros } from "../../reservoir/topologies/index.js";
import { forecasterReservoir } from "../defaults.js";
import { alongRoad, fitRoad, type Road } from "../forecaster/road.js";
import { restored, standardised } from "../standardisation.js";
import { type Base, BaseDrawing } from "./bases.js";
import { leakRatesOf, memberOf } from "./members.js";

/** A reservoir and the penalties of its readouts. */
export interface SweepCandidate {
  /** As a Forecaster takes it: what is left out has the Forecaster's defaults. */
  readonly reservoir: ReservoirOptions;
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

/**
 * Takes what a candidate predicts by one of its penalties, T x O; undefined if a state is not
 * finite or the penalty is too small.
 */
export type TakePrediction = (candidate: number, penalty: number, prediction: Matrix<Float64Array> | undefined) => void;

/** Bytes of W of the bases that are kept, near enough. */
const keptBytes = 2 ** 29;

/** Trains and predicts candidates on an engine that has sweeps. */
export class CandidateSweep {
  readonly #engine: Engine;
  readonly #bases = new Map<string, Base>();

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /**
   * What `Forecaster.fit` and `predict` give for each candidate and penalty, to the bit. Those of
   * one shape run side by side.
   * @returns the places of candidates that the engine does not take
   * @throws ArgumentError for a description or rows that a Forecaster refuses
   */
  async predict(
    candidates: readonly SweepCandidate[],
    rows: CandidateRows,
    take: TakePrediction,
    signal: AbortSignal,
  ): Promise<readonly number[]> {
    const { resolveConfig } = await import("../../reservoir/config-schema.js");
    const inputSize = rows.train.inputs.cols;
    const configs = candidates.map(({ reservoir }) => resolveConfig(forecasterReservoir({ inputSize, ...reservoir })));
    const takes = ({ cell, feedback, activation }: ReservoirConfig) => !cell && !feedback && !isOwnActivation(activation);
    const places = Array.from(configs.keys()).filter((place) => takes(configs[place]!));
    const bases = await this.#draw(
      places.map((place) => configs[place]!),
      signal,
    );
    const groups = new Map<string, { readonly place: number; readonly base: Base }[]>();
    for (const [p, place] of places.entries()) {
      const key = shapeOf(bases[p]!);
      const group = groups.get(key) ?? [];
      groups.set(key, group);
      group.push({ place, base: bases[p]! });
    }
    const road = fitRoad([rows.train], { transforms: [], standardise: rows.standardise, hold: false }, false);
    const left = Array.from(configs.keys()).filter((place) => !takes(configs[place]!));
    for (const group of groups.values()) {
      const swept = this.#engine.sweep?.(this.#work(group, candidates, configs, rows, road, take, signal));
      if (swept) await swept;
      else left.push(...group.map(({ place }) => place));
    }
    return left;
  }

  /** The sweep of candidates of one shape. */
  #work(
    group: readonly { readonly place: number; readonly base: Base }[],
    candidates: readonly SweepCandidate[],
    configs: readonly ReservoirConfig[],
    { train, test, washout, features, constant }: CandidateRows,
    road: Road,
    take: TakePrediction,
    signal: AbortSignal,
  ): SweepWork {
    const { inputSize, precision } = configs[group[0]!.place]!;
    const trained = alongRoad(road, train, { hybrid: undefined, feedback: false });
    const following = standardised(road.inputScale, test.inputs);
    const outputs = trained.targets.cols;
    const bases = [...new Set(group.map(({ base }) => base))];
    const indices = new Map(bases.map((base, b) => [base, b]));
    const members: SweepMember[] = [];
    const slots: { readonly place: number; readonly penalty: number }[] = [];
    for (const { place, base } of group) {
      const config = configs[place]!;
      const leakRate = leakRatesOf(config.seed)(config.leakRate, config.size);
      for (const [penalty, lambda] of candidates[place]!.lambdas.entries()) {
        members.push(memberOf(base, indices.get(base)!, config, leakRate, lambda));
        slots.push({ place, penalty });
      }
    }
    return {
      ...{ bases, members, washout, features, constant, signal, trainRows: trained.inputs.rows },
      inputs: series(stacked(trained.inputs, following), "inputs", inputSize, "inputSize", precision),
      // Rows to predict have no targets, and take none.
      targets: stacked(trained.targets, Matrix.zeros(following.rows, outputs)),
      take: (m, values) => {
        const { place, penalty } = slots[m]!;
        take(place, penalty, values && restored(road.targetScale, new Matrix(following.rows, outputs, values)));
      },
    };
  }

  /** The bases of descriptions: those that are known, and the others drawn. */
  async #draw(configs: readonly ReservoirConfig[], signal: AbortSignal): Promise<readonly Base[]> {
    const names = configs.map(baseOf);
    const wanted = new Map<string, ReservoirConfig>();
    for (const [i, name] of names.entries())
      if (!this.#bases.has(name) && !(wanted.get(name)?.spectralRadius != null)) wanted.set(name, configs[i]!);
    const fresh = [...wanted];
    if (fresh.length > 0) {
      const described = fresh.map(([, config]) => config);
      const drawing = new BaseDrawing(described, this.#engine, { signal }, () => 0, fresh.length);
      try {
        const drawn = await drawing.draw({ from: 0, to: fresh.length });
        for (const [i, [name]] of fresh.entries()) this.#bases.set(name, drawn[i]!);
      } finally {
        await drawing.dispose();
      }
    }
    const found = names.map((name) => this.#bases.get(name)!);
    const bytes = ({ model: { size, config } }: Base) => 24 * (expectedNonzeros(config) + size);
    let kept = [...this.#bases.values()].reduce((sum, base) => sum + bytes(base), 0);
    for (const [name, base] of this.#bases) {
      if (kept <= keptBytes) break;
      this.#bases.delete(name);
      kept -= bytes(base);
    }
    return found;
  }
}

/** What descriptions that draw the same have in common. */
function baseOf({ spectralRadius: _, leakRate: __, inputScaling: ___, bias: ____, noiseLevel: _____, ...drawn }: ReservoirConfig): string {
  return JSON.stringify(drawn);
}

/** What members that run side by side have in common. */
function shapeOf({ model: { size, precision, activation, weights, config } }: Base): string {
  return JSON.stringify([size, precision, activation, isSparse(weights), config.arithmetic, config.weightPrecision]);
}

function stacked(above: Matrix, below: Matrix): Matrix<Float64Array> {
  const out = Matrix.zeros(above.rows + below.rows, above.cols);
  out.data.set(above.data);
  out.data.set(below.data, above.data.length);
  return out;
}
