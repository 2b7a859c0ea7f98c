// The reservoirs of a classifier: opened together, and what they see.
import { eachOrNone, Held } from "@spillway/core/disposal.js";
import type { Matrix } from "@spillway/numerics";
import { type AnyReservoirComputer, DeviceMatrix } from "../../reservoir/index.js";
import type { CaseRows, EncodedCases } from "../../spikes/drive.js";
import { fitStandardisation, type Standardisation, standardised } from "../standardisation.js";
import { type Driving, differencesOf, type MemberComputers } from "../views.js";
import { type ClassifierSettings, whyOnHost } from "./options.js";
import { hostSeries } from "./representation.js";

/** The reservoirs of one member. */
export function allOf(computers: MemberComputers): AnyReservoirComputer[] {
  return computers.filter((computer) => computer !== undefined);
}

/** All of them, or none: if one cannot be opened, those before it are given back. */
export async function openAll<One>(
  members: readonly (readonly One[])[],
  open: (one: One) => Promise<AnyReservoirComputer>,
): Promise<MemberComputers[]> {
  const opened = await eachOrNone(members.flat(), open, (computer) => [computer]);
  return members.map(({ length }) => opened.splice(0, length) as unknown as MemberComputers);
}

/** Time from row to row of sequences on a device; the reservoir refuses several that differ. */
export function stepOf(sequences: readonly (Matrix | DeviceMatrix)[]): number | undefined {
  return sequences.find((one): one is DeviceMatrix => one instanceof DeviceMatrix && one.stepMs !== undefined)?.stepMs;
}

/** Rows of cases: on the device of the reservoir if the features are made there. */
export async function rowsFor(cases: EncodedCases, computer: AnyReservoirComputer, settings: ClassifierSettings): Promise<CaseRows> {
  const there = computer.canSummarise && whyOnHost(settings) === undefined;
  return there ? cases.rows(computer) : { sequences: cases.matrices(), [Symbol.dispose]: () => undefined };
}

/** z-scores of sequences where they lie, and by what. */
export interface Scaled extends Disposable {
  readonly scale: Standardisation;
  readonly inputs: readonly (Matrix | DeviceMatrix)[];
}

/**
 * z-scores by a scale, or by one that is fitted to these sequences; not `standardise`, those on a
 * device stay as they are. checkedSequences has checked that all lie in one memory.
 */
export async function scaledInputs(
  computer: AnyReservoirComputer,
  sequences: readonly (Matrix | DeviceMatrix)[],
  given: Standardisation | undefined,
  standardise = given === undefined,
): Promise<Scaled> {
  const there = sequences.filter((one) => one instanceof DeviceMatrix);
  if (standardise && there.length > 0) {
    const { scale, series } = await computer.standardise(there, given);
    return { scale, inputs: series.sequences, [Symbol.dispose]: () => series.dispose() };
  }
  const scale = given ?? fitStandardisation(sequences as readonly Matrix[]);
  const inputs = sequences.map((one) => (one instanceof DeviceMatrix ? one : standardised(scale, one)));
  return { scale, inputs, [Symbol.dispose]: () => undefined };
}

/** What reservoirs see, and by what scale of the differences. */
export interface Prepared extends Disposable {
  readonly driving: Driving;
  readonly differences: Standardisation | undefined;
}

/**
 * Series, and z-scores of their differences if a second reservoir sees those: by a scale, or by one
 * that is fitted to them. On the device they are made of the raw series, since z-scores there are
 * rounded, and the series from their ends are made too.
 */
export async function prepareDriving(
  [first, second]: MemberComputers,
  raw: Driving["inputs"],
  { inputs, scale }: Scaled,
  { representation, directions }: ClassifierSettings,
  given?: Standardisation,
): Promise<Prepared> {
  if (representation === "statistics" && inputs[0] instanceof DeviceMatrix) {
    const held = new Held();
    try {
      const changes = second && (await first.standardise(raw as readonly DeviceMatrix[], given, scale));
      if (changes) held.own(changes.series);
      const series = [inputs as readonly DeviceMatrix[], ...(changes ? [changes.series.sequences] : [])];
      const backward: (readonly DeviceMatrix[])[] = [];
      if (directions === "both") for (const one of series) backward.push(held.own(await first.reverse(one)).sequences);
      const driving = { inputs, differences: series[1], backward: directions === "both" ? backward : undefined };
      return { driving, differences: changes?.scale, [Symbol.dispose]: () => held.dispose() };
    } catch (error) {
      held.disposeQuietly();
      throw error;
    }
  }
  const made = { driving: { inputs }, differences: undefined, [Symbol.dispose]: () => undefined };
  if (!second) return made;
  const changes = hostSeries({ inputs })[0]!.map(differencesOf);
  const differences = given ?? fitStandardisation(changes);
  return { ...made, driving: { inputs, differences: changes.map((one) => standardised(differences, one)) }, differences };
}
