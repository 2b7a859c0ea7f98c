// Evaluates many reservoirs over the same rows: draws once what several share, ahead of the work
// that takes it, and runs those of one shape side by side if the engine can. Sweeps, searches and
// maps of quality call it.
import { getOrMake } from "@spillway/core/maps.js";
import { isSparse, type Seed } from "@spillway/numerics";
import { isOwnActivation } from "../activations.js";
import type { ReservoirConfig } from "../config.js";
import { type Ask, askedAs, type Evaluated, type Evaluation, type ReadoutAsk, type SweepMember, stepsOf } from "../engine/evaluation.js";
import type { Engine, EnginePlan } from "../engine.js";
import { addMeasurements, type Profile } from "../profile.js";
import { expectedNonzeros } from "../topologies/index.js";
import { WorkInterruptedError, type WorkOptions } from "../work.js";
import { BaseDrawing, type Draw, type DrawRange, type KeptBases } from "./base-drawing.js";
import { type Base, leakRatesOf, memberOf } from "./members.js";

/** A reservoir that is evaluated. */
export interface Candidate {
  /** Its description with any seed; it is read once for all candidates that share the object. */
  readonly config: ReservoirConfig;
  readonly seed: Seed;
  /** The penalties of its readouts, one for measures: it is a member of the evaluation for each. */
  readonly lambdas: readonly number[];
}

/** A member of an evaluation: a candidate with one of its penalties. */
export interface EvaluatedMember {
  /** Its index among the candidates. */
  readonly candidate: number;
  /** The index of the penalty. */
  readonly penalty: number;
  readonly base: Base;
}

/** An evaluation for a host, which makes each model anew. */
export interface HostEvaluation extends Evaluation<ReadoutAsk> {
  readonly bases: readonly Base[];
  /** The description of a member, by its index. */
  configOf(member: number): ReservoirConfig;
}

/** How candidates are evaluated. */
export interface EvaluateOptions extends WorkOptions {
  readonly engine: Engine;
  readonly profile?: boolean | undefined;
  /** Bases of earlier evaluations on the same engine, which also keeps those of this one. */
  readonly kept?: KeptBases | undefined;
  /**
   * Evaluates readouts of members that the engine does not run side by side. Left out, and of
   * measures, their candidates are not evaluated.
   */
  readonly oneByOne?: ((engine: Engine, work: HostEvaluation) => Promise<Evaluated>) | undefined;
}

/** What became of an evaluation. */
export interface EvaluationEnd {
  /** The candidates that were not evaluated, by their indices. */
  readonly left: readonly number[];
  /** If it was asked for. */
  readonly profile?: Profile | undefined;
}

/**
 * Evaluates candidates in parts. The weights of a part are drawn while the members of the part
 * before run.
 * @param askOf what is asked of members that are described like this one, in their precision
 * @throws WorkInterruptedError
 */
export async function evaluate(
  candidates: readonly Candidate[],
  askOf: (config: ReservoirConfig) => Ask<EvaluatedMember>,
  options: EvaluateOptions,
): Promise<EvaluationEnd> {
  const { engine, signal, onProgress, profile, oneByOne } = options;
  const begun = performance.now();
  const { draws, left } = drawsOf(candidates, oneByOne !== undefined);
  if (draws.length === 0) return { left };
  const asks = new Map<string, Ask<EvaluatedMember>>();
  const askFor = (shape: string, config: ReservoirConfig) => getOrMake(asks, shape, () => askOf(config));
  const count = draws.reduce((sum, { members }) => sum + members, 0);
  const total = count * stepsOf(askOf(draws[0]!.config));
  let done = 0;
  const results: Evaluated[] = [];
  const run = async (drawn: readonly Base[], part: readonly SharedDraw[]) => {
    for (const [shape, group] of groupsOf(drawn, part, candidates)) {
      const before = done;
      const { bases, members, names, config } = group;
      const ask = askedAs(askFor(shape, config), (member: number) => names[member]!);
      const onGroup = (made: number) => {
        done = before + made;
        onProgress?.(done, total);
      };
      const work = { bases, members, signal, profile, onProgress: onGroup };
      const configOf = (member: number) => {
        const { config: own, seed } = candidates[names[member]!.candidate]!;
        return { ...own, seed };
      };
      const running = isPlain(config) ? engine.device?.evaluate({ ...work, ask }) : undefined;
      if (running) results.push(await running);
      else if (oneByOne && ask.kind !== "measures") results.push(await oneByOne(engine, { ...work, ask, configOf }));
      else left.push(...new Set(names.map(({ candidate }) => candidate)));
      done = before + members.length * stepsOf(ask);
    }
  };
  const drawing = new BaseDrawing(draws, engine, { ...options, done: () => done, total });
  try {
    const parts = partsOf(draws.length, count, draws[0]!.config);
    let ahead = drawing.draw(parts[0]!);
    for (const [p, { from, to }] of parts.entries()) {
      const running = run(await ahead, draws.slice(from, to));
      // The engine has its work; what the next part takes is drawn meanwhile.
      const next = parts[p + 1];
      if (next) {
        ahead = drawing.draw(next);
        ahead.catch(() => undefined);
      }
      await running;
    }
  } catch (error) {
    if (!(error instanceof WorkInterruptedError)) throw error;
    throw new WorkInterruptedError(done, total, error.cause);
  } finally {
    await drawing.dispose();
  }
  if (!profile || results.length === 0) return { left };
  const milliseconds = performance.now() - begun;
  const phases = addMeasurements([drawing.profile(), ...results.flatMap((result) => result.profile ?? [])]);
  return { left, profile: { engine: engine.name, plan: planOf(results, count), calls: 1, milliseconds, ...phases } };
}

/** What one seed draws, and the candidates that take it. */
interface SharedDraw extends Draw {
  readonly candidates: readonly number[];
  readonly members: number;
}

/** Candidates by what they draw; without `all` those that no engine runs side by side are left. */
function drawsOf(candidates: readonly Candidate[], all: boolean): { readonly draws: readonly SharedDraw[]; readonly left: number[] } {
  type Growing = { readonly key: string; config: ReservoirConfig; readonly candidates: number[]; members: number };
  const draws: Growing[] = [];
  const left: number[] = [];
  /** By what is drawn but for the seed, and by the seed. */
  const known = new Map<string, Map<Seed, Growing>>();
  const ofConfig = new Map<ReservoirConfig, Map<Seed, Growing> | undefined>();
  const seedsOf = (config: ReservoirConfig): Map<Seed, Growing> | undefined => {
    if (!all && !isPlain(config)) return undefined;
    return getOrMake(known, drawnBy(config), () => new Map<Seed, Growing>());
  };
  for (const [index, { config, seed, lambdas }] of candidates.entries()) {
    if (!ofConfig.has(config)) ofConfig.set(config, seedsOf(config));
    const seeds = ofConfig.get(config);
    if (!seeds) {
      left.push(index);
      continue;
    }
    let draw = seeds.get(seed);
    if (!draw) {
      draw = { key: `${JSON.stringify(seed)} ${drawnBy(config)}`, config: { ...config, seed }, candidates: [], members: 0 };
      seeds.set(seed, draw);
      draws.push(draw);
    }
    // W's radius is measured if any candidate takes it.
    if (draw.config.spectralRadius === null && config.spectralRadius !== null) draw.config = { ...config, seed };
    draw.candidates.push(index);
    draw.members += lambdas.length;
  }
  return { draws, left };
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

/** Whether an engine may run members of a description side by side. */
function isPlain({ cell, feedback, activation, arithmetic }: ReservoirConfig): boolean {
  return !cell && !feedback && arithmetic !== "integer" && !isOwnActivation(activation);
}

/**
 * Members of one part: enough to fill a device, and few enough to draw the next ones meanwhile.
 */
const membersOfPart = 8192;

/** Bytes of W of one part, near enough. */
const weightBytesOfPart = 2 ** 28;

/** The draws of each part, in order; parts of one size, but for the last. */
export function partsOf(draws: number, members: number, config: ReservoirConfig): DrawRange[] {
  const fit = Math.floor(weightBytesOfPart / (16 * expectedNonzeros(config) + 1));
  const most = Math.max(1, Math.min(Math.ceil((membersOfPart * draws) / members), fit));
  const size = Math.ceil(draws / Math.ceil(draws / most));
  return Array.from({ length: Math.ceil(draws / size) }, (_, p) => ({ from: p * size, to: Math.min(draws, (p + 1) * size) }));
}

/** Members of one shape. */
interface Group {
  readonly config: ReservoirConfig;
  readonly bases: Base[];
  readonly members: SweepMember[];
  readonly names: EvaluatedMember[];
}

/** The members of a part by their shapes. */
function groupsOf(bases: readonly Base[], part: readonly SharedDraw[], candidates: readonly Candidate[]): Map<string, Group> {
  const groups = new Map<string, Group>();
  for (const [d, base] of bases.entries()) {
    const shape = shapeOf(base);
    const of = part[d]!.candidates;
    const first = candidates[of[0]!]!;
    const group: Group = groups.get(shape) ?? { config: first.config, bases: [], members: [], names: [] };
    groups.set(shape, group);
    const b = group.bases.push(base) - 1;
    const leakRates = leakRatesOf(first.seed);
    for (const candidate of of) {
      const { config, lambdas } = candidates[candidate]!;
      const leakRate = leakRates(config.leakRate, config.size);
      for (const [penalty, lambda] of lambdas.entries()) {
        group.members.push(memberOf(base, b, config, leakRate, lambda));
        group.names.push({ candidate, penalty, base });
      }
    }
  }
  return groups;
}

/** What members that run side by side have in common. */
function shapeOf({ model }: Base): string {
  const { size, inputSize, precision, activation, weights, config } = model;
  return JSON.stringify([size, inputSize, precision, activation, isSparse(weights), config.arithmetic, config.weightPrecision]);
}

/** The plan of all parts. */
function planOf(results: readonly Evaluated[], reservoirs: number): EnginePlan {
  const { plan } = results[0]!;
  if (results.length === 1) return plan;
  const details = { ...plan.details, reservoirs, parts: results.length };
  return { ...plan, summary: `${reservoirs} reservoirs in ${results.length} parts, the first: ${plan.summary}`, details };
}
