// What the lab's sliders say: a reservoir and a signal, as plain values, as a link and as an experiment file. Page and server share it.
import type { ReservoirOptions } from "../reservoir/index.js";

/** Topologies that the lab offers. */
export const topologyNames = [
  "erdosRenyi",
  "ring",
  "delayLine",
  "cycleWithJumps",
  "smallWorld",
  "orthogonal",
  "fixedInDegree",
  "blockDiagonal",
] as const;

/** Signals that drive the reservoir: a benchmark series by name and what of it is shown. */
export const signalNames = ["mackeyGlass", "lorenz", "rossler", "mso", "narma", "logistic"] as const;

/** Everything that the lab can be told. */
export interface LabSettings {
  /** N. */
  readonly size: number;
  /** Target spectral radius of W. */
  readonly spectralRadius: number;
  /** a, from above 0 to 1. */
  readonly leakRate: number;
  /** Of the topologies that draw their connections. */
  readonly connectionProbability: number;
  /** Factor on every input weight. */
  readonly inputScaling: number;
  /** Factor on the bias of every neuron. */
  readonly bias: number;
  /** Uniform noise in [-noiseLevel, noiseLevel) on every pre-activation. */
  readonly noiseLevel: number;
  /** The topology by name, with its own defaults. */
  readonly topology: (typeof topologyNames)[number];
  /** What drives the reservoir. */
  readonly signal: (typeof signalNames)[number];
  /** Of the reservoir. */
  readonly seed: number;
}

/** A slider: from where to where, and in what steps. */
export interface Range {
  readonly label: string;
  readonly minimum: number;
  readonly maximum: number;
  readonly step: number;
}

/** The sliders of the page, by setting. */
export const ranges: Readonly<Record<Exclude<keyof LabSettings, "topology" | "signal">, Range>> = {
  size: { label: "size N", minimum: 10, maximum: 1000, step: 10 },
  spectralRadius: { label: "spectral radius", minimum: 0, maximum: 2, step: 0.01 },
  leakRate: { label: "leak rate a", minimum: 0.01, maximum: 1, step: 0.01 },
  connectionProbability: { label: "connection probability", minimum: 0.01, maximum: 1, step: 0.01 },
  inputScaling: { label: "input scaling", minimum: 0.01, maximum: 3, step: 0.01 },
  bias: { label: "bias", minimum: 0, maximum: 1, step: 0.01 },
  noiseLevel: { label: "noise", minimum: 0, maximum: 0.5, step: 0.005 },
  seed: { label: "seed", minimum: 0, maximum: 99, step: 1 },
};

/** What the page begins with. */
export const defaultSettings: LabSettings = {
  size: 300,
  spectralRadius: 0.95,
  leakRate: 0.3,
  connectionProbability: 0.1,
  inputScaling: 0.5,
  bias: 0.3,
  noiseLevel: 0,
  topology: "erdosRenyi",
  signal: "mackeyGlass",
  seed: 0,
};

/** The reservoir that the settings describe. */
export function reservoirOf(settings: LabSettings): ReservoirOptions & { readonly inputSize: 1 } {
  const { size, spectralRadius, leakRate, connectionProbability, inputScaling, bias, noiseLevel, topology, seed } = settings;
  return { size, inputSize: 1, spectralRadius, leakRate, connectionProbability, inputScaling, bias, noiseLevel, topology, seed };
}

/** What differs from the defaults, for the end of a link: "size=500&leakRate=0.1". */
export function settingsToLink(settings: LabSettings): string {
  const changed = Object.entries(settings).filter(([name, value]) => value !== defaultSettings[name as keyof LabSettings]);
  return new URLSearchParams(changed.map(([name, value]) => [name, String(value)])).toString();
}

/** Settings from the end of a link. What it does not name, or names wrongly, is the default; a number out of its range is cut to it. */
export function settingsFromLink(link: string): LabSettings {
  const given = new URLSearchParams(link.replace(/^[#?]/, ""));
  const out: Record<string, unknown> = { ...defaultSettings };
  for (const [name, { minimum, maximum }] of Object.entries(ranges)) {
    const text = given.get(name);
    const value = Number(text);
    if (text === null || text === "" || !Number.isFinite(value)) continue;
    const whole = name === "size" || name === "seed" ? Math.round(value) : value;
    out[name] = Math.min(maximum, Math.max(minimum, whole));
  }
  const topology = given.get("topology");
  const signal = given.get("signal");
  if ((topologyNames as readonly (string | null)[]).includes(topology)) out["topology"] = topology;
  if ((signalNames as readonly (string | null)[]).includes(signal)) out["signal"] = signal;
  return out as unknown as LabSettings;
}

/** The settings as an experiment for `spillway run`; the page writes it as YAML. */
export function experimentOf(settings: LabSettings): Readonly<Record<string, unknown>> {
  const { seed, ...rest } = reservoirOf(settings);
  const { inputSize: _, ...reservoir } = rest;
  const driven = settings.signal === "narma";
  return {
    name: "lab",
    data: { task: settings.signal, length: 4200 },
    task: { type: "predict" },
    reservoir,
    readout: { type: "ridge", lambda: 1e-7 },
    split: { train: 3000, test: 1000 },
    washout: 100,
    seeds: [seed],
    ...(driven ? {} : { transforms: ["standardise"] }),
  };
}
