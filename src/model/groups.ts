// Groups of sequences that are run at a time, so that the states of many do not fill the memory.
import { Matrix } from "@spillway/numerics";
import type { WorkOptions } from "../reservoir/index.js";

/** The most values of a group: of all its states, and of its last ones. */
export interface GroupBounds {
  readonly states: number;
  readonly last: number;
}

/** Of groups whose states come to the host. */
export const stateGroup: GroupBounds = { states: 2 ** 23, last: 2 ** 23 };

/**
 * Groups whose states stay on a device. Noise is drawn by a sequence's index in its group, so a
 * reservoir with noise has the host's groups.
 */
export const groupThere: GroupBounds = { states: 2 ** 32, last: 2 ** 26 };

/** Sequences in their order, in groups of at least one within the bounds. */
export function* groupsOf<Sequence extends { readonly rows: number }>(
  sequences: readonly Sequence[],
  size: number,
  most: GroupBounds,
): Generator<{ readonly group: readonly Sequence[]; readonly rows: number }> {
  for (let from = 0; from < sequences.length; ) {
    const group = [sequences[from]!];
    let rows = group[0]!.rows;
    for (let next = sequences[from + 1]; next; next = sequences[from + group.length]) {
      if ((rows + next.rows) * size > most.states || (group.length + 1) * size > most.last) break;
      rows += next.rows;
      group.push(next);
    }
    yield { group, rows };
    from += group.length;
  }
}

/** Runs groups of sequences, and puts the rows that each gives under one another. */
export async function rowsOfGroups<Sequence extends { readonly rows: number }>(
  sequences: readonly Sequence[],
  size: number,
  most: GroupBounds,
  onProgress: WorkOptions["onProgress"],
  rowsOf: (group: readonly Sequence[], from: number, onProgress: WorkOptions["onProgress"]) => Promise<Matrix<Float64Array>>,
): Promise<Matrix<Float64Array>> {
  const total = sequences.reduce((sum, { rows }) => sum + rows, 0);
  const parts: Matrix<Float64Array>[] = [];
  let [done, from] = [0, 0];
  for (const { group, rows } of groupsOf(sequences, size, most)) {
    const before = done;
    parts.push(await rowsOf(group, from, onProgress && ((some) => onProgress(before + some, total))));
    done += rows;
    from += group.length;
    onProgress?.(done, total);
  }
  if (parts.length === 1) return parts[0]!;
  const out = Matrix.zeros(sequences.length, parts[0]!.cols);
  let next = 0;
  for (const { data } of parts) {
    out.data.set(data, next);
    next += data.length;
  }
  return out;
}
