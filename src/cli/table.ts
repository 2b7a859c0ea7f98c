// Tables for a terminal: plain text, columns aligned.

/** Lays out cells in columns: texts to the left, numbers (given as such columns) to the right. */
export function formatTable(heads: readonly string[], lines: readonly (readonly string[])[], rightAligned: readonly number[] = []): string {
  const widths = heads.map((head, c) => Math.max(head.length, ...lines.map((cells) => (cells[c] ?? "").length)));
  const row = (cells: readonly string[]) =>
    widths
      .map((width, c) => (rightAligned.includes(c) ? (cells[c] ?? "").padStart(width) : (cells[c] ?? "").padEnd(width)))
      .join("   ")
      .trimEnd();
  return [row(heads), ...lines.map(row)].join("\n");
}
