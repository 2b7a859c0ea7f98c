// Looks for the eight types in patterns, one after the other, and keeps count. What a type is, the
// files of types/ say.

import { CircuitBreaker, CircuitOpenError, type CircuitState, circuitBreakerTable } from "@spillway/core/circuit-breaker.js";
import { ArgumentError } from "@spillway/core/errors.js";
import {
  checked,
  choice,
  either,
  filled,
  flag,
  type InputOf,
  list,
  number,
  type Option,
  object,
  option,
  optional,
  type Resolved,
  resolve,
} from "@spillway/core/options.js";
import { deviceOf } from "../../reservoir/engines.js";
import { contextTable, engineTable } from "../../reservoir/options.js";
import { notNegative, positive } from "../options.js";
import { checkPattern, type SpikePattern } from "../pattern/pattern.js";
import { type PatternScore, type PatternType, patternTypes } from "./measure.js";
import { KuramotoOscillators, oscillatorTable } from "./oscillators.js";
import { DetectionRecord, type DetectionStatistics } from "./statistics.js";
import { patternMeasures } from "./types/index.js";

const typeList = list(choice(...patternTypes), "a list of pattern types");
const thresholdTable = Object.fromEntries(
  patternTypes.map((type) => [
    type,
    option(number({ above: 0, atMost: 1 }), patternMeasures[type].threshold, `The score from which on a pattern is ${type}.`),
  ]),
) as Record<PatternType, Option<number>>;
const bankTakes = "an object of options of a bank of oscillators, or false";

export const detectorTable = {
  /** The types to look for; default all. */
  types: option(typeList, patternTypes, "The types to look for."),
  /** Thresholds in place of the defaults, from above 0 to 1. */
  thresholds: filled(object(thresholdTable), "Thresholds of types in place of the defaults."),
  /** Patterns shorter than this have no type, in ms; default 10. */
  minDurationMs: option(notNegative("ms"), 10, "Patterns shorter than this have no type."),
  /**
   * Patterns longer than this are refused, in ms; default 60,000. The work grows with the square of
   * the duration; `slicePattern` cuts windows out of a long recording.
   */
  maxDurationMs: option(positive("ms"), 60_000, "Patterns longer than this are refused."),
  /**
   * Lets all thresholds rise by 1 % after a detection if more than half of the last 100 detections
   * were weaker than 0.5, and fall by 1 % if fewer than a fifth were, never below the defaults and
   * never above 0.95. Default false: false alarms are as rare as the thresholds say.
   */
  adaptive: option(flag, false, "Let thresholds follow how strong detections are."),
  /**
   * The bank behind `coherence`, or false for none. Every pattern finds it at its own beginning.
   */
  oscillators: filled(
    either(
      bankTakes,
      object(oscillatorTable, bankTakes),
      checked<false>("false", (value) => value === false),
    ),
    "The bank behind coherence, or false for none.",
  ),
  /** When failures in a row pause the detector. */
  circuitBreaker: filled(object(circuitBreakerTable), "When failures in a row pause the detector."),
};

/** What a detector looks for, from which scores on, and how thresholds follow detections. */
export interface PatternDetectorOptions extends InputOf<typeof detectorTable> {}

/** One type that was found. */
export interface Detection extends Omit<PatternScore, "score"> {
  readonly type: PatternType;
  /** The score, from the threshold to 1. */
  readonly strength: number;
}

/** What a detector says of one pattern. */
export interface DetectionResult {
  /** What was found, the strongest first. */
  readonly detections: readonly Detection[];
  /** The score of every type that was looked for. */
  readonly scores: Readonly<Partial<Record<PatternType, PatternScore>>>;
  /**
   * The largest order parameter that the pattern brought the oscillator bank to, from 0 to 1;
   * undefined without a bank.
   */
  readonly coherence: number | undefined;
  /** How long it took, in ms. */
  readonly latencyMs: number;
}

/** @internal What is measured of a pattern before thresholds are looked at. */
export type Measured = Pick<DetectionResult, "scores" | "coherence">;

/** The options of `PatternDetector.detectAll`. */
export const detectAllTable = {
  ...engineTable,
  ...contextTable,
  /** The true types of each pattern. */
  truths: optional(list(typeList, "a list with the types of each pattern"), "The true types of each pattern."),
};

/** Where patterns are looked at, and what is true of them. */
export interface DetectAllOptions extends InputOf<typeof detectAllTable> {}

/**
 * Scores patterns by the measures of the eight types and reports those that reach their thresholds.
 * Types do not exclude one another. A pattern's scores depend on nothing but the pattern: the first
 * call is like any other. A pattern without spikes is a failure; after 10 in a row the detector
 * refuses calls for a second (see {@link CircuitBreaker}).
 */
export class PatternDetector {
  readonly types: readonly PatternType[];
  readonly #options: Resolved<typeof detectorTable>;
  readonly #breaker: CircuitBreaker;
  readonly #now: () => number;
  #record = new DetectionRecord();
  #recent: number[] = [];
  #factor = 1;

  /** @throws ArgumentError on an option that it does not take. */
  constructor(options: PatternDetectorOptions = {}) {
    this.#options = resolve(detectorTable, options);
    this.types = this.#options.types;
    const { circuitBreaker } = this.#options;
    this.bank();
    this.#breaker = new CircuitBreaker(circuitBreaker);
    this.#now = circuitBreaker.now;
  }

  /** What has happened so far. */
  get statistics(): DetectionStatistics {
    return this.#record.statistics;
  }

  /**
   * Whether calls are let through: "closed", "open" after too many failures, "halfOpen" on
   * probation.
   */
  get circuitState(): CircuitState {
    return this.#breaker.state;
  }

  /** The present threshold of a type. */
  threshold(type: PatternType): number {
    const base = this.#options.thresholds[type];
    return Math.min(base * this.#factor, Math.max(base, 0.95));
  }

  /**
   * Looks for the types in one pattern. `truth`, if it is known, are the types that the pattern is
   * of; only the statistics use it. `DeviceDetector` of spillway/gpu looks for them on a
   * device.
   * @throws ArgumentError on a pattern without spikes, one that is too long, or an unknown type;
   * CircuitOpenError while the circuit is open.
   */
  detect(pattern: SpikePattern, truth?: readonly PatternType[]): DetectionResult {
    checkTruth(truth);
    const startMs = this.#now();
    try {
      const measured = this.#breaker.call(() => this.#look(pattern));
      return this.#report(measured, this.#now() - startMs, truth);
    } catch (error) {
      throw this.#counted(error);
    }
  }

  /**
   * @internal `detect` for patterns that are measured together elsewhere, as one call of the
   * circuit breaker; each has an equal share of the time.
   */
  async detectBy(
    measure: () => Promise<readonly Measured[]>,
    truths: readonly (readonly PatternType[] | undefined)[] = [],
  ): Promise<DetectionResult[]> {
    truths.forEach(checkTruth);
    const startMs = this.#now();
    try {
      const measured = await this.#breaker.callAsync(measure);
      const latencyMs = (this.#now() - startMs) / measured.length;
      return measured.map((one, b) => this.#report(one, latencyMs, truths[b]));
    } catch (error) {
      throw this.#counted(error);
    }
  }

  /**
   * The same for several patterns: on a device if one is named (`engine`) or given (`context`), all
   * of them together. The results are those of `detect` but for `latencyMs`.
   * @throws ArgumentError, CircuitOpenError, EngineUnavailableError
   */
  async detectAll(patterns: readonly SpikePattern[], options: DetectAllOptions = {}): Promise<DetectionResult[]> {
    const { truths, ...selection } = resolve(detectAllTable, options);
    const context = await deviceOf(selection);
    if (!context) return patterns.map((pattern, b) => this.detect(pattern, truths?.[b]));
    const { DeviceDetector } = await import("../gpu/detector.js");
    using finder = new DeviceDetector(context, this);
    return await finder.detectAll(patterns, truths);
  }

  /** @internal The bank behind `coherence`; undefined without one. */
  bank(): KuramotoOscillators | undefined {
    const { oscillators } = this.#options;
    return oscillators === false ? undefined : new KuramotoOscillators(oscillators);
  }

  /**
   * @internal Whether a pattern is long enough to have a type. `name` is what it is called in
   * errors. @throws ArgumentError on one without spikes or too long
   */
  isLong({ spikeCount, durationMs }: Pick<SpikePattern, "spikeCount" | "durationMs">, name = "the pattern"): boolean {
    if (spikeCount === 0)
      throw new ArgumentError(
        name === "the pattern" ? "the number of spikes" : `the number of spikes of ${name}`,
        0,
        "at least one: a pattern without spikes has no type",
      );
    const { minDurationMs, maxDurationMs } = this.#options;
    if (durationMs > maxDurationMs)
      throw new ArgumentError(
        `the duration of ${name}`,
        durationMs,
        `up to ${maxDurationMs} ms: cut windows out by slicePattern, or raise maxDurationMs`,
        { shown: `${durationMs} ms` },
      );
    return durationMs >= minDurationMs;
  }

  /** Forgets the statistics, and thresholds that have moved. The circuit stays as it is. */
  reset(): void {
    this.#record = new DetectionRecord();
    this.#recent = [];
    this.#factor = 1;
  }

  #look(pattern: SpikePattern): Measured {
    const long = this.isLong(checkPattern(pattern));
    const scores = this.types.map((type) => [type, long ? patternMeasures[type].score(pattern) : { score: 0 }]);
    return { scores: Object.fromEntries(scores), coherence: this.bank()?.coherence(pattern) };
  }

  #report({ scores, coherence }: Measured, latencyMs: number, truth: readonly PatternType[] | undefined): DetectionResult {
    const detections: Detection[] = [];
    for (const type of this.types) {
      const { score, ...features } = scores[type]!;
      if (score >= this.threshold(type)) detections.push({ type, strength: score, ...features });
    }
    detections.sort((a, b) => b.strength - a.strength);
    this.#record.add(detections, latencyMs, truth);
    if (this.#options.adaptive) this.#adapt(detections);
    return { detections, scores, coherence, latencyMs };
  }

  #counted(error: unknown): unknown {
    if (error instanceof CircuitOpenError) this.#record.refused++;
    else this.#record.failures++;
    return error;
  }

  #adapt(detections: readonly Detection[]): void {
    if (detections.length === 0) return;
    this.#recent = [...this.#recent, ...detections.map(({ strength }) => strength)].slice(-100);
    const weak = this.#recent.filter((strength) => strength < 0.5).length / this.#recent.length;
    if (weak > 0.5) this.#factor = Math.min(this.#factor * 1.01, 100);
    else if (weak < 0.2) this.#factor = Math.max(this.#factor * 0.99, 1);
  }
}

function checkTruth(truth: readonly PatternType[] | undefined): void {
  if (truth !== undefined) typeList.read(truth, "truth");
}
