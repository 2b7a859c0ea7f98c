// What exports take of a model: the parts of its file, and of a combination its members.
import { disposeQuietlyAsync } from "@spillway/core/disposal.js";
import type { Classifier } from "../classifier/classifier.js";
import { type ClassifierParts, decodeClassifier } from "../classifier/file.js";
import type { WeightedMember } from "../forecaster/choice.js";
import { ClassicalMember } from "../forecaster/classical.js";
import { type CombinedMember, decodeCombined, isCombined } from "../forecaster/combined-file.js";
import { DirectMember } from "../forecaster/direct.js";
import { decodeForecaster, type ForecasterParts, memberFile } from "../forecaster/file.js";
import type { Forecaster } from "../forecaster/forecaster.js";
import { ForecasterMember } from "../forecaster/member.js";
import { decodeModelFile } from "../model-file.js";
import { NvarMember } from "../nvar/member.js";
import { checkOneSeries, partsOf, unheld } from "./refuse.js";

/** @throws NotFittedError */
export async function classifierParts(model: Classifier): Promise<ClassifierParts> {
  return decodeClassifier(await decodeModelFile(await model.toBytes(), "classifier", "classifier"), "classifier");
}

/** A member of a combination: its weights, and what it is; of the loop nothing, which `members` of the parts are. */
export interface Entry extends Pick<WeightedMember, "weights"> {
  readonly member: ClassicalMember | DirectMember | NvarMember | undefined;
}

/** A forecaster as an exported program holds it. */
export interface ExportedParts extends ForecasterParts {
  /** Its members are then those of the loop; there may be none. */
  readonly combination?: { readonly entries: readonly Entry[]; readonly columns: number; readonly known: number } | undefined;
}

/** @throws ArgumentError for a combination that a program does not hold */
export async function exportedParts(model: Forecaster): Promise<ExportedParts> {
  checkOneSeries(model);
  const source = "forecaster";
  const file = await decodeModelFile(await model.toBytes(), source, "forecaster");
  if (!isCombined(file)) return decodeForecaster(file, source);
  const { settings, trained, ...common } = await decodeCombined(file, source, { engine: "reference" });
  const { members, groups } = trained;
  try {
    const loops: [ForecasterMember, number][] = [];
    let first = 0;
    const entries = common.choice!.members!.map(({ weights, groups: count }): Entry => {
      const from = first;
      first += count;
      const own = members.filter((_, m) => groups[m]! >= from && groups[m]! < first);
      if (!own.every((member) => member instanceof ForecasterMember)) return { weights, member: checked(own[0]!) };
      const ofLoop = groups.filter((group) => group >= from && group < first);
      loops.push(...own.map((member, k) => [member, ofLoop[k]! - from] as [ForecasterMember, number]));
      return { weights, member: undefined };
    });
    const { columns, preprocessing } = members[0]!;
    return {
      ...{ ...common, settings, groups: loops.map(([, group]) => group) },
      members: loops.map(([member]) => {
        const one = memberFile(member);
        return { ...one, preprocessing: { ...one.preprocessing, bounds: common.bounds } };
      }),
      combination: { entries, columns, known: preprocessing.known },
    };
  } finally {
    await disposeQuietlyAsync(members.flatMap(({ computers }) => computers));
  }
}

/** @throws ArgumentError */
function checked(member: CombinedMember): Entry["member"] {
  const noPosition = () => unheld("is a combination that was reset", "model", "one with rows before it");
  if (member instanceof ClassicalMember) {
    if (member.state.followed.length === 0) throw noPosition();
    return member;
  }
  if (member instanceof DirectMember) {
    if (member.state.recent.rows === 0) throw noPosition();
    return member;
  }
  if (!(member instanceof NvarMember)) throw unheld("has the member pooled", "members");
  const { delays, stride, degrees, target, neighbours, arithmetic, hold } = member.settings;
  const isDefault = delays === 2 && stride === 1 && String(degrees) === "2" && target === "increment" && neighbours === null && hold;
  if (!isDefault || arithmetic !== "float64") throw unheld("has the member nvar with options of yours", "members");
  if (member.state.high.length === 0) throw noPosition();
  return member;
}

/** The reservoir of the member of windows. */
export const directParts = ({ combination }: Pick<ExportedParts, "combination">) =>
  (combination?.entries ?? []).flatMap(({ member }) => (member instanceof DirectMember ? [partsOf(member.computers[0].model)] : []));
