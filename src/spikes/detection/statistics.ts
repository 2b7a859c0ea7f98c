// What a detector has found: counted as it happens, never assumed.
import { type PatternType, patternTypes } from "./measure.js";

/** What is known of one type. */
export interface TypeStatistics {
  /** Patterns in which it was detected. */
  readonly count: number;
  /** Mean score of those; 0 if there are none. */
  readonly meanStrength: number;
}

/** Counts over the patterns that a detector was given since it was made or reset. */
export interface DetectionStatistics {
  /** Patterns that were looked at, failures not among them. */
  readonly patterns: number;
  /** Calls that failed. */
  readonly failures: number;
  /** Calls that an open circuit refused. */
  readonly refused: number;
  readonly types: Readonly<Record<PatternType, TypeStatistics>>;
  /** The share of patterns in which something was detected; undefined before the first. */
  readonly detectionRate: number | undefined;
  /**
   * Of the detections in patterns whose types were given, the share of types that were not among
   * them; undefined before the first such pattern.
   */
  readonly falsePositiveRate: number | undefined;
  /** How long a pattern took, in ms; undefined before the first. */
  readonly latencyMs: { readonly mean: number; readonly maximum: number; readonly minimum: number } | undefined;
}

/** The counters behind {@link DetectionStatistics}. */
export class DetectionRecord {
  failures = 0;
  refused = 0;
  #patterns = 0;
  #detected = 0;
  #checked = 0;
  #wrong = 0;
  #known = 0;
  #latency = { sum: 0, maximum: 0, minimum: Infinity };
  readonly #types = new Map<PatternType, { count: number; sum: number }>(patternTypes.map((type) => [type, { count: 0, sum: 0 }]));

  /** Counts one pattern; `truth` are the types that it is known to be of. */
  add(
    detections: readonly { readonly type: PatternType; readonly strength: number }[],
    latencyMs: number,
    truth?: readonly PatternType[],
  ): void {
    this.#patterns++;
    if (detections.length > 0) this.#detected++;
    for (const { type, strength } of detections) {
      const entry = this.#types.get(type)!;
      entry.count++;
      entry.sum += strength;
    }
    if (truth) {
      this.#known++;
      this.#checked += detections.length;
      this.#wrong += detections.filter(({ type }) => !truth.includes(type)).length;
    }
    this.#latency.sum += latencyMs;
    this.#latency.maximum = Math.max(this.#latency.maximum, latencyMs);
    this.#latency.minimum = Math.min(this.#latency.minimum, latencyMs);
  }

  get statistics(): DetectionStatistics {
    const { sum, maximum, minimum } = this.#latency;
    const entries = [...this.#types].map(([type, { count, sum: strengths }]) => [
      type,
      { count, meanStrength: count === 0 ? 0 : strengths / count },
    ]);
    return {
      patterns: this.#patterns,
      failures: this.failures,
      refused: this.refused,
      types: Object.fromEntries(entries) as Record<PatternType, TypeStatistics>,
      detectionRate: this.#patterns === 0 ? undefined : this.#detected / this.#patterns,
      falsePositiveRate: this.#known === 0 ? undefined : this.#checked === 0 ? 0 : this.#wrong / this.#checked,
      latencyMs: this.#patterns === 0 ? undefined : { mean: sum / this.#patterns, maximum, minimum },
    };
  }
}
