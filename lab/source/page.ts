// The page's elements by their id, and words put into them. Text from a file or a server is put in
// as text, never as HTML.

export const element = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;

export const canvas = (id: string) => element<HTMLCanvasElement>(id);

export function say(id: string, text: string): void {
  element(id).textContent = text;
}

/** A control under its label, with its value beside the label. */
export function labelled(text: string, control: HTMLElement, value?: HTMLOutputElement): HTMLDivElement {
  const field = document.createElement("div");
  const row = document.createElement("div");
  const label = document.createElement("label");
  field.className = "field";
  row.className = "row";
  label.htmlFor = control.id;
  label.textContent = text;
  row.append(label);
  if (value) {
    value.htmlFor.add(control.id);
    row.append(value);
  }
  field.append(row, control);
  return field;
}

/** A checkbox before its label. */
export function checkable(text: string, box: HTMLInputElement): HTMLLabelElement {
  const label = document.createElement("label");
  label.className = "check";
  label.append(box, ` ${text}`);
  return label;
}

/** Fills a select with values and their words. */
export function fillSelect(select: HTMLSelectElement, options: Iterable<readonly [value: string, words: string]>): void {
  select.replaceChildren(...[...options].map(([value, words]) => new Option(words, value)));
}
