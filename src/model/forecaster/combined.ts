// A model of a Forecaster with a horizon: a weighted mean of members of several kinds,
// which are weighed by what they forecast from earlier rows of the same series.
import { disposeAllAsync, eachOrNone, orDispose } from "@spillway/core/disposal.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { Matrix, stackRows } from "@spillway/numerics";
import {
  type AnyReservoirComputer,
  type CreateOptions,
  ReservoirComputer,
  type ReservoirOptions,
  type WorkOptions,
  WorkPacer,
} from "../../reservoir/index.js";
import { partOf } from "../../reservoir/work.js";
import { earlierOrigins, memberWeights } from "../../series/combination.js";
import type { MutableContent } from "../mutable-content.js";
import { bounded, boundsOf } from "./bounds.js";
import type { ForecasterChoice, WeightedMember } from "./choice.js";
import { type CombinedMember, encodeCombined } from "./combined-file.js";
import type { CheckedSeries } from "./data.js";
import { DirectMember, directReservoir } from "./direct.js";
import { weighted } from "./ensemble.js";
import type { ForecasterMember } from "./member.js";
import { computersOf, type FitRows, type ForecastModel, type SeveralSeries, type Trained } from "./model.js";
import { type ForecasterSettings, type MemberName, memberNames } from "./options.js";
import { choosePooled, forecastsOf, PooledMember, type PooledSeries, pooledShape, pooledSize, trainPooled } from "./pooled.js";
import { checkAllSeries, type ReservoirForecastModel } from "./reservoir-model.js";
import type { RowKind } from "./rows.js";
import { columnSizes, fewestHorizons, type Tried, triedPooled, tryClassical, tryNvar, type Validation } from "./tried.js";
import { fewestDirectRows, tryDirect } from "./tried-direct.js";
import { fewestLoopRows, type LoopChoice, tryLoop, withCalendarIf } from "./tried-loop.js";
import { trainingPart } from "./validation.js";

/** Steps that may be forecast of any series; of a longer one as many as it has rows. */
const mostSteps = 1000;
/** What a series has of the others that were trained with it. */
interface BesideOthers {
  /** The reservoir of the direct members. */
  readonly shared?: AnyReservoirComputer | undefined;
  readonly pooled?: ((validation: Validation) => Promise<Tried | undefined>) | undefined;
}

/** Members that are weighed by their errors at earlier origins. */
export class CombinedForecastModel implements ForecastModel<ForecasterSettings, CombinedMember> {
  readonly kind = "forecaster";
  readonly settings: ForecasterSettings;
  readonly #loop: ReservoirForecastModel;
  readonly #reservoir: Partial<ReservoirOptions>;
  readonly #create: CreateOptions;
  readonly #isDefault: boolean;

  /**
   * @param reservoir what is described of the loop's; the direct member has its seed
   * @param settings whose `members` are names
   * @param isDefault nobody asked for a combination: a list of series is the loop's alone
   */
  constructor(
    loop: ReservoirForecastModel,
    reservoir: Partial<ReservoirOptions>,
    create: CreateOptions,
    settings: ForecasterSettings,
    isDefault = false,
  ) {
    this.#isDefault = isDefault;
    this.#loop = loop;
    this.#reservoir = reservoir;
    this.#create = create;
    this.settings = settings;
  }

  get rows(): RowKind {
    return this.#loop.rows;
  }

  /**
   * A combination of one series; the loop alone of a list of them. @throws ArgumentError for rows too few
   * for any member
   */
  async fit(rows: FitRows, previous: readonly CombinedMember[], work: WorkOptions): Promise<Trained<CombinedMember>> {
    this.#check(rows);
    await disposeAllAsync(previous.flatMap(computersOf));
    return rows.data.length > 1 ? this.#loop.fit(rows, [], work) : this.#combineOrGiveBack(this.#names, rows, work, {});
  }

  /** @throws ArgumentError for rows that are no series, or a horizon that is too long for them */
  #check({ data }: FitRows): void {
    for (const { series } of checkAllSeries(data)) checkHorizon(this.settings.horizon!, series.rows);
  }

  get #names(): readonly MemberName[] {
    return memberNames.filter((name) => (this.settings.members as readonly MemberName[]).includes(name));
  }

  /** Each series by itself, without the loop, and beside a readout that all train. */
  several(areKeyed: boolean): SeveralSeries<CombinedMember> | undefined {
    if (this.#isDefault && !areKeyed) return undefined;
    return { fit: (all, work) => this.#fitSeveral(all, work), further: (rows, like, work) => this.#fitFurther(rows, like, work) };
  }

  async #fitSeveral(all: readonly FitRows[], work: WorkOptions): Promise<readonly Trained<CombinedMember>[]> {
    for (const rows of all) this.#check(rows);
    const names = this.#namesOfSeveral;
    const isPooled = names.includes("pooled");
    const members: Trained<CombinedMember>[] = [];
    const computers: ReservoirComputer[] = [];
    const { signal, onProgress } = work;
    const fit = async () => {
      const shared = names.includes("direct") ? await this.#computerOf(directReservoir) : undefined;
      if (shared) computers.push(shared);
      const pooled = isPooled ? await this.#pool(all, computers, signal) : undefined;
      for (const [s, rows] of all.entries()) {
        const tried = pooled && (async (one: Validation) => pooled(s, one));
        members.push(await this.#combineOrGiveBack(names, rows, { signal }, { shared, pooled: tried }));
        onProgress?.(s + 1, all.length);
      }
      return members;
    };
    return orDispose(() => computers, fit);
  }

  async #fitFurther(rows: FitRows, like: Trained<CombinedMember>, { signal }: WorkOptions): Promise<Trained<CombinedMember>> {
    this.#check(rows);
    const pool = like.members.find((member) => member instanceof PooledMember);
    const shared = like.members.find((member) => member instanceof DirectMember)?.computers[0];
    const pooled = pool && ((one: Validation) => this.#triedPooled(pool, one, signal));
    return this.#combineOrGiveBack(this.#namesOfSeveral, rows, { signal }, { shared, pooled });
  }

  /** The loop and NVAR take no part. */
  get #namesOfSeveral(): readonly MemberName[] {
    return this.#names.filter((name) => name !== "loop" && name !== "nvar");
  }

  /** The readout that all series train; undefined if they have too few windows. */
  async #pool(all: readonly FitRows[], computers: ReservoirComputer[], signal: AbortSignal | undefined) {
    const validations = all.map((rows) => this.#validationOf(rows));
    const { horizon, season } = validations[0]!;
    const series = validations.map(({ data, filled, origins }): PooledSeries => ({ series: data.held ?? data.series, filled, origins }));
    const lengths = series.map((one) => one.series.rows);
    const shape = pooledShape(lengths, horizon, season);
    const size = pooledSize(series, shape);
    if (size === undefined) return undefined;
    const computer = await this.#computerOf({ ...directReservoir, size });
    computers.push(computer);
    const how = { shape, season };
    const chosen = await choosePooled(computer, series, how, signal);
    if (!chosen) return undefined;
    const readout = await trainPooled(computer, series, how, chosen.share, signal);
    return (s: number, one: Validation) => triedPooled(computer, { shape, season, readout }, chosen.forecasts[s]!, one);
  }

  /** The pooled member of other series for a new one. */
  async #triedPooled({ computers: [computer], parts }: PooledMember, one: Validation, signal: AbortSignal | undefined): Promise<Tried> {
    const { data, filled, origins } = one;
    const { shape, season, readout } = parts;
    const series = data.held ?? data.series;
    const [forecasts] = await forecastsOf(computer, [readout], { series, filled, origins }, { shape, season }, signal);
    return triedPooled(computer, { shape, season, readout }, forecasts!, one);
  }

  #computerOf(described: ReservoirOptions): Promise<ReservoirComputer> {
    return ReservoirComputer.create({ ...described, seed: this.#reservoir.seed }, { ...this.#create, plan: undefined });
  }

  async #combineOrGiveBack(names: readonly MemberName[], rows: FitRows, work: WorkOptions, more: BesideOthers) {
    const tried: Tried[] = [];
    const combine = () => this.#combine(names, rows, tried, work, more);
    return orDispose(() => tried, combine);
  }

  /** @param tried receives the members that were tried */
  async #combine(
    names: readonly MemberName[],
    rows: FitRows,
    tried: Tried[],
    work: WorkOptions,
    more: BesideOthers = {},
  ): Promise<Trained<CombinedMember>> {
    const { weights: how = "validation" } = this.settings;
    const validation = this.#validationOf(rows);
    const { signal } = work;
    let chosen: LoopChoice = { candidates: [], scores: [], kept: [] };
    const pacer = new WorkPacer(partOf(work, 0, 2), names.length);
    for (const [i, name] of names.entries()) {
      if (name === "loop") {
        const found = await tryLoop(this.#loop, this.#reservoir, rows, validation, signal);
        if (found) {
          tried.push(found.tried);
          chosen = found.choice;
        }
      } else {
        // A calendar that the loop may choose is left out if it does not.
        const isLeft = this.settings.calendar === "choose" && !chosen.candidates[chosen.kept[0]?.candidate ?? -1]?.calendar;
        const own = isLeft ? { ...validation, known: validation.known - rows.calendarColumns } : validation;
        const bare = { ...own, ...withCalendarIf(false, rows.calendarColumns, validation) };
        const found =
          name === "direct"
            ? await tryDirect(own, more.shared ?? (() => this.#computerOf(directReservoir)), signal)
            : name === "pooled"
              ? await more.pooled?.(own)
              : name === "nvar"
                ? await tryNvar(bare, tried, this.settings.bounds, signal)
                : await tryClassical(name, own);
        if (found) tried.push(found);
      }
      await pacer.pause(i + 1);
    }
    if (tried.length === 0) throw tooFewRows(names, validation);
    const { targets, horizon, origins, horizons, season, bounds } = validation;
    const forecasts = tried.map((one) => bounded(one.forecasts, bounds));
    const sizes = forecasts.map((made) => columnSizes(targets, made));
    const columns = Array.from({ length: targets.cols }, (_, c) => {
      const errors = sizes.map((size) => size[c]!);
      return how === "equal" ? errors.map(() => 1 / tried.length) : memberWeights(errors, horizons);
    });
    const training = partOf(work, 1, 2);
    const made = await eachOrNone(
      tried,
      (one, i) => one.train(partOf(training, i, tried.length)),
      (one) => one.members.flatMap(computersOf),
    );
    const members = tried.map(
      ({ name, scores }, i): WeightedMember => ({
        name,
        weights: columns.map((each) => each[i]!),
        ...(sizes[i]!.every(Number.isFinite) ? { errors: sizes[i] } : {}),
        groups: made[i]!.groups.at(-1)! + 1,
        ...(scores ? { scores } : {}),
      }),
    );
    const combination = weighted(members, forecasts);
    const errors = targets.map((value, j) => value - combination.data[j]!);
    const starts = origins.map((row) => ({ sequence: 0, row }));
    const validated = { rows: validation.data.series.rows - origins[0]!, season };
    let first = 0;
    const groups = made.flatMap((each, i) => {
      const own = each.groups.map((group) => first + group);
      first += members[i]!.groups;
      return own;
    });
    const known = targets.map((value) => (Number.isNaN(value) ? 0 : value));
    const choice: ForecasterChoice = {
      ...{ horizon, loss: "rmse", starts, ...chosen, members, validated },
      ...{ targets: known, errors },
    };
    return { members: made.flatMap((each) => each.members), groups, choice };
  }

  encode(content: MutableContent, trained: Trained<CombinedMember>): void {
    const { size, leakRate } = this.#reservoir;
    const described = { ...(size !== undefined && { size }), ...(leakRate !== undefined && { leakRate }) };
    if (trained.choice?.members) encodeCombined(content, trained, { settings: this.settings, described });
    else this.#loop.encode(content, trained as Trained<ForecasterMember>);
  }

  #validationOf({ data, masks, calendarColumns, given }: FitRows): Validation {
    const { horizon, season = 1, bounds } = this.settings;
    const [one] = data as readonly [CheckedSeries];
    const { series } = one;
    const m = [season].flat()[0]!;
    const found = earlierOrigins(series.rows, horizon!, m);
    // Known columns are continued by their last row: no forecast is compared there.
    const ahead = one.known && Array.from({ length: horizon! }, () => one.known!.subarray(series.rows - 1));
    const known = ahead && stackRows([one.known!, ...ahead]);
    const whole = { ...one, known };
    const starts = found.origins.map((row) => ({ sequence: 0, row }));
    const filled = masks[0];
    const targets = Matrix.zeros(starts.length * horizon!, series.cols);
    targets.data.fill(Number.NaN);
    for (const [k, { row }] of starts.entries()) {
      for (let step = 0; step < Math.min(horizon!, series.rows - row); step++) {
        for (let c = 0; c < series.cols; c++)
          if (filled?.at(row + step, c) !== 1) targets.row(k * horizon! + step)[c] = series.at(row + step, c);
      }
    }
    const masked = this.settings.missing === "mask" ? given.columns : 0;
    return {
      ...found,
      data: whole,
      filled,
      horizon: horizon!,
      season: m,
      parts: { training: [trainingPart(one, found.origins[0]!)], starts },
      targets,
      bounds: boundsOf(bounds, [series]),
      known: given.known + masked + calendarColumns,
    };
  }
}

/** @throws ArgumentError for more steps than the rows can say anything of */
function checkHorizon(horizon: number, rows: number): void {
  const most = Math.max(mostSteps, rows);
  if (horizon > most)
    throw new ArgumentError("horizon", horizon, `at most ${most} for a series of ${rows} rows; take fewer steps, or more rows`);
}

function tooFewRows(names: readonly MemberName[], { data }: Validation): ArgumentError {
  return ArgumentError.because(
    `members is ${names.join(", ")} and the series has ${data.series.rows} rows: loop takes a first origin at row ${fewestLoopRows}, direct ` +
      `${fewestDirectRows} rows, seasonalNaive a season and ${fewestHorizons} horizons to validate, and nvar 2 to 11 columns, all measured, and some 20 to 3,000 rows of them; ` +
      "name theta, damped or ets too, which take two rows",
    { field: "members" },
  );
}
