// A reservoir of a registered kind as tensors and notes, and back. What else a model file holds is
// in content.ts.
import { isSparse } from "@spillway/numerics";
import type { KindMatrix, RegisteredModel } from "../reservoir/index.js";
import { floats, type MutableContent } from "./mutable-content.js";
import { stableJson } from "./stable-json.js";
import type { TensorReader } from "./tensor-reader.js";

/**
 * A tensor for each matrix of the kind, by its name (`name.values`, `name.columns` and
 * `name.rowOffsets` of a CSR form), and `initial`, states and then hidden values; note
 * `${prefix}reservoir` with the configuration.
 */
export function putRegistered({ tensors, metadata }: MutableContent, prefix: string, model: RegisteredModel): void {
  const { matrices, initialState, initialBelow, config } = model;
  for (const [name, matrix] of Object.entries(matrices)) {
    if (!isSparse(matrix)) {
      tensors[prefix + name] = floats(matrix.data, [matrix.rows, matrix.cols]);
      continue;
    }
    const { values, columns, rowOffsets } = matrix;
    tensors[`${prefix}${name}.values`] = floats(values);
    tensors[`${prefix}${name}.columns`] = { dtype: "U32", shape: [columns.length], data: columns };
    tensors[`${prefix}${name}.rowOffsets`] = { dtype: "U32", shape: [rowOffsets.length], data: rowOffsets };
  }
  tensors[`${prefix}initial.states`] = floats(initialState);
  if (initialBelow.length > 0) tensors[`${prefix}initial.hidden`] = floats(initialBelow);
  metadata[`${prefix}reservoir`] = stableJson({ config });
}

/**
 * @throws ModelFileError if its kind is not registered, or a tensor is not one of its description
 */
export async function getRegistered(reader: TensorReader, prefix: string, note: { readonly config: object }): Promise<RegisteredModel> {
  const { reservoirKinds } = await import("../reservoir/registered/kind.js");
  const { registeredModel, resolveRegistered } = await import("../reservoir/registered/model.js");
  return reader.check(`reservoir "${prefix}reservoir"`, () => {
    const config = resolveRegistered(note.config);
    const { states, hidden = 0, matrices: shapes } = reservoirKinds.get(config.kind, "kind").sizes(config);
    const { precision } = config;
    const matrices = Object.entries(shapes).map(([name, [rows, cols]]): [string, KindMatrix] => {
      const tensor = prefix + name;
      if (!reader.has(`${tensor}.values`)) return [name, reader.matrix(tensor, rows, cols, precision)];
      const columns = reader.indices(`${tensor}.columns`);
      const rowOffsets = reader.indices(`${tensor}.rowOffsets`, rows + 1);
      return [name, { rows, cols, rowOffsets, columns, values: reader.vector(`${tensor}.values`, columns.length, precision) }];
    });
    const start = [
      ...reader.vector(`${prefix}initial.states`, states, precision),
      ...(hidden > 0 ? reader.vector(`${prefix}initial.hidden`, hidden, precision) : []),
    ];
    return registeredModel(config, { initial: start, matrices: Object.fromEntries(matrices) });
  });
}
