// The legend beneath a picture: what each colour means.

/** One entry. The colour is a name of the style sheet, or a colour. */
export interface LegendEntry {
  readonly text: string;
  readonly colour: string;
  readonly mark: "line" | "dashes" | "dot" | "area";
}

/** Puts entries in place of a list's present ones. */
export function showLegend(id: string, entries: readonly LegendEntry[]): void {
  const items = entries.map(({ text, colour, mark }) => {
    const item = document.createElement("li");
    const key = document.createElement("span");
    key.className = `key ${mark}`;
    key.style.color = colour.startsWith("--") ? `var(${colour})` : colour;
    item.append(key, text);
    return item;
  });
  document.getElementById(id)!.replaceChildren(...items);
}
