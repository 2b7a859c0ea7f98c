// The golden cases as data, and a case as reference.c reads it. No hash is made here.
import { readFileSync } from "node:fs";
import type { RandomInitialState, ReservoirConfig, ReservoirOptions, WeightDistribution } from "../../src/reservoir/config.js";
import { resolveConfig } from "../../src/reservoir/config-schema.js";
import { leakRateOf } from "../../src/reservoir/weights.js";

export { goldenSeries, goldenTargets } from "./series.js";

/** Ridge regression on what the reservoir did, and the closed loop of its readout. */
export interface GoldenTraining {
  /** O; with feedback the reservoir's own. */
  readonly outputs: number;
  readonly washout: number;
  readonly solver: "cholesky" | "qr" | "dual";
  readonly lambda: number;
  readonly transform: "plain" | "squareHalf" | "squares";
  readonly input: boolean;
  /** Steps of the closed loop. */
  readonly generate: number;
}

/** What is run. */
export interface GoldenRun {
  readonly name: string;
  readonly config: ReservoirOptions;
  /** Sequences, each from the initial state; several are a batch. */
  readonly sequences: number;
  /** T of each. */
  readonly steps: number;
  readonly training?: GoldenTraining;
}

/** What the C program gets, because it computes neither. */
export interface GoldenGiven {
  /** The first four draws of the seed, hexadecimal. */
  readonly seedWords: readonly string[];
  /** The bits of the binary64 number, hexadecimal. */
  readonly measuredRadius: string;
}

/** SHA-256 sums; reference.c says of what. */
export interface GoldenHashes {
  readonly weights: string;
  readonly states: string;
  readonly readout?: string;
  readonly prediction?: string;
}

export interface GoldenCase extends GoldenRun, GoldenGiven {
  readonly hashes: GoldenHashes;
}

export const goldenPath: URL = new URL("golden.json", import.meta.url);

export function goldenCases(): readonly GoldenCase[] {
  return (JSON.parse(readFileSync(goldenPath, "utf8")) as { cases: GoldenCase[] }).cases;
}

/** The bits of a binary64 number, as 16 hexadecimal digits. */
export function bitsOf(value: number): string {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  return view.getBigUint64(0).toString(16).padStart(16, "0");
}

/**
 * One case in the words of reference.c. Decimal numbers are the shortest that read back as the same
 * binary64.
 */
export function describeCase({
  name,
  config: options,
  sequences,
  steps,
  training,
  seedWords,
  measuredRadius,
}: GoldenRun & GoldenGiven): string {
  const config = resolveConfig(options);
  if (config.topology.type !== "erdosRenyi") throw new Error(`${name} has topology ${config.topology.type}; reference.c draws erdosRenyi`);
  const { size, inputSize, feedback, spectralRadius } = config;
  const fedBack = feedback?.size ?? 0;
  const lines = [
    ["case", name],
    ["float32", config.precision === "float32"],
    ["size", size],
    ["inputs", inputSize],
    ["feedback", fedBack],
    ["seed", ...seedWords],
    ["activation", config.activation],
    ["storage", config.storage],
    ["bfloat16", config.weightPrecision === "bfloat16"],
    ["integerBits", config.arithmetic !== "integer" ? 0 : config.weightPrecision === "int8" ? 8 : 16],
    ["selfConnections", config.selfConnections],
    ["scaled", spectralRadius !== null],
    ["spectralRadius", spectralRadius ?? 0],
    ["measuredRadius", measuredRadius],
    draws("W", config.weightDistribution, config.connectionProbability, []),
    draws("W_in", config.inputDistribution, config.inputConnectivity, each(config.inputScaling, inputSize)),
    draws("b", config.biasDistribution, config.biasDensity, [config.bias]),
    draws("W_fb", feedback?.distribution ?? "uniform", feedback?.density ?? 0, each(feedback?.scaling ?? 0, fedBack)),
    ["noiseLevel", config.noiseLevel],
    ["leakRate", ...Array.from({ length: size }, leakRateOf(config))],
    ...initialState(config.initialState),
    ["sequences", sequences],
    ["steps", steps],
    ["outputs", training?.outputs ?? 0],
    ["washout", training?.washout ?? 0],
    ["solver", training?.solver ?? "cholesky"],
    ["lambda", training?.lambda ?? 0],
    ["squareHalf", training?.transform === "squareHalf"],
    ["input", training?.input ?? false],
    ["squares", training?.transform === "squares"],
    ["generate", training?.generate ?? 0],
  ];
  return `${lines.map((line) => line.map((word) => (typeof word === "boolean" ? Number(word) : word)).join(" ")).join("\n")}\n`;
}

function draws(name: string, distribution: WeightDistribution, density: number, scaling: readonly number[]): (string | number)[] {
  return [name, distribution, density, ...scaling];
}

function each(value: number | readonly number[], count: number): readonly number[] {
  return typeof value === "number" ? new Array<number>(count).fill(value) : value;
}

function initialState(state: ReservoirConfig["initialState"]): (string | number)[][] {
  if (state === "zeros") return [["initialState", "zeros"]];
  if (!("scaling" in state)) return [["initialState", "list", ...state]];
  const { distribution, scaling }: RandomInitialState = state;
  return [["initialState", "random"], draws("x0", distribution, 1, [scaling])];
}
