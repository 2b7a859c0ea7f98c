// What the fields of a composed reservoir's description are and take.
import { ArgumentError, under } from "@spillway/core/errors.js";
import { checked, choice, given, list, object, option, optional, resolve, whole, withoutDefaults } from "@spillway/core/options.js";
import type { ReservoirOptions } from "../config.js";
import { resolveConfig } from "../config-schema.js";
import { reservoirTable } from "../config-table.js";
import { type CompositeConfig, type CompositeOptions, type GroupConfig, partsOf } from "./config.js";

const { size, feedback: _, ...others } = reservoirTable;
const noFeedback = checked<null>("nothing: a composed reservoir feeds no outputs back", (value) => value === null, { type: "null" });
const partTable = {
  ...withoutDefaults(others),
  size: optional(size, "N, the number of neurons."),
  feedback: optional(noFeedback, "A composed reservoir has none."),
};
const groupTable = {
  ...partTable,
  inputs: optional(list(whole(), "a list of input channels, from 0", 1), "Input channels that it sees, from 0; left out, all."),
};

const takes = "an object that describes a reservoir";
const layersKind = list(object(partTable, takes), "a list of descriptions of reservoirs, the lowest first", 1);
const groupsKind = list(object(groupTable, takes), "a list of descriptions of reservoirs", 1);

/** What a deep reservoir's description has beside the fields of its layers. */
export const deepTable = {
  layers: given(layersKind, "Reservoirs on top of one another; each sees the new state of the one below."),
  read: option(choice("all", "last"), "all", "Whether states are those of all layers, or of the last alone."),
};

/** What a grouped reservoir's description has beside the fields of its groups. */
export const groupsTable = {
  groups: given(groupsKind, "Reservoirs side by side; each sees the input, or those of its channels that its `inputs` lists."),
};

const layeredTable = { ...deepTable, ...partTable };
const groupedTable = { ...groupsTable, ...partTable };

/** A deep reservoir as a field of something larger. */
export const layeredKind = object(layeredTable, "an object that describes a deep reservoir, at least {layers}");
/** A grouped reservoir as a field of something larger. */
export const groupedKind = object(groupedTable, "an object that describes a grouped reservoir, at least {groups}");

/**
 * Fills in the defaults of every part and checks them. @throws ArgumentError naming the field, the
 * value and what it takes
 */
export function resolveComposite(options: CompositeOptions): CompositeConfig {
  if (options.layers !== undefined && options.groups !== undefined)
    throw ArgumentError.because("layers and groups are given; a composed reservoir takes one of the two", { field: "groups" });
  const isDeep = options.layers !== undefined;
  resolve(isDeep ? layeredTable : groupedTable, options);
  const { inputSize = 1, precision = "float32", seed = "spillway", layers, groups, read: reads, ...beside } = options;
  const whole = { inputSize, precision, seed };
  const given = partsOf(options);
  const parts: GroupConfig[] = [];
  for (const [p, part] of given.entries()) {
    const path = `${isDeep ? "layers" : "groups"}[${p}]`;
    const below = isDeep ? parts[p - 1]?.size : undefined;
    const { inputs, ...own } = part;
    if (inputs) checkChannels(inputs, `${path}.inputs`, inputSize);
    const sees = below ?? inputs?.length ?? inputSize;
    agree(part.precision, precision, `${path}.precision`, "the whole has one precision; say it beside the list");
    agree(part.inputSize, sees, `${path}.inputSize`, "it follows from what the part sees; leave it out");
    const partSeed = p === 0 ? seed : `${seed}/${isDeep ? "layer" : "group"} ${p + 1}`;
    const scaling = below === undefined ? {} : { inputScaling: 1 / Math.sqrt(below) };
    const described = { ...beside, ...scaling, seed: partSeed, ...defined(own), inputSize: sees, precision } as ReservoirOptions;
    parts.push({ ...under(path, () => resolveConfig(described)), feedback: null, ...(inputs ? { inputs } : {}) });
  }
  return isDeep ? { layers: parts, read: reads ?? "all", ...whole } : { groups: parts, ...whole };
}

function agree(own: unknown, wanted: unknown, field: string, why: string): void {
  if (own !== undefined && own !== wanted) throw new ArgumentError(field, own, `${JSON.stringify(wanted)}: ${why}`);
}

function checkChannels(inputs: readonly number[], field: string, inputSize: number): void {
  const bad = inputs.findIndex((channel, i) => channel >= inputSize || inputs.indexOf(channel) !== i);
  if (bad >= 0)
    throw new ArgumentError(`${field}[${bad}]`, inputs[bad], `an input channel from 0 to ${inputSize - 1} (inputSize), each once`);
}

/** The fields that are given. */
function defined(options: object): object {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}
