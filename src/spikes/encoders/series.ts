// What every encoder starts from: a T x F series of values from 0 to 1, each row held for one
// frame, each channel given a group of neurons.
import { ArgumentError } from "@spillway/core/errors.js";
import {
  anything,
  count,
  given,
  type InputOf,
  type Kind,
  option,
  optional,
  type Resolved,
  resolve,
  type TableOf,
} from "@spillway/core/options.js";
import { asMatrix, Matrix, type MatrixLike, portableLog, portableTanh } from "@spillway/numerics";
import { checkMemory } from "../errors.js";
import { positive } from "../options.js";
import type { SpikeMetadata } from "../pattern/pattern.js";

export const frameTable = {
  /** How long each row of the series lasts, in ms. A single row is a static input. */
  frameMs: given(positive("ms"), "How long each row of the series lasts."),
  /** Neurons of each channel; channel c has neurons c G to (c + 1) G - 1. Default 1. */
  neuronsPerChannel: option(count(1, 100_000), 1, "Neurons of each channel."),
};

/** What all encoders of frames take. */
export interface FrameOptions extends InputOf<typeof frameTable> {}

/** Frames that were checked: T x F values in [0, 1], G neurons a channel. */
export interface Frames {
  readonly series: Matrix;
  readonly frameMs: number;
  readonly group: number;
  readonly durationMs: number;
  readonly neuronCount: number;
}

/**
 * Checks a series; a flat array is one channel. @throws ArgumentError on a value outside [0, 1] or
 * no channels.
 */
export function framesOf(values: MatrixLike, { frameMs, neuronsPerChannel }: Resolved<typeof frameTable>): Frames {
  const series = asMatrix(values, "series");
  if (series.cols === 0) throw new ArgumentError("the number of channels", 0, "at least 1", { code: "shape" });
  for (let i = 0; i < series.data.length; i++) {
    if (series.data[i]! >= 0 && series.data[i]! <= 1) continue;
    const where = `the value at row ${Math.floor(i / series.cols)}, channel ${i % series.cols}`;
    throw new ArgumentError(where, series.data[i], "values from 0 to 1: scaleToUnit or squashToUnit brings a series there");
  }
  return {
    series,
    frameMs,
    group: neuronsPerChannel,
    durationMs: series.rows * frameMs,
    neuronCount: series.cols * neuronsPerChannel,
  };
}

/** Memory of a spike in the lists of an encoder. */
const spikeBytes = 24;

/** @throws SpillwayError if so many spikes do not fit this machine: a long frame may ask for any number */
export function checkSpikes(count: number): void {
  checkMemory(`an encoding of some ${count.toPrecision(3)} spikes`, spikeBytes * count);
}

/**
 * What an encoder writes into the metadata of its pattern: `strength` is min(1, twice the standard
 * deviation of all values).
 */
export function encoderMetadata(encoder: string, { data }: Matrix): SpikeMetadata {
  if (data.length === 0) return { source: `${encoder} encoder` };
  let sum = 0;
  let minimum = Infinity;
  let maximum = -Infinity;
  for (const value of data) {
    sum += value;
    minimum = Math.min(minimum, value);
    maximum = Math.max(maximum, value);
  }
  const mean = sum / data.length;
  let squares = 0;
  for (const value of data) squares += (value - mean) * (value - mean);
  const strength = Math.min(1, 2 * Math.sqrt(squares / data.length));
  return { source: `${encoder} encoder`, strength, featureMean: mean, featureMinimum: minimum, featureMaximum: maximum };
}

/** Which values become 0 and 1. */
export interface UnitScale {
  /** The value that becomes 0, of each channel or of all; default the smallest of the channel. */
  readonly minimum?: number | readonly number[] | undefined;
  /** The value that becomes 1; default the largest of the channel. */
  readonly maximum?: number | readonly number[] | undefined;
}

const scaleTable = {
  minimum: optional(anything as Kind<UnitScale["minimum"]>, "The value that becomes 0."),
  maximum: optional(anything as Kind<UnitScale["maximum"]>, "The value that becomes 1."),
} satisfies TableOf<UnitScale>;

/**
 * Each channel of a T x F series mapped linearly onto [0, 1] and clipped there: (x - minimum) /
 * (maximum - minimum). A constant channel becomes 0.5. Give the training data's extremes to map
 * other data the same way.
 * @throws ArgumentError on a value that is not finite, or a maximum below its minimum.
 */
export function scaleToUnit(values: MatrixLike, scale: UnitScale = {}): Matrix<Float64Array> {
  const { minimum, maximum } = resolve(scaleTable, scale);
  const out = matrixCopy(values);
  checkExtremes("minimum", minimum, out.cols);
  checkExtremes("maximum", maximum, out.cols);
  for (let c = 0; c < out.cols; c++) {
    const column = out.column(c);
    const low = (typeof minimum === "object" ? minimum[c] : minimum) ?? column.reduce((a, b) => Math.min(a, b), Infinity);
    const high = (typeof maximum === "object" ? maximum[c] : maximum) ?? column.reduce((a, b) => Math.max(a, b), -Infinity);
    if (out.rows > 0 && !(low <= high))
      throw new ArgumentError(`the maximum of channel ${c}`, high, `a number of at least its minimum ${low}`);
    for (let r = 0; r < out.rows; r++) {
      const scaled = low === high ? 0.5 : (column[r]! - low) / (high - low);
      out.data[r * out.cols + c] = Math.min(1, Math.max(0, scaled));
    }
  }
  return out;
}

/**
 * Any numbers brought into (0, 1) without knowing their range: v is compressed to sign(v) (ln |v| +
 * 1) if |v| > 1, then becomes (tanh(v) + 1) / 2.
 * @throws ArgumentError on a value that is not finite.
 */
export function squashToUnit(values: MatrixLike): Matrix<Float64Array> {
  const out = matrixCopy(values);
  for (let i = 0; i < out.data.length; i++) {
    const value = out.data[i]!;
    const compressed = Math.abs(value) > 1 ? Math.sign(value) * (portableLog(Math.abs(value)) + 1) : value;
    out.data[i] = (portableTanh(compressed) + 1) / 2;
  }
  return out;
}

/**
 * @throws ArgumentError unless `extremes` is a number, as many numbers as there are channels, or
 * left out
 */
function checkExtremes(name: string, extremes: UnitScale["minimum"] | null, channels: number): void {
  if (extremes === undefined || typeof extremes === "number") return;
  if (typeof extremes !== "object" || extremes === null)
    throw new ArgumentError(name, extremes, "a number, or a list of numbers, one a channel");
  if (extremes.length !== channels)
    throw new ArgumentError(`the number of values of ${name}`, extremes.length, `${channels}, one a channel`, { code: "shape" });
  for (let c = 0; c < channels; c++) if (typeof extremes[c] !== "number") throw new ArgumentError(`${name}[${c}]`, extremes[c], "a number");
}

function matrixCopy(values: MatrixLike): Matrix<Float64Array> {
  const out = Matrix.from(values, "float64", "series");
  checkFiniteValues(out);
  return out;
}

/** @throws ArgumentError on a value that is not finite */
export function checkFiniteValues({ data, cols }: Matrix): void {
  const bad = data.findIndex((value) => !Number.isFinite(value));
  if (bad >= 0) throw new ArgumentError(`the value at row ${Math.floor(bad / cols)}, channel ${bad % cols}`, data[bad], "finite numbers");
}
