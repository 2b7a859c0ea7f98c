// A reservoir and a readout as tensors and notes, and back. The parts carry a prefix: one file can
// hold several.
import type { SafetensorsTensor } from "@spillway/io/safetensors-types.js";
import { isSparse, Matrix } from "@spillway/numerics";
import { TrainedReadout } from "../readout/index.js";
import { isComposite } from "../reservoir/composite/config.js";
import {
  type AnyModel,
  type CompositeModel,
  type CompositeOptions,
  featureCount,
  type LinearReadout,
  type ReservoirModel,
  type ReservoirOptions,
  type SessionState,
} from "../reservoir/index.js";
import { checkSteps } from "../reservoir/integer/weights.js";
import { isRegistered } from "../reservoir/registered/model.js";
import { floats, type MutableContent } from "./mutable-content.js";
import { readoutNote, reservoirNote, stateNote } from "./notes.js";
import { getRegistered, putRegistered } from "./registered-content.js";
import { getNetwork, getSpiking, putNetwork, putSpiking } from "./spiking-content.js";
import { stableJson } from "./stable-json.js";
import type { TensorReader } from "./tensor-reader.js";

/**
 * Tensors `${prefix}weights` (N x N; or `weights.values`, `weights.columns` and
 * `weights.rowOffsets` of its CSR form), `inputWeights` (N x I), `bias`, `initialState` (N), and
 * `feedbackWeights` (N x O) if there is feedback, `orthogonal` (N x N) if the cell has one; note
 * `${prefix}reservoir` with the configuration and how its radius was measured. Leak rates and noise
 * follow from the configuration. A spiking reservoir: see spiking-content.ts; one of a registered
 * kind: see registered-content.ts. A composed one: each part under
 * `${prefix}parts.0.` and so on, and the configuration of the whole.
 */
export function putReservoir(content: MutableContent, prefix: string, model: AnyModel): void {
  if (model.kind === "spiking") {
    putSpiking(content, prefix, model);
    return;
  }
  if (model.kind === "composite") {
    for (const [p, part] of model.parts.entries()) putReservoir(content, partPrefix(prefix, p), part);
    content.metadata[`${prefix}reservoir`] = stableJson({ config: model.config });
    return;
  }
  if (model.kind === "registered") {
    putRegistered(content, prefix, model);
    return;
  }
  const { weights, inputWeights, feedbackWeights, config, measuredRadius, radiusMethod, size } = model;
  const put = (name: string, tensor: SafetensorsTensor): void => {
    content.tensors[prefix + name] = tensor;
  };
  if (isSparse(weights)) {
    put("weights.values", floats(weights.values));
    put("weights.columns", { dtype: "U32", shape: [weights.columns.length], data: weights.columns });
    put("weights.rowOffsets", { dtype: "U32", shape: [size + 1], data: weights.rowOffsets });
  } else put("weights", floats(weights.data, [size, size]));
  put("inputWeights", floats(inputWeights.data, [size, inputWeights.cols]));
  put("bias", floats(model.bias));
  put("initialState", floats(model.initialState));
  if (model.cell?.orthogonal) put("orthogonal", floats(model.cell.orthogonal.data, [size, size]));
  if (feedbackWeights) put("feedbackWeights", floats(feedbackWeights.data, [size, feedbackWeights.cols]));
  content.metadata[`${prefix}reservoir`] = stableJson({ config, measuredRadius, radiusMethod });
}

function partPrefix(prefix: string, part: number): string {
  return `${prefix}parts.${part}.`;
}

async function getComposite(reader: TensorReader, prefix: string, described: object): Promise<CompositeModel> {
  const [{ resolveComposite }, { compose, partConfigs }] = await Promise.all([
    import("../reservoir/composite/schema.js"),
    import("../reservoir/composite/model.js"),
  ]);
  const config = reader.check(`reservoir "${prefix}reservoir"`, () => resolveComposite(described as CompositeOptions));
  const parts: ReservoirModel[] = [];
  for (const [p, wanted] of partConfigs(config).entries()) {
    const part = await getReservoir(reader, partPrefix(prefix, p));
    const { size, inputSize, precision } = part;
    const fits = size === wanted.size && inputSize === wanted.inputSize && precision === wanted.precision;
    if (part.kind !== undefined || part.outputSize > 0 || !fits)
      throw reader.error(`part ${p} of its reservoir is not the one that the whole describes`);
    parts.push(part);
  }
  return compose(config, parts);
}

/** @throws ModelFileError if the note or a tensor does not describe a reservoir */
export async function getReservoir(reader: TensorReader, prefix: string): Promise<AnyModel> {
  const found = reader.json(`${prefix}reservoir`) as { readonly config?: { readonly kind?: unknown } } | null;
  if (found?.config?.kind === "spiking") return getSpiking(reader, prefix, { config: found.config });
  if (found?.config && isRegistered(found.config)) return getRegistered(reader, prefix, { config: found.config });
  if (found?.config && isComposite(found.config)) return getComposite(reader, prefix, found.config);
  const [{ resolveConfig }, { buildModel }, { cellWeights }, { hasOrthogonal }] = await Promise.all([
    import("../reservoir/config-schema.js"),
    import("../reservoir/weights.js"),
    import("../reservoir/cell.js"),
    import("../reservoir/cell-options.js"),
  ]);
  return reader.check(`reservoir "${prefix}reservoir"`, () => {
    const note = reservoirNote.read(found, "reservoir");
    // Older files say the size of the feedback a second time.
    const { outputSize: _, ...described } = note.config as ReservoirOptions & { readonly outputSize?: unknown };
    const config = resolveConfig(described);
    const { size, inputSize, feedback, precision, storage } = config;
    if (storage === "auto") throw reader.error('its storage is "auto"; a model that was made is "dense" or "sparse"');
    const weights =
      storage === "dense"
        ? reader.matrix(`${prefix}weights`, size, size, precision)
        : {
            rows: size,
            cols: size,
            rowOffsets: reader.indices(`${prefix}weights.rowOffsets`, size + 1),
            columns: reader.indices(`${prefix}weights.columns`),
            values: reader.vector(`${prefix}weights.values`, reader.lengthOf(`${prefix}weights.columns`), precision),
          };
    const own = {
      weights,
      inputWeights: reader.matrix(`${prefix}inputWeights`, size, inputSize, precision),
      bias: new Matrix(size, 1, reader.vector(`${prefix}bias`, size, precision)),
      initialState: new Matrix(size, 1, reader.vector(`${prefix}initialState`, size, precision)),
      ...(feedback ? { feedbackWeights: reader.matrix(`${prefix}feedbackWeights`, size, feedback.size, precision) } : {}),
    };
    // The weights of a cell are stored as its steps use them, and are not made anew.
    const { cell, ...leaky } = config;
    const orthogonal = hasOrthogonal(config) ? reader.matrix(`${prefix}orthogonal`, size, size, precision) : undefined;
    const made = cell ? cellWeights(config, orthogonal) : {};
    return { ...buildModel(leaky, own), ...made, config, measuredRadius: note.measuredRadius, radiusMethod: note.radiusMethod };
  });
}

/**
 * Tensors `${prefix}readout.weights` (O x F) and `readout.intercept` (O), note `${prefix}readout`
 * with the features and how it was trained.
 */
export function putReadout(content: MutableContent, prefix: string, readout: LinearReadout): void {
  const { weights, intercept, features, stateSize, inputSize } = readout;
  content.tensors[`${prefix}readout.weights`] = floats(weights.data, [weights.rows, weights.cols]);
  content.tensors[`${prefix}readout.intercept`] = floats(intercept);
  const training = readout instanceof TrainedReadout ? readout.training : undefined;
  content.metadata[`${prefix}readout`] = stableJson({ features, stateSize, inputSize, training });
}

/**
 * @throws ModelFileError if the note or a tensor does not describe a readout of this many state
 * neurons and inputs
 */
export function getReadout(reader: TensorReader, prefix: string, stateSize: number, inputSize: number): TrainedReadout {
  return reader.check(`readout "${prefix}readout"`, () => {
    const { training, ...note } = readoutNote.read(reader.json(`${prefix}readout`), "readout");
    if (note.stateSize !== stateSize || (note.features.input && note.inputSize !== inputSize)) {
      throw reader.error(
        `its readout takes ${note.stateSize} neurons and ${note.inputSize} inputs, and its reservoir has ${stateSize} and ${inputSize}`,
      );
    }
    const outputs = reader.lengthOf(`${prefix}readout.intercept`);
    const features = featureCount(note.features, note.stateSize, note.inputSize);
    const weights = reader.matrix(`${prefix}readout.weights`, outputs, features, "float64") as Matrix<Float64Array>;
    const intercept = reader.vector(`${prefix}readout.intercept`, outputs, "float64") as Float64Array;
    return new TrainedReadout({ ...note, weights, intercept }, training);
  });
}

/**
 * Tensors `${prefix}state.values`, `state.input` and `state.output`, note `state` with the step:
 * where a run stands.
 */
export function putState(content: MutableContent, prefix: string, state: SessionState): void {
  content.tensors[`${prefix}state.values`] = floats(state.values);
  content.tensors[`${prefix}state.input`] = floats(state.input);
  content.tensors[`${prefix}state.output`] = floats(state.output);
  if (state.network) putNetwork(content, prefix, state.network);
  if (state.below) content.tensors[`${prefix}state.below`] = floats(state.below);
  content.metadata[`${prefix}state`] = stableJson({ step: state.step });
}

/** @throws ModelFileError if the state is not one of this reservoir */
export function getState(reader: TensorReader, prefix: string, model: AnyModel): SessionState {
  const { precision } = model;
  return reader.check("state", () => {
    const values = reader.vector(`${prefix}state.values`, model.size, precision);
    if (model.kind === undefined && model.config.arithmetic === "integer") checkSteps(values);
    return {
      values,
      input: reader.vector(`${prefix}state.input`, model.inputSize, precision),
      output: reader.vector(`${prefix}state.output`, model.outputSize, precision),
      step: stateNote.read(reader.json(`${prefix}state`), "state").step,
      ...(model.kind === "spiking" ? { network: getNetwork(reader, prefix, model) } : {}),
      ...("below" in model && model.below > 0 ? { below: reader.vector(`${prefix}state.below`, model.below, precision) } : {}),
    };
  });
}
