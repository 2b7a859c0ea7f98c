// Encoders on a device: from series in its memory to spikes in its memory. Each makes the spikes of
// the encoder of the same name on the host.
import { type Held, Making } from "@spillway/core/disposal.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { resolve } from "@spillway/core/options.js";
import type { Context, DeviceSlice, Stream } from "@spillway/gpu";
import { shippedKernel } from "@spillway/gpu/shipped-kernels.js";
import { asMatrix, Matrix, type MatrixLike, portableExp, type Seed, seedKeys } from "@spillway/numerics";
import { DeviceMatrix, DeviceSequences, type RealValues } from "../../reservoir/index.js";
import { type EncoderConfig, encodeSpikes } from "../encoders/index.js";
import { latencyTable } from "../encoders/latency.js";
import { phaseTable } from "../encoders/phase.js";
import { populationTable } from "../encoders/population.js";
import { rateTable } from "../encoders/rate.js";
import { caseSeed, streamNumbers } from "../streams.js";
import { type DeviceBinOptions, deviceBinTable } from "./binning.js";
import type { DeviceSpikePatterns } from "./device-pattern.js";
import { none } from "./kernels.js";
import { writeSpikes } from "./written-spikes.js";

/** An encoder that runs on a device, and its options. */
export type DeviceEncoderConfig = Extract<EncoderConfig, { readonly encoder: "rate" | "latency" | "population" | "phase" | "delta" }>;

const encoders: readonly string[] = ["rate", "latency", "population", "phase", "delta"] satisfies DeviceEncoderConfig["encoder"][];

/** Whether a device has an encoder; "cochlea" and "cochleagram" run on the host. */
export const isDeviceEncoder = (config: EncoderConfig): config is DeviceEncoderConfig => encoders.includes(config.encoder);

const deviceEncodeTable = { stream: deviceBinTable.stream };

/** Series to encode: one, or several of the same width, in device memory or on the host. */
export type DeviceSeries = DeviceMatrix | DeviceSequences | readonly MatrixLike[];

/** Blocks along a grid's second axis at most; each takes several series if there are more. */
const mostRows = 32_768;

/**
 * `encodeSpikes` on a device: the spikes of each series, in any order, in device memory. A
 * DeviceMatrix draws from `seed`; of several series, number b draws from the seed "SEED/b", as the
 * cases of a pipeline do.
 *
 * @example
 * using spikes = await encodeOnDevice(context, series, { encoder: "latency", frameMs: 50 });
 * using bins = await binPatternsOnDevice(context, spikes, { binMs: 1 });
 * @throws ArgumentError as the encoder on the host does, naming the series
 */
export async function encodeOnDevice(
  context: Context,
  series: DeviceSeries,
  config: DeviceEncoderConfig,
  options: Pick<DeviceBinOptions, "stream"> = {},
): Promise<DeviceSpikePatterns> {
  const { stream: theirs } = resolve(deviceEncodeTable, options);
  using held = new Making();
  const { values, rows, columns } = there(context, held, series);
  const single = series instanceof DeviceMatrix;
  const code = codeOf(context, held, config, rows, columns, (b, seed) => (single ? seed : caseSeed(seed, b)));
  const starts = [0];
  for (const each of rows) starts.push(starts.at(-1)! + each);
  const stream = theirs ?? held.own(context.stream({ label: "encoding" }));
  stream.waitFor([values]);
  const table = held.own(context.upload(BigUint64Array.from(starts, BigInt), { label: "first rows" }));
  const bad = held.own(context.upload(BigUint64Array.of(none), { label: "first value that cannot be encoded" }));
  const type = values.dtype;
  const kernel = shippedKernel(context, "spike_encoders", `spike_encoders_${config.encoder}_${type}`, [
    ...([`const ${type}*`, "const u64*", "u32", "u32", ...code.parameters, "u64*", "f64*", "u32*", "u64*"] as const),
  ]);
  const grid = [Math.max(1, Math.min(256, Math.ceil(code.work / 256))), Math.min(rows.length, mostRows)] as const;
  const given = [values, table, rows.length, columns, ...code.arguments];
  const spikes = await writeSpikes(
    context,
    stream,
    rows.length,
    (...written) => stream.launch(kernel, { grid, block: 256 }, ...([...given, ...written, bad] as never[])),
    async (total) => {
      await checkValues(stream, bad, { values, starts, columns, single, takes: code.takes });
      if (total > 2 ** 31)
        throw new ArgumentError("the number of spikes", total, "at most 2^31: take a larger threshold, or fewer series", { code: "shape" });
    },
  );
  held.dispose();
  return spikes(code);
}

interface There {
  readonly values: RealValues;
  readonly rows: readonly number[];
  readonly columns: number;
}

/** All series in device memory. @throws ArgumentError if they do not have the same width */
function there(context: Context, held: Held, series: DeviceSeries): There {
  if (series instanceof DeviceMatrix) return { values: series.values, rows: [series.rows], columns: series.cols };
  if (!(series instanceof DeviceSequences) && !Array.isArray(series))
    throw new ArgumentError("series", series, "a DeviceMatrix, or a list of series");
  const all = series instanceof DeviceSequences ? series.sequences : series.map((one: MatrixLike, b) => asMatrix(one, `series[${b}]`));
  const columns = all[0]?.cols;
  if (columns === undefined) throw new ArgumentError("the number of series", 0, "at least 1", { code: "shape" });
  for (const [b, { cols }] of all.entries())
    if (cols !== columns)
      throw new ArgumentError(`the number of channels of series[${b}]`, cols, `${columns}, as that of series[0]`, { code: "shape" });
  const rows = all.map((one) => one.rows);
  if (series instanceof DeviceSequences) return { values: series.values, rows, columns };
  const data = new Float64Array(rows.reduce((sum, each) => sum + each, 0) * columns);
  let at = 0;
  for (const matrix of all as readonly Matrix[]) {
    data.set(matrix.data, at);
    at += matrix.data.length;
  }
  return { values: held.own(context.upload(data, { label: "series" })), rows, columns };
}

/** The parameters of a kernel of kernels/spike_encoders.cu besides the series. */
interface Code {
  readonly parameters: readonly ("f64" | "u32" | "const u32*" | "const f64*")[];
  readonly arguments: readonly unknown[];
  readonly durationsMs: readonly number[];
  readonly neuronCount: number;
  /** Pieces of work of the longest series. */
  readonly work: number;
  /** What its values may be. */
  readonly takes: string;
}

const optionsOf = ({ encoder: _, ...options }: DeviceEncoderConfig) => options;

function codeOf(
  context: Context,
  held: Held,
  config: DeviceEncoderConfig,
  rows: readonly number[],
  columns: number,
  seedOf: (b: number, seed: Seed) => Seed,
): Code {
  if (!encoders.includes(config?.encoder))
    throw new ArgumentError("encoder", config?.encoder, `${encoders.map((name) => `"${name}"`).join(", ")} on a device`);
  // The encoder on the host checks the options: here on a row of zeros.
  const { neuronCount } = encodeSpikes(Matrix.zeros(1, columns), config);
  const longest = rows.reduce((most, each) => Math.max(most, each), 0);
  const keysFor = (seed: Seed | undefined) => {
    const keys = new Uint32Array(2 * rows.length);
    if (seed !== undefined) for (const b of rows.keys()) keys.set(seedKeys(seedOf(b, seed)).weights, 2 * b);
    return held.own(context.upload(keys, { label: "keys of draws" }));
  };
  if (config.encoder === "delta") {
    const { stepMs, threshold, start } = config;
    const levels = start && held.own(context.upload(Float64Array.from(start), { label: "start levels" }));
    const durationsMs = rows.map((each) => Math.max(0, each - 1) * stepMs);
    const parameters = ["f64", "f64", "const f64*"] as const;
    return { parameters, arguments: [stepMs, threshold, levels ?? null], durationsMs, neuronCount, work: columns, takes: "finite numbers" };
  }
  const { frameMs } = config;
  // `draws`: a seed, undefined if nothing is drawn, and the number of a stream.
  const framed = (work: number, real: readonly number[], whole: readonly number[], draws?: readonly [Seed | undefined, number]): Code => ({
    parameters: [...real.map(() => "f64" as const), ...whole.map(() => "u32" as const), ...(draws ? (["const u32*", "u32"] as const) : [])],
    arguments: [...real, ...whole, ...(draws ? [keysFor(draws[0]), draws[1]] : [])],
    durationsMs: rows.map((each) => each * frameMs),
    neuronCount,
    work,
    takes: "values from 0 to 1: scaleToUnit or squashToUnit brings a series there",
  });
  if (config.encoder === "rate") {
    const { neuronsPerChannel, process, minRateHz, maxRateHz, seed } = resolve(rateTable, optionsOf(config));
    const isRegular = process === "regular";
    const draws = [isRegular ? undefined : seed, streamNumbers.rateEncoder] as const;
    return framed(neuronCount, [frameMs, minRateHz, maxRateHz], [neuronsPerChannel, Number(isRegular)], draws);
  }
  if (config.encoder === "latency") {
    const { neuronsPerChannel, delayRangeMs, order, curve, neuronDelayMs, threshold, ...rest } = resolve(latencyTable, optionsOf(config));
    const { timeConstantMs = delayRangeMs / 3 } = rest;
    const full = 1 - portableExp(-delayRangeMs / timeConstantMs);
    const real = [frameMs, delayRangeMs, timeConstantMs, full, neuronDelayMs, threshold];
    return framed(longest * columns, real, [neuronsPerChannel, Number(order === "weakFirst"), Number(curve === "logarithmic")]);
  }
  if (config.encoder === "population") {
    const { neuronsPerChannel, code, peakProbability, threshold, seed, ...rest } = resolve(populationTable, optionsOf(config));
    const byLatency = code === "latency";
    const real = [frameMs, rest.fieldWidth ?? neuronsPerChannel / 6, peakProbability, threshold];
    const draws = [byLatency ? undefined : seed, streamNumbers.populationEncoder] as const;
    return framed(longest * neuronCount, real, [neuronsPerChannel, Number(byLatency)], draws);
  }
  const { neuronsPerChannel, baseFrequencyHz, phaseRange, jitterMs, seed } = resolve(phaseTable, optionsOf(config));
  const period = 1000 / baseFrequencyHz;
  const draws = [jitterMs > 0 ? seed : undefined, streamNumbers.phaseEncoder] as const;
  const cycles = Math.ceil((longest * frameMs) / period);
  return framed(cycles * neuronCount, [frameMs, period, phaseRange, jitterMs], [neuronsPerChannel], draws);
}

/** @throws ArgumentError for the first value that cannot be encoded */
async function checkValues(
  stream: Stream,
  bad: DeviceSlice<"u64">,
  {
    values,
    starts,
    columns,
    single,
    takes,
  }: {
    readonly values: RealValues;
    readonly starts: readonly number[];
    readonly columns: number;
    readonly single: boolean;
    readonly takes: string;
  },
): Promise<void> {
  const [index] = await stream.download(bad);
  if (index === none) return;
  const at = Number(index);
  const row = Math.floor(at / columns);
  const b = starts.findLastIndex((start) => start <= row);
  const [value] = await stream.download(values.slice(at, at + 1) as DeviceSlice<"f32">);
  const where = `row ${row - starts[b]!}, channel ${at % columns}${single ? "" : ` of series[${b}]`}`;
  throw new ArgumentError(`the value at ${where}`, value, takes);
}
