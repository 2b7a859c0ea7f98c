// NvarForecaster: a Forecaster whose model is polynomials of delays. member.ts runs them, training.ts
// fits the weights, features.ts makes the features, step.ts computes a step.
import { ArgumentError } from "@spillway/core/errors.js";
import { resolve } from "@spillway/core/options.js";
import { chooseEngine, type WorkOptions } from "../../reservoir/index.js";
import { partOf } from "../../reservoir/work.js";
import type { CheckedSeries } from "../forecaster/data.js";
import { evaluate } from "../forecaster/evaluate.js";
import { type Forecaster, type ForecasterConstructors, forecastersOf } from "../forecaster/forecaster.js";
import { checkChoose, chooseDefaults } from "../forecaster/lambda-choice.js";
import type { FitRows, ForecastModel, Trained } from "../forecaster/model.js";
import type { RowKind } from "../forecaster/rows.js";
import { checkHost, type LoadOptions, loadTable } from "../model-file.js";
import type { MutableContent } from "../mutable-content.js";
import { NvarFeatures } from "./features.js";
import { decodeNvar, encodeNvar } from "./file.js";
import { fitNvarMembers, NvarMember } from "./member.js";
import { type NvarOptions, type NvarSettings, nvarOptionsTable } from "./options.js";
import { type LeastSquares, leastSquaresHere } from "./training.js";

/** NVAR as it is described. */
export class NvarModel implements ForecastModel<NvarSettings, NvarMember> {
  readonly kind = "nvar";
  readonly settings: NvarSettings;
  readonly #engine: string | undefined;

  constructor(settings: NvarSettings, engine?: string) {
    this.settings = settings;
    this.#engine = engine;
  }

  get rows(): RowKind {
    return { feedback: false, pairs: false, maskInput: false, exact: this.settings.arithmetic === "doubleDouble" };
  }

  /** @throws ArgumentError, SingularFitError, WorkInterruptedError, EngineUnavailableError */
  async fit({ data, masks }: FitRows, _: readonly NvarMember[], work: WorkOptions): Promise<Trained<NvarMember>> {
    const { settings } = this;
    const { horizon, choose, lambda, targets, delays, stride } = settings;
    const solve = await solverOn(this.#engine, settings);
    const series = data as readonly CheckedSeries[];
    const { history } = new NvarFeatures(settings, series[0]!.series.cols, series[0]!.known?.cols);
    series.forEach(({ series: { rows } }, s) => {
      if (rows > history) return;
      throw ArgumentError.shape(
        `${series.length > 1 ? `sequences[${s}]` : "series"} has ${rows} rows; ${delays} delays with stride ${stride} ` +
          `reach over ${history} and take at least one more`,
      );
    });
    if (horizon === undefined)
      return { members: await fitNvarMembers(settings, series, masks, [lambda], solve, work), groups: [0], choice: undefined };
    const lambdas = choose?.lambdas ?? chooseDefaults.lambdas;
    const tried = async (training: readonly CheckedSeries[], signal: AbortSignal | undefined) => {
      const tries = await fitNvarMembers(settings, training, masks, lambdas, solve, { signal });
      return { tries, again: async (index: number) => tries[index]!, close: async () => {} };
    };
    const options = { horizon, lambdas, targets, masks, washout: history, warmup: history, keep: 1, calendarColumns: 0 };
    const choice = await evaluate(
      [{ lags: 0, calendar: false, transforms: [], members: [tried] }],
      series,
      { ...chooseDefaults, ...(choose as Partial<typeof chooseDefaults>), ...options },
      partOf(work, 0, 2),
    );
    return {
      members: await fitNvarMembers(settings, series, masks, [choice.kept[0]!.lambda], solve, partOf(work, 1, 2)),
      groups: [0],
      choice,
    };
  }

  encode(content: MutableContent, { members }: Trained<NvarMember>): void {
    encodeNvar(content, { ...members[0]!.fit, history: members[0]!.state });
  }
}

/** What solves for the weights on an engine. @throws EngineUnavailableError, ArgumentError */
async function solverOn(name: string | undefined, { arithmetic }: NvarSettings): Promise<LeastSquares> {
  if (name === undefined || name === "auto") return leastSquaresHere;
  const { engine } = await chooseEngine(name);
  const { device } = engine;
  if (!device) return leastSquaresHere;
  if (arithmetic !== "doubleDouble")
    throw new ArgumentError("engine", name, `"cpu" with arithmetic "${arithmetic}": devices solve in double-double alone`);
  return (x, y, options) => device.leastSquares(x, y, options);
}

/** A forecaster of polynomials of delays. */
export type NvarForecaster = Forecaster<NvarModel>;

/**
 * Makes forecasters by nonlinear vector autoregression (NG-RC): y(t + 1) = y(t) + W [1, y(t), y(t -
 * s), ..., y(t - (k - 1) s), k(t + 1), the monomials of all], with k what is known beforehand,
 * fitted by Householder reflections, without a reservoir (Gauthier, Bollt, Griffith and Barbosa
 * 2021, "Next generation reservoir computing", Nature Communications 12; Bollt 2021, Chaos 31).
 *
 * It predicts systems whose law is a polynomial, sampled often and without noise, better than any
 * reservoir, and other data worse: noise enters every monomial.
 *
 * Its state is the last rows of the series. It runs on the host, but for the weights, which `engine`
 * may solve for on a device, with the same bits everywhere. Memory does not grow with the rows in
 * binary64; in double-double all rows of features are kept.
 *
 * @example
 * const model = await NvarForecaster.fit(series.subarray(0, 2000), {
 *   delays: 1,
 *   degrees: [2, 3, 4],
 * });
 * const next = await model.forecast(500); // rows 2000 to 2499
 */
export const NvarForecaster: ForecasterConstructors<NvarModel, NvarOptions, LoadOptions> = forecastersOf({
  kind: "nvar",
  loadTable,
  async create(options: NvarOptions): Promise<NvarModel> {
    const { engine, ...settings } = resolve(nvarOptionsTable, options);
    const { horizon, choose, lambda } = settings;
    checkChoose(settings);
    // A lambda that is said is the only one that is tried.
    if (horizon === undefined || choose?.lambdas || options?.lambda === undefined) return new NvarModel(settings, engine);
    return new NvarModel({ ...settings, choose: { ...choose, lambdas: [lambda] } }, engine);
  },
  async open(file, { source, ...selection }: LoadOptions & { readonly source: string }) {
    checkHost(selection, "an NVAR");
    const { settings, fit, choice, time, last } = decodeNvar(file, source);
    return { model: new NvarModel(settings), trained: { members: [new NvarMember(settings, fit)], groups: [0], choice }, time, last };
  },
});
