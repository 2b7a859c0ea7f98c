// `model` of an experiment: what forecasts in place of one reservoir, and with which options.
// tasks/forecast.ts trains it.
import { ArgumentError } from "@spillway/core/errors.js";
import { choice, given, type Kind, number, object, optional, type TableOf } from "@spillway/core/options.js";
import { fieldTable } from "../../model/field/options.js";
import type { FieldSettings, NvarSettings } from "../../model/index.js";
import { nvarTable } from "../../model/nvar/options.js";

/** One reservoir or its ensemble, a `Forecaster`: what forecasts if nothing is said. */
export interface ForecasterDescription {
  readonly type: "forecaster";
}

/** Polynomials of delays, an `NvarForecaster`. */
export interface NvarDescription
  extends Pick<NvarSettings, "delays" | "stride" | "degrees" | "constant" | "target" | "neighbours" | "hold" | "arithmetic"> {
  readonly type: "nvar";
  /** Left out, it is chosen by forecasts; for a short series it is 1e-6. */
  readonly lambda?: number | undefined;
}

/** Local reservoirs over a field, a `FieldForecaster`. */
export interface FieldDescription extends Pick<FieldSettings, "groups" | "shape" | "channels" | "halo" | "edges" | "shared" | "hold"> {
  readonly type: "field";
}

/** What forecasts. */
export type ModelDescription = ForecasterDescription | NvarDescription | FieldDescription;

/** Models by their names. */
export type ModelType = ModelDescription["type"];

const { delays, stride, degrees, constant, target, neighbours, hold, arithmetic } = nvarTable;
const { groups, shape, channels, halo, edges, shared, hold: holdField } = fieldTable;

/** The options of `model` with type nvar. */
export const nvarModelTable = {
  type: given(choice("nvar"), "Which model."),
  delays,
  stride,
  degrees,
  lambda: optional(number({ atLeast: 0 }), "The penalty on squared weights; left out, it is chosen by forecasts."),
  constant,
  target,
  neighbours,
  hold,
  arithmetic,
} satisfies TableOf<NvarDescription>;

/** The options of `model` with type field. */
export const fieldModelTable = {
  type: given(choice("field"), "Which model."),
  groups,
  shape,
  channels,
  halo,
  edges,
  shared,
  hold: holdField,
} satisfies TableOf<FieldDescription>;

/** What `model` takes, by its type. */
export const modelSchemas = {
  forecaster: object({ type: given(choice("forecaster"), "") }),
  nvar: object(nvarModelTable),
  field: object(fieldModelTable),
} satisfies Readonly<Record<ModelType, Kind<unknown>>>;

/** Which model forecasts. */
export function modelTypeOf({ model }: { readonly model?: ModelDescription | undefined }): ModelType {
  return model?.type ?? "forecaster";
}

/** k delays with stride s reach over (k - 1) s + 1 rows. */
export function historyOf({ delays, stride }: Pick<NvarDescription, "delays" | "stride">): number {
  return (delays - 1) * stride + 1;
}

/** "polynomials of 24 delays, degrees 2 and 3" */
export function describeModel(model: ModelDescription): string {
  if (model.type === "nvar") {
    const { delays, stride, degrees, neighbours } = model;
    return [
      `polynomials of ${delays} delay${delays === 1 ? "" : "s"}${stride > 1 ? `, ${stride} rows apart` : ""}`,
      degrees.length === 0 ? "linear" : `degree${degrees.length > 1 ? "s" : ""} ${degrees.join(", ")}`,
      ...(neighbours === null ? [] : [`${neighbours} neighbours on each side`]),
    ].join(", ");
  }
  if (model.type === "field") {
    const both = (value: number | string | readonly (number | string)[]) => [value].flat().join(" x ");
    const { groups, shape, halo, edges, shared, channels } = model;
    return [
      `${both(groups)} reservoirs over a ${shape ? `grid of ${both(shape)} sites` : "line"}`,
      ...(channels > 1 ? [`${channels} values a site`] : []),
      `halo ${both(halo)}`,
      both(edges),
      shared ? "shared weights" : "weights of their own",
    ].join(", ");
  }
  return "a reservoir, or several";
}

/** An error of a model's own option, by its field in an experiment. */
export function underModel(error: unknown, { model }: { readonly model?: ModelDescription | undefined }): unknown {
  if (!(error instanceof ArgumentError) || model === undefined) return error;
  const [top = ""] = error.field.split(/[.[]/);
  return Object.hasOwn(model, top) ? error.under("model") : error;
}
