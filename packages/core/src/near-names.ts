// Which known names a mistyped one may have meant. It only compares text.
import { quoted } from "./text.js";

/**
 * The candidates nearest to `name`, best first: those within a third of its letters or two edits
 * (insert, delete, replace, swap of neighbours; letter case does not count), and those that begin
 * with the name less its extension.
 */
export function nearNames(name: string, candidates: readonly string[], limit = 3): string[] {
  const wanted = name.toLowerCase();
  const stem = wanted.replace(/\.[^.]*$/, "");
  const bound = Math.max(2, Math.floor(wanted.length / 3));
  const near: { candidate: string; distance: number; begins: boolean }[] = [];
  for (const candidate of candidates) {
    const other = candidate.toLowerCase();
    const begins = stem.length >= 3 && other.startsWith(stem);
    if (!begins && Math.abs(other.length - wanted.length) > bound) continue;
    const distance = editDistance(wanted, other);
    if (begins || (distance <= bound && distance < wanted.length)) near.push({ candidate, distance, begins });
  }
  near.sort((a, b) => a.distance - b.distance || Number(b.begins) - Number(a.begins) || (a.candidate < b.candidate ? -1 : 1));
  return near.slice(0, limit).map(({ candidate }) => candidate);
}

/** The known name that is nearest to a mistyped one, if any is near. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  return nearNames(name, known, 1)[0];
}

/** ` (did you mean "vector_add"?)` if a known name is near; else nothing. */
export function suggestion(name: string, known: readonly string[]): string {
  const near = nearest(name, known);
  return near === undefined ? "" : ` (did you mean ${quoted(near)}?)`;
}

/**
 * Optimal string alignment distance: insertions, deletions, replacements and swaps of neighbours.
 */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replace = last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      let best = Math.min(replace, last[j]! + 1, row[j - 1]! + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) best = Math.min(best, beforeLast[j - 2]! + 1);
      row.push(best);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length]!;
}
