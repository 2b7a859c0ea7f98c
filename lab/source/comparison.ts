// Two settings beside each other: the second side of the page, its controls, and a table of what
// differs.
import type { Measure } from "../../src/lab/measures.js";
import type { LabSettings } from "../../src/lab/settings.js";
import { type Controls, makeControls } from "./controls.js";
import { element } from "./page.js";
import { addSaveButtons } from "./save.js";
import { type Shared, Side } from "./side.js";

/** Ends the ids of everything that is the second's. */
const suffix = "-second";

/** The second setting, as long as there is one. */
export interface Second {
  readonly side: Side;
  readonly controls: Controls;
  /** Its pictures, for those that watch them. */
  readonly pictures: readonly HTMLCanvasElement[];
}

/**
 * Puts a second side into the page, with pictures like the first's. `changed` is called with every
 * movement of its sliders.
 */
export function openSecond(settings: LabSettings, shared: Shared, changed: (settings: LabSettings) => void): Second {
  const first = element("views");
  const views = first.cloneNode(true) as HTMLElement;
  for (const one of [views, ...views.querySelectorAll<HTMLElement>("[id]")]) one.id += suffix;
  for (const button of views.querySelectorAll(".save")) button.remove();
  for (const words of views.querySelectorAll("figcaption [id], .legend[id]")) words.replaceChildren();
  first.after(views);
  const pictures = [...views.querySelectorAll("canvas")];
  addSaveButtons(pictures);
  document.body.classList.add("comparing");
  for (const id of ["second", "comparison"]) element(id).hidden = false;
  const controls = makeControls(element<HTMLFormElement>("controls-second"), settings, changed, suffix);
  return { side: new Side(suffix, settings, shared), controls, pictures };
}

/** Takes it out again. */
export function closeSecond({ side }: Second): void {
  document.body.classList.remove("comparing");
  for (const id of ["second", "comparison"]) element(id).hidden = true;
  element("controls-second").replaceChildren();
  element(`views${suffix}`).remove();
  void side.dispose();
}

type Of<Kind extends Measure["kind"]> = Extract<Measure, { kind: Kind }>;

function resultOf<Kind extends Measure["kind"]>(side: Side, kind: Kind): Of<Kind> | undefined {
  const result = side.results.get(kind);
  return typeof result === "object" ? (result as Of<Kind>) : undefined;
}

/** A row of the table: its words, how its numbers are written, and the number of a side. */
const rows: readonly (readonly [words: string, digits: number, value: (side: Side) => number | undefined])[] = [
  ["error of the forecast (NRMSE)", 4, (side) => resultOf(side, "forecast")?.score],
  ["steps that it follows", 0, (side) => (resultOf(side, "forecast")?.free ? resultOf(side, "forecast")!.follows : undefined)],
  ["memory capacity (steps)", 2, (side) => resultOf(side, "memory")?.total],
  ["spectral radius", 3, (side) => resultOf(side, "spectrum")?.radius],
  ["neurons", 0, (side) => side.settings.size],
  ["connections", 0, (side) => side.connections],
];

/** Fills the table with what was measured of both. */
export function showComparison(first: Side, second: Side): void {
  const written = (value: number | undefined, digits: number, sign: "auto" | "exceptZero" = "auto") =>
    value === undefined
      ? "–"
      : value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits, signDisplay: sign });
  const cells = rows.map(([words, digits, value]) => {
    const [a, b] = [value(first), value(second)];
    const difference = a === undefined || b === undefined ? undefined : b - a;
    return [words, written(a, digits), written(b, digits), written(difference, digits, "exceptZero")];
  });
  element("comparison-rows").replaceChildren(
    ...cells.map(([words, ...numbers]) => {
      const row = document.createElement("tr");
      const head = document.createElement("th");
      head.scope = "row";
      head.textContent = words!;
      row.append(head, ...numbers.map((text) => Object.assign(document.createElement("td"), { textContent: text })));
      return row;
    }),
  );
}
