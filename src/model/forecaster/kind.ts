// How models of one kind are made, from options and from a file.
import type { LoadOptions, loadTable, ModelFile } from "../model-file.js";
import type { ClockNote } from "./clock.js";
import type { KeptRows } from "./kept-rows.js";
import type { LastRows } from "./missing.js";
import type { ForecastModel, Trained } from "./model.js";

/** The members of a model. */
export type MemberOf<Model extends ForecastModel> = Parameters<Model["fit"]>[1][number];

/** A forecaster from a file. */
export interface Opened<Model extends ForecastModel> {
  readonly model: Model;
  readonly trained: Trained<MemberOf<Model>>;
  /** Undefined if it was trained without time stamps. */
  readonly time: ClockNote | undefined;
  readonly last: LastRows;
  /** The rows that it was trained on, of a combination. */
  readonly kept?: KeptRows | undefined;
  /** Of several series each by its key; the forecaster is at the last of them. */
  readonly series?: ReadonlyMap<string, Omit<Opened<Model>, "model" | "series">> | undefined;
}

/** How models of one kind are made: from options, and from a file. */
export interface ForecasterKind<Model extends ForecastModel, Options, Loading extends LoadOptions> {
  readonly kind: Model["kind"];
  create(options: Options): Promise<Model>;
  /** The options of `fromBytes` and `load`. */
  readonly loadTable: typeof loadTable;
  open(file: ModelFile, options: Loading & { readonly source: string }): Promise<Opened<Model>>;
}
