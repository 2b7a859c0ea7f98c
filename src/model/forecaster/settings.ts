// What the options of a Forecaster mean: its settings, written out, and what it is made from. It
// runs nothing.
import { resolve } from "@spillway/core/options.js";
import type { Trainer } from "../../readout/index.js";
import type { AnyReservoirOptions, EngineSelection } from "../../reservoir/index.js";
import { descriptionOf, forecasterReservoir, forecasterTrainer, withClassTargets, withStandardise } from "../defaults.js";
import { hybridUse } from "./hybrid.js";
import type { ForecasterOptions, ForecasterSettings } from "./options.js";
import { opensCalendar, planCandidates, plannedReadout, plannedSize } from "./plan.js";

/** What a forecaster is made from, beside its settings. */
export interface ForecasterSource extends EngineSelection, Pick<ForecasterOptions, "matrices" | "profile" | "model"> {
  readonly reservoir: AnyReservoirOptions;
}

/** A forecaster that is not trained yet. */
export interface DescribedForecaster {
  readonly source: ForecasterSource;
  readonly settings: ForecasterSettings;
  readonly trainer: Trainer;
}

/** Checks the options. @throws ArgumentError, and what the trainer of the readout throws */
export async function describedForecaster(options: ForecasterOptions): Promise<DescribedForecaster> {
  const { forecasterOptionsTable, plannedOptionsTable, parseForecasterSettings } = await import("../schemas.js");
  const {
    reservoir: described,
    matrices,
    engine,
    context,
    plan,
    threads,
    profile,
    model,
    readout,
    ...rest
  } = resolve(options?.horizon === undefined ? forecasterOptionsTable : plannedOptionsTable, options);
  const isPlanned = rest.horizon !== undefined;
  const isRate = described === undefined || !("kind" in described);
  const sized = isPlanned && isRate ? ({ size: plannedSize, ...described } as AnyReservoirOptions) : (described as AnyReservoirOptions);
  const reservoir = matrices ? sized : forecasterReservoir(sized);
  const hybrid = hybridUse(model, rest.hybrid);
  const trainer = forecasterTrainer(readout, typeof rest.lags === "number" ? rest.lags : 0, hybrid);
  const said = withClassTargets(withStandardise(rest, reservoir), trainer);
  const isOpen = opensCalendar(rest, reservoir, matrices !== undefined || model !== undefined);
  const settings = parseForecasterSettings({
    ...said,
    ...(isOpen && { calendar: "choose" }),
    hybrid,
    ...(isPlanned && { washout: rest.washout ?? "auto", lags: rest.lags ?? (rest.season === undefined ? 0 : "season") }),
    readout: isPlanned ? plannedReadout(readout, rest) : descriptionOf(trainer),
  });
  planCandidates(settings, reservoir, matrices !== undefined);
  return { source: { reservoir, matrices, engine, context, plan, threads, profile, model }, settings, trainer };
}
