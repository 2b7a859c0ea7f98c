// Reads a reservoir's description: fills in defaults, and checks every field by itself and with the
// others.
import { ArgumentError } from "@spillway/core/errors.js";
import { type Resolved, resolve } from "@spillway/core/options.js";
import { hasOrthogonal } from "./cell-options.js";
import { isComposite } from "./composite/config.js";
import type { ReservoirConfig, ReservoirOptions } from "./config.js";
import { reservoirKind, reservoirTable } from "./config-table.js";
import { checkInteger } from "./integer/weights.js";
import { checkTopology } from "./topologies/index.js";
import { isQuantized, quantizedTakes } from "./weight-rounding.js";

type Parsed = Resolved<typeof reservoirTable>;

/**
 * Fills in defaults and checks every field. @throws ArgumentError naming the field, the value and
 * what it takes.
 */
export function resolveConfig(options: ReservoirOptions): ReservoirConfig {
  if (typeof options !== "object" || options === null) throw new ArgumentError("config", options, reservoirKind.takes);
  if (isComposite(options))
    throw ArgumentError.because("the reservoir is composed of layers or groups; this takes a single rate reservoir", {
      field: options.layers ? "layers" : "groups",
    });
  const { feedback, ...rest } = withCell(resolve(reservoirTable, options), options);
  checkLength("leakRate", rest.leakRate, rest.size, "neuron");
  checkLength("inputScaling", rest.inputScaling, rest.inputSize, "input");
  if (Array.isArray(rest.initialState)) checkLength("initialState", rest.initialState, rest.size, "neuron");
  checkTopology(rest.topology, rest.size);
  if (rest.arithmetic === "integer") checkInteger(rest as Omit<ReservoirConfig, "feedback">);
  else checkWeightPrecision(rest);
  if (feedback === null) return { ...rest, feedback };
  const { size = 1 } = feedback;
  checkLength("feedback.scaling", feedback.scaling, size, "output");
  return { ...rest, feedback: { ...feedback, size } };
}

/**
 * A description whose cell has no leak rates and, with a matrix O, a dense W. @throws ArgumentError
 */
function withCell(config: Parsed, { leakRate }: ReservoirOptions): Parsed {
  if (!config.cell) return config;
  if (leakRate !== undefined && leakRate !== 1)
    throw new ArgumentError("leakRate", leakRate, `nothing beside the cell "${config.cell.type}", which has no leak`);
  if (!hasOrthogonal(config)) return { ...config, leakRate: 1 };
  if (config.storage === "sparse")
    throw new ArgumentError("storage", "sparse", `"dense" or "auto" for the cell "${config.cell.type}", whose O is dense`);
  return { ...config, leakRate: 1, storage: "dense" };
}

function checkLength(field: string, value: number | readonly number[] | object, length: number, each: string): void {
  if (Array.isArray(value) && value.length !== length) throw new ArgumentError(field, value, `a number, or one per ${each} (${length})`);
}

function checkWeightPrecision({ weightPrecision, arithmetic, precision, storage }: Omit<Parsed, "feedback">): void {
  if (!isQuantized(weightPrecision)) return;
  const refuse = (needs: string): never => {
    throw new ArgumentError("weightPrecision", weightPrecision, quantizedTakes(needs));
  };
  if (arithmetic !== "fast") refuse('arithmetic: "fast"');
  if (precision !== "float32") refuse('precision: "float32"');
  if (storage === "sparse") refuse('a W that is stored dense; set storage: "dense"');
}
