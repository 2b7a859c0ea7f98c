// Templates on a device: the template that a pattern is most like, with the scores of
// PatternTemplates, bit for bit.
import { DisposedByUsing, Held, Making } from "@spillway/core/disposal.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { choice, type InputOf, number, option, optional, resolve } from "@spillway/core/options.js";
import type { Context, DeviceBuffer, DeviceSlice, ReadonlyDeviceSlice, Stream } from "@spillway/gpu";
import { Matrix } from "@spillway/numerics";
import type { DeviceMatrix, DeviceSequences } from "../../reservoir/index.js";
import { reportedCosine } from "../detection/cosine.js";
import { PatternTemplates, type TemplateMatch } from "../detection/templates.js";
import type { SpikePattern } from "../pattern/pattern.js";
import { binSpikesOnDevice, deviceBinTable } from "./binning.js";
import type { DeviceSpikePattern, DeviceSpikePatterns } from "./device-pattern.js";
import { detectionKernel, gridFor } from "./kernels.js";
import { binPatternsOnDevice } from "./patterns-binning.js";

export const deviceTemplateTable = {
  /** "cosine" (default), from -1 to 1, or "dot", the dot product x . w as it is. */
  score: option(choice("cosine", "dot"), "cosine", "What a vector is scored by: its cosine with a template, or their dot product."),
  /**
   * The smallest score that is a match; default that of the templates. Any number, since dot
   * products have no bounds.
   */
  threshold: optional(number(), "The smallest score that is a match; left out, that of the templates."),
  /** Work that came before on it is waited for; default a stream of its own. */
  stream: deviceBinTable.stream,
};

/** The score of templates on a device, and from where on it is a match. */
export interface DeviceTemplateOptions extends InputOf<typeof deviceTemplateTable> {}

/** What a detection on the device gives, all of it there. B vectors, P templates. */
export interface DeviceMatches {
  /** B x P. */
  readonly scores: DeviceSlice<"f32">;
  /** The index of each vector's best template; the first if several are as good. B values. */
  readonly best: DeviceSlice<"i32">;
  /** The same, or -1 if its score is below the threshold. B values. */
  readonly matches: DeviceSlice<"i32">;
}

const threads = 256;

/** @throws ArgumentError for numbers that are not of binary32 */
function singles(values: ReadonlyDeviceSlice): ReadonlyDeviceSlice<"f32"> {
  if (values.dtype !== "f32") throw new ArgumentError("the type of the vectors", values.dtype, '"f32"');
  return values as ReadonlyDeviceSlice<"f32">;
}

/**
 * Work of a detection whose shapes were checked: `count` vectors and `templateCount` templates of
 * `length` numbers.
 */
interface DetectionWork extends DeviceMatches {
  readonly vectors: ReadonlyDeviceSlice<"f32">;
  readonly templates: ReadonlyDeviceSlice<"f32">;
  readonly count: number;
  readonly templateCount: number;
  readonly length: number;
  readonly score: "cosine" | "dot";
  readonly threshold: number;
}

/** Enqueues a detection and waits for nothing. */
export function enqueueDetection(stream: Stream, context: Context, work: DetectionWork): void {
  const { vectors, templates, count, templateCount, length, score, threshold, scores, best, matches } = work;
  const grid = Math.min(2 ** 20, Math.ceil((count * templateCount * 32) / threads));
  const isCosine = score === "cosine" ? 1 : 0;
  stream.launch(
    detectionKernel(context, "scores"),
    { grid, block: threads },
    vectors,
    templates,
    count,
    templateCount,
    length,
    isCosine,
    scores,
  );
  stream.launch(detectionKernel(context, "best"), { grid: count, block: threads }, scores, templateCount, threshold, best, matches);
}

/**
 * As `PatternTemplates.learn`, of vectors that lie on a device (B x D in binary32) and the label of
 * each: only the templates come to the host.
 */
export async function learnTemplatesThere(
  vectors: DeviceMatrix,
  labels: readonly string[],
  options: { readonly threshold: number; readonly stream: Stream },
): Promise<PatternTemplates> {
  const { context, rows, cols, values } = vectors;
  const { threshold, stream } = options;
  const names = [...new Set(labels)];
  using held = new Held();
  const given = held.own(
    context.upload(
      Int32Array.from(labels, (label) => names.indexOf(label)),
      { label: "labels" },
    ),
  );
  const made = held.own(context.alloc("f32", names.length * cols, { label: "templates" }));
  stream.waitFor([values]);
  stream.launch(detectionKernel(context, "means"), gridFor(made.length), singles(values), given, rows, names.length, cols, made);
  const templates = new Matrix(names.length, cols, await stream.download(made));
  return new PatternTemplates(names, templates, { bins: 1, channels: cols, threshold });
}

/**
 * P templates of D numbers in device memory. Scores are in binary32 by docs/numerics.md, rule 1, as
 * those of `PatternTemplates` are.
 */
export class DeviceTemplates extends DisposedByUsing {
  readonly templates: PatternTemplates;
  readonly score: "cosine" | "dot";
  readonly threshold: number;
  readonly #context: Context;
  readonly #vectors: DeviceBuffer<"f32">;
  readonly #held = new Held();
  #stream: Stream | undefined;

  /**
   * Copies templates to a device; `dispose` gives the memory back. @throws ArgumentError,
   * OutOfMemoryError
   */
  constructor(context: Context, templates: PatternTemplates, options: DeviceTemplateOptions = {}) {
    super();
    const { score, threshold = templates.threshold, stream } = resolve(deviceTemplateTable, options);
    this.#stream = stream;
    this.score = score;
    this.threshold = threshold;
    this.templates = templates;
    this.#context = context;
    this.#vectors = this.#held.own(context.upload(templates.vectors.data as Float32Array<ArrayBuffer>, { label: "templates" }));
  }

  /**
   * What a pattern is most like; it is binned on the device. @throws ArgumentError if it has
   * fewer neurons than channels.
   */
  async match(pattern: SpikePattern | DeviceSpikePattern): Promise<TemplateMatch> {
    const { bins, channels } = this.templates;
    using binned = await binSpikesOnDevice(this.#context, pattern, { bins, channels, stream: this.#ownStream() });
    return (await this.matchVectors(binned.values))[0]!;
  }

  /**
   * The same for several patterns, which are binned in one launch. @throws ArgumentError as `match`
   */
  async matchAll(patterns: readonly SpikePattern[] | DeviceSpikePatterns): Promise<TemplateMatch[]> {
    const { bins, channels } = this.templates;
    using binned = await binPatternsOnDevice(this.#context, patterns, { bins, channels, stream: this.#ownStream() });
    return this.matchVectors(binned);
  }

  /**
   * The same for B vectors of D numbers, such as states: on the host, or one after the other in
   * device memory, as `batch` leaves them with `keep: "deviceLast"`.
   * @throws ArgumentError if they are of another length, or on the device of another type than
   * f32.
   */
  async matchVectors(vectors: Matrix | ReadonlyDeviceSlice<"f32"> | DeviceMatrix | DeviceSequences): Promise<TemplateMatch[]> {
    const { rows: templates, cols: length } = this.templates.vectors;
    if (vectors instanceof Matrix && vectors.cols !== length)
      throw new ArgumentError("the length of the vectors", vectors.cols, `${length}, as the templates`, { code: "shape" });
    const context = this.#context;
    using held = new Making();
    const there =
      vectors instanceof Matrix
        ? held.own(context.upload(Float32Array.from(vectors.data), { label: "vectors to match" }))
        : singles("values" in vectors ? vectors.values : vectors);
    const count = this.#countOf(there);
    if (count === 0) {
      held.dispose();
      return [];
    }
    const out = {
      scores: held.own(context.alloc("f32", count * templates, { label: "scores" })),
      best: held.own(context.alloc("i32", count, { label: "best templates" })),
      matches: held.own(context.alloc("i32", count, { label: "matches" })),
    };
    const stream = this.#ownStream();
    stream.waitFor([there]);
    this.enqueue(stream, there, out);
    const [scores, best, matches] = await Promise.all([
      stream.download(out.scores),
      stream.download(out.best),
      stream.download(out.matches),
    ]);
    held.dispose();
    return Array.from({ length: count }, (_, b) => {
      const found = scores.slice(b * templates, (b + 1) * templates);
      const of = this.score === "cosine" ? found.map(reportedCosine) : found;
      const index = best[b]!;
      return { label: matches[b]! < 0 ? undefined : this.templates.labels[index], index, score: of[index]!, scores: of };
    });
  }

  /**
   * Enqueues the detection of B vectors, all in device memory, and waits for nothing. @throws
   * ArgumentError if something is of another length.
   */
  enqueue(stream: Stream, vectors: ReadonlyDeviceSlice<"f32">, { scores, best, matches }: DeviceMatches): void {
    const { rows: templates, cols: length } = this.templates.vectors;
    const count = this.#countOf(vectors);
    for (const [name, slice, needed] of [
      ["scores", scores, count * templates],
      ["best", best, count],
      ["matches", matches, count],
    ] as const) {
      if (slice.length < needed) throw new ArgumentError(`the length of ${name}`, slice.length, `at least ${needed}`, { code: "shape" });
    }
    if (count === 0) return;
    const work = { vectors, templates: this.#vectors, count, templateCount: templates, length, scores, best, matches };
    enqueueDetection(stream, this.#context, { ...work, score: this.score, threshold: this.threshold });
  }

  /** Idempotent. */
  dispose(): void {
    this.#held.dispose();
  }

  #countOf(vectors: ReadonlyDeviceSlice<"f32">): number {
    const length = this.templates.vectors.cols;
    if (vectors.length % length !== 0)
      throw new ArgumentError("the length of the vectors", vectors.length, `a multiple of ${length}, the length of a template`, {
        code: "shape",
      });
    return vectors.length / length;
  }

  #ownStream(): Stream {
    this.#stream ??= this.#held.own(this.#context.stream({ label: "detection" }));
    return this.#stream;
  }
}
