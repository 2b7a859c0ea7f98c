// The reservoirs of a classifier's members: opened together.
import { eachOrNone } from "@spillway/core/disposal.js";
import type { AnyReservoirComputer } from "../../reservoir/index.js";
import type { MemberComputers } from "../views.js";

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
