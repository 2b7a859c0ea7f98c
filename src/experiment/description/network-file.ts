// An experiment that runs a network of populations: its file has `network` in place of data,
// reservoir and task. It is checked here; network-run.ts runs it.
import { ArgumentError, under } from "@spillway/core/errors.js";
import {
  seed as anySeed,
  anything,
  choice,
  filled,
  flag,
  given,
  type Kind,
  list,
  number,
  object,
  option,
  optional,
  record,
  resolve,
  text,
} from "@spillway/core/options.js";
import { readText } from "@spillway/io";
import type { Seed } from "@spillway/numerics";
import {
  type HpcBenchmarkOptions,
  hpcBenchmark,
  type MicrocircuitOptions,
  microcircuit,
  type NetworkConfig,
  type NetworkOptions,
  planNetwork,
} from "../../spikes/index.js";
import type { NetworkCurrent } from "../../spikes/network/recording.js";
import { networkRunTable, wholeSteps } from "../../spikes/network/recording.js";
import { ExperimentError } from "./errors.js";
import { applyOverrides } from "./overrides.js";
import { readYaml, YamlError } from "./yaml.js";

/** Measures from elsewhere to stand beside a run's, by population. */
export interface NetworkReference {
  readonly name: string;
  /** Hz. */
  readonly rates: Readonly<Record<string, number>>;
  readonly intervalVariation?: Readonly<Record<string, number>> | undefined;
  readonly correlation?: Readonly<Record<string, number>> | undefined;
  /** Only of a network of this scale, and of a microcircuit with this drive. */
  readonly scale?: number | undefined;
  readonly drive?: "dc" | "poisson" | undefined;
}

/** An experiment with a network, every default filled in. */
export interface NetworkExperiment {
  readonly name: string;
  readonly description?: string | undefined;
  /**
   * A description of a network, `{ microcircuit: { scale, drive } }` or `{ hpcBenchmark: { scale }
   * }`.
   */
  readonly network: NetworkOptions | { readonly microcircuit: MicrocircuitOptions } | { readonly hpcBenchmark: HpcBenchmarkOptions };
  readonly seeds: readonly Seed[];
  /** How long spikes are recorded, ms. */
  readonly durationMs: number;
  /** How long the network runs before, ms. */
  readonly discardMs: number;
  /** Currents that begin and end, in ms from the beginning of the recorded time. */
  readonly currents?: readonly NetworkCurrent[] | undefined;
  readonly references: readonly NetworkReference[];
  readonly outputs: { readonly report: boolean; readonly spikes: boolean; readonly weights: boolean };
}

/** Networks that a file may name in place of a description. */
const known = { microcircuit, hpcBenchmark } as const;

/** The one that a network is, and its options; undefined for a description. */
function knownOf(network: object): { readonly name: keyof typeof known; readonly options: object } | undefined {
  const name = (["microcircuit", "hpcBenchmark"] as const).find((each) => Object.hasOwn(network, each));
  return name && { name, options: (network as Readonly<Record<string, object>>)[name]! };
}

const numbers = record(number(), "an object of numbers by population");
const duration = number({ above: 0, unit: "ms" });
const table = {
  name: given(text("the name of the run's folder"), "The name of the run's folder."),
  description: optional(text(), "A sentence for the report."),
  network: given(
    anything as Kind<Record<string, unknown>>,
    "A network, { microcircuit: { scale, drive } } or { hpcBenchmark: { scale } }.",
  ),
  seed: optional(anySeed, "One seed."),
  seeds: optional(list(anySeed, "a list of seeds", 1), "Several seeds."),
  durationMs: option(duration, 1000, "How long spikes are recorded."),
  discardMs: option(number({ atLeast: 0, unit: "ms" }), 500, "How long the network runs before."),
  currents: networkRunTable.currents,
  references: option(
    list(
      object({
        name: given(text(), "Where they are from."),
        rates: given(numbers, "Hz."),
        intervalVariation: optional(numbers, "Coefficients of variation."),
        correlation: optional(numbers, "Correlations of counts."),
        scale: optional(number({ above: 0 }), "Only of a network of this scale."),
        drive: optional(choice("dc", "poisson"), "Only with this drive."),
      }),
      "a list of references",
    ),
    [],
    "Measures from elsewhere.",
  ),
  outputs: filled(
    object({
      report: option(flag, true, "Write report.html."),
      spikes: option(flag, false, "Write spikes.npz of the first seed."),
      weights: option(flag, false, "Write weights.npz of the first seed: plastic synapses as they are at the end."),
    }),
    "What a run writes.",
  ),
};

/** Whether the fields of a file are those of an experiment with a network. */
export function isNetworkExperiment(source: unknown): boolean {
  return typeof source === "object" && source !== null && Object.hasOwn(source, "network");
}

/** Checks an experiment with a network. @throws ArgumentError naming the field */
export function readNetworkExperiment(source: unknown): NetworkExperiment {
  if (typeof source !== "object" || source === null) throw new ArgumentError("the experiment", source, "an object with name and network");
  const { seed, seeds, network, ...rest } = resolve(table, source);
  if (typeof network !== "object" || network === null)
    throw new ArgumentError("network", network, "an object with populations, with microcircuit or with hpcBenchmark");
  if (!/^[\w.-]+$/.test(rest.name)) throw new ArgumentError("name", rest.name, "letters, digits, ., - and _: it names a folder");
  const experiment: NetworkExperiment = {
    ...rest,
    network: network as NetworkExperiment["network"],
    seeds: seeds ?? [seed ?? "spillway"],
  };
  const { timeStep, projections } = configOf(experiment);
  if (rest.outputs.weights && !projections.some(({ plasticity }) => plasticity?.kind === "stdp"))
    throw new ArgumentError("outputs.weights", true, "false, as no projection has spike-timing-dependent plasticity");
  wholeSteps(rest.durationMs, timeStep, "durationMs");
  if (rest.discardMs > 0) wholeSteps(rest.discardMs, timeStep, "discardMs");
  return experiment;
}

/** Checks the network, without drawing it. @throws ArgumentError */
function configOf(experiment: NetworkExperiment): NetworkConfig {
  const name = knownOf(experiment.network)?.name;
  return under(name ? `network.${name}` : "network", () => planNetwork(networkOf(experiment, experiment.seeds[0]!)).config);
}

/** The description of a seed's network. @throws ArgumentError */
export function networkOf({ network }: NetworkExperiment, seed: Seed): NetworkOptions {
  const named = knownOf(network);
  if (!named) return { ...(network as NetworkOptions), kind: "network", seed };
  const { name, options } = named;
  const other = Object.keys(network).find((each) => each !== name);
  if (other) throw ArgumentError.because(`beside network.${name} there may be no ${other}`);
  return known[name]({ ...options, seed });
}

/** References that are of this network. */
export function referencesOf({ network, references }: NetworkExperiment): readonly NetworkReference[] {
  const { scale = 1, drive = "dc" }: MicrocircuitOptions = knownOf(network)?.options ?? {};
  return references.filter((each) => (each.scale ?? scale) === scale && (each.drive ?? drive) === drive);
}

/**
 * The experiment with a network that a file describes; undefined if it describes another one.
 * @param scale that of a network which the file names, as an override
 * @throws FileError, ExperimentError naming line and field
 */
export async function loadNetworkExperiment(
  path: string,
  overrides: readonly string[] = [],
  scale?: string | undefined,
): Promise<NetworkExperiment | undefined> {
  const written = await readText(path);
  try {
    const { value, lineOf } = readYaml(written);
    if (!isNetworkExperiment(value)) return undefined;
    try {
      return readNetworkExperiment(applyOverrides(value, scale === undefined ? overrides : [...overrides, scaleOf(value, scale)]));
    } catch (error) {
      if (!(error instanceof ArgumentError)) throw error;
      throw new ExperimentError(error.message, { path, line: lineOf(error.field), field: error.field, cause: error });
    }
  } catch (error) {
    // Text that is no YAML is what loadExperiment says it is.
    if (error instanceof YamlError) return undefined;
    throw error;
  }
}

/** The override that gives a network its scale. @throws ArgumentError if it has none */
function scaleOf(source: unknown, scale: string): string {
  const { network } = source as { readonly network: unknown };
  const named = typeof network === "object" && network !== null ? knownOf(network) : undefined;
  if (!named) throw new ArgumentError("--scale", scale, `a file whose network is one of ${Object.keys(known).join(", ")}`);
  return `network.${named.name}.scale=${scale}`;
}
