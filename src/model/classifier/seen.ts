// Sequences as the reservoirs of a classifier see them: z-scores, where the sequences lie, and
// z-scores
// of their differences.
import type { Matrix } from "@spillway/numerics";
import { type AnyReservoirComputer, DeviceMatrix } from "../../reservoir/index.js";
import type { CaseRows, EncodedCases } from "../../spikes/encoded-cases.js";
import { fitStandardisation, type Standardisation, standardised } from "../standardisation.js";
import { differencesOf, type MemberComputers } from "../views.js";
import type { ClassifierSettings } from "./options.js";
import { type Seen, seenOnHost } from "./representation.js";

/** Time from row to row of sequences on a device; the reservoir refuses several that differ. */
export function stepOf(sequences: readonly (Matrix | DeviceMatrix)[]): number | undefined {
  return sequences.find((one): one is DeviceMatrix => one instanceof DeviceMatrix && one.stepMs !== undefined)?.stepMs;
}

/** Rows of cases: on the device of the reservoir if the features are made there. */
export async function rowsFor(
  cases: EncodedCases,
  computer: AnyReservoirComputer,
  { representation }: Pick<ClassifierSettings, "representation">,
): Promise<CaseRows> {
  const there = computer.canSummarise && representation !== "statistics" && representation !== "output";
  return there ? cases.rows(computer) : { sequences: cases.matrices(), [Symbol.dispose]: () => undefined };
}

/** z-scores of sequences where they lie, and by what. */
export interface Scaled extends Disposable {
  readonly scale: Standardisation;
  readonly inputs: readonly (Matrix | DeviceMatrix)[];
}

/**
 * z-scores by a scale, or by one that is fitted to these sequences; not `standardise`, those on a
 * device stay as they are. checkedSequences has seen to it that they lie in one place.
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

/**
 * Series, and z-scores of their differences if a second reservoir sees those: by a scale, or by one
 * that is fitted to them.
 */
export function seenBy(
  [, second]: MemberComputers,
  inputs: Seen["inputs"],
  given?: Standardisation,
): { readonly seen: Seen; readonly differences: Standardisation | undefined } {
  if (!second) return { seen: { inputs }, differences: undefined };
  const raw = seenOnHost({ inputs })[0]!.map(differencesOf);
  const differences = given ?? fitStandardisation(raw);
  return { seen: { inputs, differences: raw.map((one) => standardised(differences, one)) }, differences };
}
