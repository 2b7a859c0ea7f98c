// Templates: labelled patterns as binned vectors, and what a new pattern is most like. The detector
// looks for types without an example.
import { ArgumentError } from "@spillway/core/errors.js";
import { given, type InputOf, list, number, option, optional, type Resolved, resolve, text } from "@spillway/core/options.js";
import { writeFileAtomic } from "@spillway/io/atomic.js";
import { FormatError } from "@spillway/io/errors.js";
import { readBytes } from "@spillway/io/files.js";
import { decodeSafetensors, encodeSafetensors } from "@spillway/io/safetensors.js";
import { asMatrix, firstNonFinite, Matrix, type MatrixLike } from "@spillway/numerics";
import type { EngineSelection } from "../../reservoir/computer-options.js";
import { deviceOf } from "../../reservoir/engines.js";
import { contextTable, engineTable } from "../../reservoir/options.js";
import { count } from "../options.js";
import { binSpikes } from "../pattern/binning.js";
import { checkPatterns, type SpikePattern } from "../pattern/pattern.js";
import { cosine32, dot32, norm32, reportedCosine } from "./cosine.js";

const shapeTable = {
  /** Bins of time, T. */
  bins: given(count, "Bins of time, T."),
  /** Neurons, N, or fewer channels of neighbouring neurons. */
  channels: given(count, "Neurons, or fewer channels of neighbouring neurons."),
};

/** How patterns become vectors of bins x channels numbers. */
export interface TemplateShape extends Resolved<typeof shapeTable> {}

/** The options of `PatternTemplates`. */
export const templateTable = {
  ...shapeTable,
  /** The smallest score that is a match, from -1 to 1; default 0.5. */
  threshold: option(number({ atLeast: -1, atMost: 1 }), 0.5, "The smallest score that is a match."),
};

/** How patterns become vectors, and when a template matches. */
export interface TemplateOptions extends InputOf<typeof templateTable> {}

/** What a pattern is most like. */
export interface TemplateMatch {
  /** The label of the best template, or undefined if its score is below the threshold. */
  readonly label: string | undefined;
  /** The index of the best template, the first if tied. */
  readonly index: number;
  /** Its score. */
  readonly score: number;
  /** The score of each template: its cosine with the pattern, from -1 to 1, P values. */
  readonly scores: Float32Array;
}

const learnTable = {
  ...templateTable,
  labels: optional(list(text(), "a list of texts, one a pattern"), "The label of each pattern; left out, what its metadata say."),
};

const matchAllTable = { ...engineTable, ...contextTable };

const decodeTable = { source: option(text(), "template data", "The name that errors call the data by.") };

const kind = "spillway spike templates";

/**
 * P templates of D = bins x channels numbers each. The score of a vector x and a template w is
 * their cosine x . w / (|x| |w|), in binary32 by rule 1 of docs/numerics.md; 0 if either is all
 * zeros.
 */
export class PatternTemplates implements TemplateShape {
  readonly bins: number;
  readonly channels: number;
  readonly labels: readonly string[];
  readonly threshold: number;
  /** P x D. */
  readonly vectors: Matrix<Float32Array>;
  readonly #norms: Float32Array;

  /**
   * Templates that are given, P x D in binary32.
   * @throws ArgumentError if labels, vectors and shape do not fit, or a number is not finite.
   */
  constructor(labels: readonly string[], vectors: MatrixLike, options: TemplateOptions) {
    const { bins, channels, threshold } = resolve(templateTable, options);
    this.threshold = threshold;
    const matrix = asMatrix(vectors, "vectors");
    if (matrix.rows === 0) throw new ArgumentError("the number of templates", 0, "at least 1", { code: "shape" });
    if (matrix.cols !== bins * channels)
      throw new ArgumentError("the length of a template", matrix.cols, `${bins * channels}, bins x channels`, { code: "shape" });
    if (!Array.isArray(labels) || !labels.every((label) => typeof label === "string"))
      throw new ArgumentError("labels", labels, "a list of texts, one a template");
    if (labels.length !== matrix.rows)
      throw new ArgumentError("the number of labels", labels.length, `${matrix.rows}, one a template`, { code: "shape" });
    this.vectors = new Matrix(matrix.rows, matrix.cols, Float32Array.from(matrix.data));
    const bad = firstNonFinite(this.vectors.data);
    if (bad >= 0)
      throw new ArgumentError(`a value of template ${Math.floor(bad / matrix.cols)}`, matrix.data[bad], "finite binary32 numbers");
    this.bins = bins;
    this.channels = channels;
    this.labels = [...labels];
    this.#norms = Float32Array.from({ length: matrix.rows }, (_, p) => norm32(this.vectors.data, p * matrix.cols, matrix.cols));
  }

  /**
   * One template a label: the mean of the vectors of its patterns, summed in the order they are
   * given. Templates are in the order in which labels first occur. `labels` default to those in
   * the patterns' metadata.
   * @throws ArgumentError if there is no pattern, one without a label, or one with fewer neurons
   * than channels.
   */
  static learn(
    patterns: readonly SpikePattern[],
    options: TemplateOptions & { readonly labels?: readonly string[] | undefined },
  ): PatternTemplates {
    checkPatterns(patterns);
    const { labels: said, ...shape } = resolve(learnTable, options);
    const labels =
      said ??
      patterns.map(({ metadata: { label } }, i) => {
        if (label === undefined) throw new ArgumentError(`the label of pattern ${i}`, label, "a text, in its metadata or in labels");
        return label;
      });
    if (labels.length !== patterns.length)
      throw new ArgumentError("the number of labels", labels.length, `${patterns.length}, one a pattern`, { code: "shape" });
    const sums = new Map<string, { count: number; sum: Float64Array }>();
    for (const [i, pattern] of patterns.entries()) {
      const vector = vectorOf(pattern, shape);
      const entry = sums.get(labels[i]!) ?? { count: 0, sum: new Float64Array(vector.length) };
      for (let d = 0; d < vector.length; d++) entry.sum[d] = entry.sum[d]! + vector[d]!;
      entry.count++;
      sums.set(labels[i]!, entry);
    }
    if (sums.size === 0) throw new ArgumentError("the number of patterns", 0, "at least 1", { code: "shape" });
    const rows = [...sums.values()].map(({ count, sum }) => sum.map((value) => value / count));
    return new PatternTemplates([...sums.keys()], rows, shape);
  }

  /** What a pattern is most like. @throws ArgumentError if it has fewer neurons than channels. */
  match(pattern: SpikePattern): TemplateMatch {
    return this.matchVector(vectorOf(pattern, this));
  }

  /**
   * The same for several patterns: on a device if one is named (`engine`) or given (`context`).
   * @throws ArgumentError, EngineUnavailableError
   */
  async matchAll(patterns: readonly SpikePattern[], options: Pick<EngineSelection, "engine" | "context"> = {}): Promise<TemplateMatch[]> {
    const context = await deviceOf(resolve(matchAllTable, options));
    if (!context || patterns.length === 0) return patterns.map((pattern) => this.match(pattern));
    const { DeviceTemplates } = await import("../gpu/templates.js");
    using finder = new DeviceTemplates(context, this);
    return await finder.matchAll(patterns);
  }

  /**
   * The same for a vector of D numbers, such as a reservoir's state. @throws ArgumentError on
   * another length.
   */
  matchVector(vector: Float32Array): TemplateMatch {
    const { rows, cols, data } = this.vectors;
    if (vector.length !== cols)
      throw new ArgumentError("the length of the vector", vector.length, `${cols}, as the templates`, { code: "shape" });
    const norm = norm32(vector, 0, cols);
    const scores = Float32Array.from({ length: rows }, (_, p) => cosine32(dot32(vector, 0, data, p * cols, cols), norm, this.#norms[p]!));
    let index = 0;
    for (let p = 1; p < rows; p++) if (scores[p]! > scores[index]!) index = p;
    const score = reportedCosine(scores[index]!);
    return { label: score >= this.threshold ? this.labels[index] : undefined, index, score, scores: scores.map(reportedCosine) };
  }

  /** The templates as the bytes of a safetensors file. */
  encode(): Uint8Array {
    const { labels, bins, channels, threshold } = this;
    const shape = [this.vectors.rows, this.vectors.cols];
    return encodeSafetensors(
      { templates: { dtype: "F32", shape, data: this.vectors.data } },
      { format: kind, description: JSON.stringify({ labels, bins, channels, threshold }) },
    );
  }

  /** What `encode` gave. @throws FormatError if it is something else. */
  static decode(bytes: Uint8Array, options: { readonly source?: string | undefined } = {}): PatternTemplates {
    const { source } = resolve(decodeTable, options);
    const { tensors, metadata } = decodeSafetensors(bytes, { source });
    const tensor = tensors["templates"];
    if (metadata["format"] !== kind || tensor?.dtype !== "F32" || tensor.shape.length !== 2) {
      throw new FormatError("safetensors", source, "it holds no spike templates; PatternTemplates.save writes them");
    }
    try {
      const description = JSON.parse(metadata["description"] ?? "") as (TemplateOptions & { labels: readonly string[] }) | null;
      if (typeof description !== "object" || description === null)
        throw new ArgumentError("the description", description, "an object with labels, bins and channels");
      const { labels, ...shape } = description;
      return new PatternTemplates(labels, new Matrix(tensor.shape[0]!, tensor.shape[1]!, tensor.data as Float32Array), shape);
    } catch (error) {
      throw new FormatError("safetensors", source, `its description does not fit its templates: ${(error as Error).message}`, {}, error);
    }
  }

  /** Writes `encode` to a file, whole or not at all. @throws FileError */
  async save(path: string): Promise<void> {
    await writeFileAtomic(path, this.encode());
  }

  /** Reads a file that `save` wrote. @throws FileError */
  static async load(path: string): Promise<PatternTemplates> {
    return PatternTemplates.decode(await readBytes(path), { source: path });
  }
}

function vectorOf(pattern: SpikePattern, { bins, channels }: TemplateShape): Float32Array {
  return binSpikes(pattern, { bins, channels }).data;
}
