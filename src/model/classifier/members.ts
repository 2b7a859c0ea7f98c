// The reservoirs of a classifier's members: opened together.
import { disposeQuietlyAsync } from "@spillway/core/disposal.js";
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
  const opened: AnyReservoirComputer[] = [];
  try {
    for (const one of members.flat()) opened.push(await open(one));
  } catch (error) {
    await disposeQuietlyAsync(opened);
    throw error;
  }
  return members.map(({ length }) => opened.splice(0, length) as unknown as MemberComputers);
}
