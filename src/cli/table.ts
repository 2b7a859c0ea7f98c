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

/** Lines of at most `width` characters, broken at blanks, every one but the first indented. */
export function wrap(text: string, width: number, indent = ""): string {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = indent + word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  lines.push(line);
  return lines.join("\n");
}
