// Which character separates the cells of a CSV text. It looks at the start of the text and parses
// nothing.

/** The separators that are looked for, the rarest in ordinary text first. */
const candidates = ["\t", ";", ","] as const;

const sampleLines = 20;
const sampleCharacters = 262_144;

/**
 * The delimiter that stands equally often (and at least once) in each of the first lines, outside
 * quotes; of several the first of tab, semicolon, comma. If none does, the most frequent of the
 * first line; a comma if there is none at all. A decimal comma, between two digits, is none.
 */
export function detectDelimiter(text: string, comment?: string, decimal: "." | "," = "."): string {
  const counts = countByLine(text, comment, decimal);
  const usable = candidates.map((candidate, k) => ({ candidate, k }));
  for (const { candidate, k } of usable) {
    const first = counts[0]?.[k] ?? 0;
    if (first > 0 && counts.every((line) => line[k] === first)) return candidate;
  }
  let best = { candidate: decimal === "," ? ";" : ",", count: 0 };
  for (const { candidate, k } of usable) {
    const count = counts[0]?.[k] ?? 0;
    if (count > best.count) best = { candidate, count };
  }
  return best.candidate;
}

/**
 * For each of the first lines that hold something, how often each candidate stands in it outside
 * quotes.
 */
function countByLine(text: string, comment: string | undefined, decimal: string): number[][] {
  const lines: number[][] = [];
  let counts = candidates.map(() => 0);
  let quotes = false;
  let lineStart = 0;
  const end = Math.min(text.length, sampleCharacters);
  const finish = (at: number): void => {
    const line = text.slice(lineStart, at);
    if (line.trim() !== "" && !(comment && line.startsWith(comment))) lines.push(counts);
    counts = candidates.map(() => 0);
    lineStart = at + 1;
  };
  for (let i = 0; i < end && lines.length < sampleLines; i++) {
    const character = text[i]!;
    if (character === '"') quotes = !quotes;
    else if (quotes) continue;
    else if (character === "\n") finish(i);
    else {
      const k = candidates.indexOf(character as (typeof candidates)[number]);
      const isMark = character === decimal && isDigit(text[i - 1]) && isDigit(text[i + 1]);
      if (k >= 0 && !isMark) counts[k] = counts[k]! + 1;
    }
  }
  if (end === text.length && lines.length < sampleLines && lineStart < end) finish(end);
  return lines;
}

function isDigit(character: string | undefined): boolean {
  return character !== undefined && character >= "0" && character <= "9";
}
