// The reservoirs of a field: for each member one a group, the same one if weights are shared.
import { ArgumentError } from "@spillway/core/errors.js";
import type { Seed } from "@spillway/numerics";
import { type EngineSelection, ReservoirComputer, type ReservoirModel, type ReservoirOptions } from "../../reservoir/index.js";
import { seedsOf } from "../forecaster/plan.js";
import type { FieldGeometry } from "./geometry.js";
import type { FieldSettings } from "./options.js";

/** What reservoirs are made of. */
export interface FieldReservoirs extends EngineSelection {
  readonly description: ReservoirOptions;
}

/**
 * One list a member. @throws ArgumentError if the description takes other inputs than a group sees
 */
export async function openReservoirs(
  { seen, groups }: FieldGeometry,
  { shared, members = 1 }: FieldSettings,
  { description, ...selection }: FieldReservoirs,
): Promise<readonly (readonly ReservoirComputer[])[]> {
  if (description.inputSize !== undefined && description.inputSize !== seen)
    throw ArgumentError.shape(`a group sees ${seen} columns and the reservoir takes ${description.inputSize} (inputSize); leave it out`);
  const make = (seed: Seed | undefined) => ReservoirComputer.create({ ...description, seed, inputSize: seen }, selection);
  const made: ReservoirComputer[][] = [];
  try {
    for (const [m, own] of seedsOf(members, description).entries()) {
      const computers: ReservoirComputer[] = [];
      made.push(computers);
      // Group 0 of the first member is the reservoir that the description says.
      const seed = m === 0 && typeof members === "number" ? description.seed : own;
      for (let g = 0; g < groups; g++) {
        const isFirst = g === 0;
        computers.push(
          isFirst || !shared
            ? await make(isFirst ? seed : `${seed ?? 0} group ${g}`)
            : await ReservoirComputer.fromModel(computers[0]!.model, selection),
        );
      }
    }
    return made;
  } catch (error) {
    await disposeAll(made);
    throw error;
  }
}

/** The reservoirs of a file again: of each member one a group, or one for all. */
export async function reopenReservoirs(
  models: readonly (readonly ReservoirModel[])[],
  { groups }: FieldGeometry,
  options: Omit<FieldReservoirs, "description">,
): Promise<readonly (readonly ReservoirComputer[])[]> {
  const made: ReservoirComputer[][] = [];
  try {
    for (const own of models) {
      const computers: ReservoirComputer[] = [];
      made.push(computers);
      for (let g = 0; g < groups; g++) computers.push(await ReservoirComputer.fromModel(own[own.length > 1 ? g : 0]!, options));
    }
    return made;
  } catch (error) {
    await disposeAll(made);
    throw error;
  }
}

/** Gives their memory back. */
export async function disposeAll(members: readonly (readonly ReservoirComputer[])[]): Promise<void> {
  await Promise.all(members.flat().map((computer) => computer.dispose()));
}
