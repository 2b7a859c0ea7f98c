// Groups of sequences that are run at a time, so that the states of many do not fill the memory.

/** The most values of a group: of all its states, and of its last ones. */
export interface GroupBounds {
  readonly states: number;
  readonly last: number;
}

/** Of groups whose states come to the host. */
export const stateGroup: GroupBounds = { states: 2 ** 23, last: 2 ** 23 };

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
