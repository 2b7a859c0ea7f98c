// Which known names a mistyped one may have meant. It only compares text.
import { editDistance } from "../reservoir/validate.js";

/**
 * The candidates nearest to `name`, best first: those within a few edits (insert, delete, replace, swap of neighbours; letter
 * case does not count), and those that begin with the name less its extension.
 */
export function nearNames(name: string, candidates: readonly string[], limit = 3): string[] {
  const wanted = name.toLowerCase();
  const stem = wanted.replace(/\.[^.]*$/, "");
  const bound = Math.max(2, Math.floor(wanted.length / 4));
  const near: { candidate: string; distance: number }[] = [];
  for (const candidate of candidates) {
    const other = candidate.toLowerCase();
    const begins = stem.length >= 3 && other.startsWith(stem);
    if (!begins && Math.abs(other.length - wanted.length) > bound) continue;
    const distance = editDistance(wanted, other);
    if (begins || (distance <= bound && distance < wanted.length)) near.push({ candidate, distance });
  }
  near.sort((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1));
  return near.slice(0, limit).map(({ candidate }) => candidate);
}
