// PatternDetector on a device: the type of each pattern, with the scores of the host, bit for bit.
import { DisposedByUsing, Held, Making } from "@spillway/core/disposal.js";
import { resolve } from "@spillway/core/options.js";
import type { Context, Stream } from "@spillway/gpu";
import { type DetectionResult, type Measured, PatternDetector } from "../detection/detector.js";
import { type PatternScore, type PatternType, patternTypes } from "../detection/measure.js";
import { rhythmFrequencyHz } from "../detection/types/rhythmic.js";
import { waveFrequencyHz } from "../detection/waves.js";
import { checkPatterns, type SpikePattern } from "../pattern/pattern.js";
import { checkReport, type DeviceBinOptions, deviceBinTable } from "./binning.js";
import { DeviceSpikePattern, DeviceSpikePatterns } from "./device-pattern.js";
import { none } from "./kernels.js";
import { checkMeasurable, DeviceBank, enqueueMeasures } from "./measures.js";
import { patternWords } from "./patterns-binning.js";

const deviceDetectorTable = { stream: deviceBinTable.stream };

/**
 * Looks for the eight types in patterns on a device. Its results are those of the detector that it
 * is given, to the last bit but for `latencyMs`, and go into that one's statistics, thresholds and
 * circuit breaker. All patterns of a call are measured together, in memory that is given back at
 * the end of the call; scores alone come to the host.
 *
 * @example
 * using spikes = await encodeOnDevice(context, series, { encoder: "latency", frameMs: 50 });
 * using detector = new DeviceDetector(context, new PatternDetector({ types: ["burst", "rhythmic"]
 * })); const results = await detector.detectAll(spikes);
 */
export class DeviceDetector extends DisposedByUsing {
  readonly detector: PatternDetector;
  readonly #context: Context;
  readonly #held = new Held();
  #own: { readonly stream: Stream; readonly bank: DeviceBank | undefined } | undefined;

  readonly #stream: Stream | undefined;

  /**
   * A detector on a device that is open; `dispose` gives back what it holds there. Work that came
   * before on a stream that is given is waited for.
   */
  constructor(context: Context, detector: PatternDetector = new PatternDetector(), options: Pick<DeviceBinOptions, "stream"> = {}) {
    super();
    this.detector = detector;
    this.#context = context;
    this.#stream = resolve(deviceDetectorTable, options).stream;
  }

  /**
   * Looks for the types in one pattern; one that is on the host is copied to the device first.
   * @throws ArgumentError as `PatternDetector.detect` does, and if a spike on the device lies
   * outside the pattern; CircuitOpenError
   */
  async detect(pattern: SpikePattern | DeviceSpikePattern, truth?: readonly PatternType[]): Promise<DetectionResult> {
    const patterns = pattern instanceof DeviceSpikePattern ? pattern.alone() : [pattern];
    return (await this.detectAll(patterns, [truth]))[0]!;
  }

  /**
   * The same for several patterns at once. Nothing is found in any if one has no spikes or is too
   * long; the error names it. `latencyMs` is an equal share of the time of all.
   * @throws ArgumentError, CircuitOpenError
   */
  async detectAll(
    patterns: readonly SpikePattern[] | DeviceSpikePatterns,
    truths?: readonly (readonly PatternType[] | undefined)[],
  ): Promise<DetectionResult[]> {
    if (!(patterns instanceof DeviceSpikePatterns)) checkPatterns(patterns);
    if ((patterns instanceof DeviceSpikePatterns ? patterns.count : patterns.length) === 0) return [];
    return this.detector.detectBy(() => this.#measure(patterns), truths);
  }

  /** Idempotent. */
  dispose(): void {
    this.#held.dispose();
    this.#own = undefined;
  }

  async #measure(patterns: readonly SpikePattern[] | DeviceSpikePatterns): Promise<Measured[]> {
    using held = new Making();
    if (!(patterns instanceof DeviceSpikePatterns))
      for (const [b, pattern] of patterns.entries()) this.#isLong(pattern, b, patterns.length);
    const spikes = patterns instanceof DeviceSpikePatterns ? patterns : held.own(DeviceSpikePatterns.upload(this.#context, patterns));
    const { offsets, durationsMs, count } = spikes;
    const long = durationsMs.map((durationMs, b) => this.#isLong({ spikeCount: offsets[b + 1]! - offsets[b]!, durationMs }, b, count));
    const { stream, bank } = this.#there();
    checkMeasurable(spikes, bank?.bank);
    const { types } = this.detector;
    const there = enqueueMeasures(stream, this.#context, spikes, { types: long.includes(true) ? types : [], bank, held });
    const [scores, coherence, outside] = await Promise.all([
      stream.download(there.scores),
      there.coherence && stream.download(there.coherence),
      stream.download(there.outside),
    ]);
    checkReport(this.#context, spikes, BigUint64Array.of(outside[0]!, none, none), patternWords(spikes));
    held.dispose();
    return long.map((isLong, b) => ({
      scores: Object.fromEntries(
        types.map((type) => {
          const at = (b * patternTypes.length + patternTypes.indexOf(type)) * 3;
          return [type, isLong ? scoreOf(type, scores.subarray(at, at + 3), durationsMs[b]!) : { score: 0 }];
        }),
      ),
      coherence: coherence?.[b],
    }));
  }

  #isLong(pattern: Pick<SpikePattern, "spikeCount" | "durationMs">, b: number, count: number): boolean {
    return this.detector.isLong(pattern, count === 1 ? undefined : `patterns[${b}]`);
  }

  #there() {
    if (this.#own) return this.#own;
    const bank = this.detector.bank();
    this.#own = {
      stream: this.#stream ?? this.#held.own(this.#context.stream({ label: "detection of types" })),
      bank: bank && new DeviceBank(this.#context, bank, this.#held),
    };
    return this.#own;
  }
}

/** A score and the features that come with it, of what a kernel reports. */
function scoreOf(type: PatternType, [score, frequency, wave]: Float64Array, durationMs: number): PatternScore {
  if (score! > 0 && type === "rhythmic") return { score: score!, frequencyHz: rhythmFrequencyHz(frequency!, durationMs) };
  if (score! > 0 && (type === "travelling" || type === "standing"))
    return { score: score!, frequencyHz: waveFrequencyHz(frequency!, durationMs), waveNumber: wave! };
  return { score: score! };
}
