// Which known name a mistyped one was meant to be. It only compares text.

/** ` (did you mean "vector_add"?)` where a known name is within two edits or a third of its letters; else nothing. */
export function suggestion(name: string, known: readonly string[]): string {
  const most = Math.max(2, Math.floor(name.length / 3));
  const near = known
    .map((candidate) => ({ candidate, distance: edits(name.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ distance }) => distance <= most)
    .sort((a, b) => a.distance - b.distance)[0];
  return near ? ` (did you mean ${JSON.stringify(near.candidate)}?)` : "";
}

/** Levenshtein distance. */
function edits(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++)
      current[j] = Math.min(previous[j]! + 1, current[j - 1]! + 1, previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1));
    previous = current;
  }
  return previous[b.length]!;
}
