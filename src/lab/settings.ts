// What the lab's sliders say: a reservoir and a signal, as plain values, as a link and as an
// experiment file. Page and server share it.
import { checkHas, checkText } from "@spillway/core/checks.js";
import { describe } from "@spillway/numerics";
import type { FeatureOptions } from "../readout/features-option.js";
import type { ReservoirOptions, TopologyConfig } from "../reservoir/index.js";
import { takesProbability, topologies } from "../reservoir/topologies/index.js";
import { tasks } from "../tasks/index.js";
import { taskOf } from "./own-data.js";

/** Benchmark series that the lab offers to drive the reservoir. */
export const signalNames = ["mackeyGlass", "lorenz", "rossler", "mso", "narma", "logistic"] as const;

/** A slider: from where to where, in what steps, and where it begins. Whole steps give whole numbers. */
export interface Range {
  readonly label: string;
  readonly minimum: number;
  readonly maximum: number;
  readonly step: number;
  readonly initial: number;
}

const slider = (label: string, minimum: number, maximum: number, step: number, initial: number): Range => {
  return { label, minimum, maximum, step, initial };
};

/** The sliders of the page, by setting. */
export const ranges = {
  /** N. */
  size: slider("size N", 10, 1000, 10, 300),
  /** Target spectral radius of W. A delay line has none: its strength is `lineWeight`. */
  spectralRadius: slider("spectral radius", 0, 2, 0.01, 0.95),
  /** a, from above 0 to 1. */
  leakRate: slider("leak rate a", 0.01, 1, 0.01, 0.3),
  /** Of the topologies that draw their connections. */
  connectionProbability: slider("connection probability", 0.01, 1, 0.01, 0.1),
  /** Of cycleWithJumps: neurons that a jump passes over. */
  jump: slider("jump length", 2, 100, 1, 10),
  /** Of cycleWithJumps: the weight of a jump; the cycle's is 1 before W is scaled. */
  jumpWeight: slider("jump weight", 0, 2, 0.05, 0.5),
  /** Of blockDiagonal. */
  blocks: slider("blocks", 1, 50, 1, 4),
  /** Of smallWorld: the chance that an edge of the lattice is rewired. */
  rewiring: slider("rewiring", 0, 1, 0.01, 0.1),
  /** Of delayLine: every weight. */
  lineWeight: slider("line weight", 0, 1.5, 0.01, 1),
  /** Factor on every input weight. */
  inputScaling: slider("input scaling", 0.01, 3, 0.01, 0.5),
  /** Factor on the bias of every neuron. */
  bias: slider("bias", 0, 1, 0.01, 0.3),
  /** Uniform noise in [-noiseLevel, noiseLevel) on every pre-activation. */
  noiseLevel: slider("noise", 0, 0.5, 0.005, 0),
  /** Of the reservoir. */
  seed: slider("seed", 0, 99, 1, 0),
  /** Of the readout: log10 of the ridge lambda. */
  lambdaExponent: slider("readout lambda, power of ten", -12, 2, 1, -7),
} as const;

/** A setting that is a number. */
export type NumericSetting = keyof typeof ranges;

type NumericSettings = { readonly [Name in keyof typeof ranges]: number };

/** Everything that can be set in the lab. */
export interface LabSettings extends NumericSettings {
  /** What the readout sees of the states: plain, squareHalf or squares. */
  readonly transform: NonNullable<FeatureOptions["transform"]>;
  /** Whether the readout sees the input too. */
  readonly readInput: boolean;
  /** How neurons are connected. */
  readonly topology: string;
  /** What drives the reservoir: the name of a task. */
  readonly signal: string;
}

/** What the page begins with. */
export const defaultSettings: LabSettings = {
  ...(Object.fromEntries(Object.entries(ranges).map(([name, { initial }]) => [name, initial])) as NumericSettings),
  transform: "plain",
  readInput: false,
  topology: "erdosRenyi",
  signal: "mackeyGlass",
};

/** What a readout can see of the states, in words. */
export const transforms: Readonly<Record<LabSettings["transform"], string>> = {
  plain: "the states",
  squareHalf: "every second state squared",
  squares: "the states and their squares",
};

const isTransform = (name: unknown): name is LabSettings["transform"] => Object.keys(transforms).includes(name as string);

/** The sliders that are an option of one topology. */
const optionSliders: Readonly<Partial<Record<NumericSetting, readonly [topology: string, option: string]>>> = {
  jump: ["cycleWithJumps", "jump"],
  jumpWeight: ["cycleWithJumps", "jumpWeight"],
  blocks: ["blockDiagonal", "blocks"],
  rewiring: ["smallWorld", "rewiring"],
  lineWeight: ["delayLine", "weight"],
};

/** The topologies that the lab offers: those whose required options have sliders. */
export function topologyNames(): readonly string[] {
  const hasSlider = (type: string, option: string) =>
    Object.values(optionSliders).some(([topology, name]) => topology === type && name === option);
  return topologies
    .all()
    .filter(
      ({ name, options }) =>
        name !== "custom" && Object.keys(options).every((option) => !options[option]!.required || hasSlider(name, option)),
    )
    .map(({ name }) => name);
}

/** What a page or a server can be asked for by name. */
export interface Offered {
  readonly topologies: readonly string[];
  /** Benchmark tasks. */
  readonly signals: readonly string[];
}

/** What is registered where this runs. */
export function whatIsHere(): Offered {
  return { topologies: topologyNames(), signals: tasks.names() };
}

/** Whether a setting changes anything with a topology. */
export function hasEffect(name: NumericSetting, topology: string): boolean {
  const slider = optionSliders[name];
  if (slider) return slider[0] === topology;
  if (name === "spectralRadius") return topology !== "delayLine";
  if (name !== "connectionProbability" || !topologies.find(topology)) return true;
  return takesProbability({ size: 1000, topology: topologyOf({ ...defaultSettings, topology }) });
}

/** The reservoir that the settings describe. */
export function reservoirOf(settings: LabSettings): ReservoirOptions & { readonly inputSize: 1 } {
  checkHas("settings", settings, "settings of the lab", "size", "topology");
  const { size, spectralRadius, leakRate, connectionProbability, inputScaling, bias, noiseLevel, seed } = settings;
  return {
    ...{ size, inputSize: 1, leakRate, connectionProbability, inputScaling, bias, noiseLevel, seed },
    spectralRadius: hasEffect("spectralRadius", settings.topology) ? spectralRadius : null,
    topology: topologyOf(settings),
  };
}

/** The readout that the settings describe; decimal, as 10 ** -7 need not be 1e-7. */
export function readoutOf({ lambdaExponent, transform, readInput }: LabSettings): FeatureOptions & { readonly lambda: number } {
  return {
    lambda: Number(`1e${lambdaExponent}`),
    ...(transform === "plain" ? {} : { transform }),
    ...(readInput ? { input: true } : {}),
  };
}

/** The topology with its own settings. */
export function topologyOf(settings: LabSettings): TopologyConfig {
  const { topology: type } = settings;
  const ofType = Object.entries(optionSliders).filter(([, [topology]]) => topology === type);
  const options = ofType.map(([slider, [, option]]) => [option, settings[slider as NumericSetting]]);
  return { type, ...Object.fromEntries(options) } as TopologyConfig;
}

/** Settings with every number cut to its range; jumps and blocks to what the size takes as well. */
export function cutToRange(settings: LabSettings): LabSettings {
  const cut = Object.entries(ranges).map(([name, { minimum, maximum, step }]) => {
    const value = settings[name as NumericSetting];
    return [name, Math.min(maximum, Math.max(minimum, Number.isInteger(step) ? Math.round(value) : value))];
  });
  const numbers = Object.fromEntries(cut) as Record<NumericSetting, number>;
  const { size, jump, blocks } = numbers;
  return { ...settings, ...numbers, jump: Math.min(jump, size - 1), blocks: Math.min(blocks, size) };
}

/**
 * The settings in `value`, or the sentence why they are none. Only the size may be larger than its
 * slider goes, up to `largestSize`.
 */
export function parseSettings(value: unknown, largestSize: number): LabSettings | string {
  if (typeof value !== "object" || value === null) return `settings is ${describe(value)}; it takes an object`;
  const given = new Map<string, unknown>(Object.entries(value));
  const wrong = (name: string, takes: string) => `${name} is ${describe(given.get(name))}; it takes ${takes}`;
  for (const [name, range] of Object.entries(ranges)) {
    const number = given.get(name);
    const whole = Number.isInteger(range.step);
    const [least, most] = name === "size" ? [1, largestSize] : [range.minimum, range.maximum];
    if (typeof number !== "number" || !(number >= least && number <= most) || (whole && !Number.isInteger(number)))
      return wrong(name, `a ${whole ? "whole number" : "number"} from ${least} to ${most}`);
  }
  const isOne = (names: readonly unknown[], name: string) => names.includes(given.get(name));
  const known = topologyNames();
  if (!isOne(known, "topology")) return wrong("topology", `one of ${known.join(", ")}`);
  if (!isOne(tasks.names(), "signal")) return wrong("signal", `one of ${tasks.names().join(", ")}`);
  if (!isTransform(given.get("transform"))) return wrong("transform", `one of ${Object.keys(transforms).join(", ")}`);
  if (typeof given.get("readInput") !== "boolean") return wrong("readInput", "true or false");
  const names = Object.keys(defaultSettings);
  return { ...defaultSettings, ...Object.fromEntries(names.map((name) => [name, given.get(name)])) };
}

/** What differs from the defaults, for the end of a link: "size=500&leakRate=0.1". */
export function settingsToLink(settings: LabSettings): string {
  checkHas("settings", settings, "settings of the lab");
  const changed = Object.entries(settings).filter(([name, value]) => value !== defaultSettings[name as keyof LabSettings]);
  return new URLSearchParams(changed.map(([name, value]) => [name, String(value)])).toString();
}

/**
 * A link to two settings beside each other: those of the first, and those of the second in one
 * value.
 */
export function comparisonToLink(first: LabSettings, second: LabSettings | undefined): string {
  const link = new URLSearchParams(settingsToLink(first));
  if (second) link.set(against, settingsToLink(second));
  return link.toString();
}

/** The second settings that a link holds, if any; their signal is that of the first. */
export function secondFromLink(link: string, known: Offered = whatIsHere()): LabSettings | undefined {
  const second = new URLSearchParams(link.replace(/^[#?]/, "")).get(against);
  return second === null ? undefined : { ...settingsFromLink(second, known), signal: settingsFromLink(link, known).signal };
}

const against = "against";

/**
 * Settings from the end of a link. What it does not name, or names wrongly, is the default; a
 * number out of its range is cut to it. `known` are the topologies and signals that there are.
 */
export function settingsFromLink(link: string, known: Offered = whatIsHere()): LabSettings {
  checkText("link", link);
  const given = new URLSearchParams(link.replace(/^[#?]/, ""));
  const changes: Record<string, unknown> = {};
  for (const name of Object.keys(ranges)) {
    const text = given.get(name);
    if (text !== null && text !== "" && Number.isFinite(Number(text))) changes[name] = Number(text);
  }
  const topology = given.get("topology");
  const signal = given.get("signal");
  const transform = given.get("transform");
  if (isTransform(transform)) changes["transform"] = transform;
  if (given.get("readInput") === "true") changes["readInput"] = true;
  if (topology !== null && known.topologies.includes(topology)) changes["topology"] = topology;
  if (signal !== null && known.signals.includes(signal)) changes["signal"] = signal;
  return cutToRange({ ...defaultSettings, ...changes });
}

/**
 * The settings as an experiment for `spillway run`; the page writes it as YAML. `own` is the data,
 * split and task of a file in place of the signal.
 */
export function experimentOf(
  settings: LabSettings,
  own?: Readonly<Record<"data" | "split" | "transforms" | "task", unknown>>,
): Readonly<Record<string, unknown>> {
  const { seed, inputSize: _, ...reservoir } = reservoirOf(settings);
  const isDriven = tasks.find(settings.signal)?.kind === "driven";
  const series = { data: { task: settings.signal, length: 4200 }, split: { train: 3000, test: 1000 } };
  return {
    name: "lab",
    task: taskOf(!isDriven, 1000),
    reservoir,
    readout: { type: "ridge", ...readoutOf(settings) },
    washout: 100,
    seeds: [seed],
    ...(own ?? { ...series, transforms: isDriven ? [] : ["standardise"] }),
  };
}
