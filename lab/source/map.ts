// A map of measures that was made elsewhere, as a picture whose points can be tried: its file is
// read in this page and never sent anywhere.
import type { QualityMap } from "../../src/analysis/map/options.js";
import { mostMapBytes, readMap, settingsAt } from "../../src/lab/map.js";
import type { LabSettings } from "../../src/lab/settings.js";
import { formatNumber } from "../../src/plot/format.js";
import { plotQualityMap } from "../../src/plot/quality-map.js";
import { toSvg } from "../../src/plot/svg/index.js";
import { fillSelect, labelled } from "./page.js";
import { sentenceOf } from "./sentence.js";

/** Where the cells of a picture stand, in its own units. */
interface Cells {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  /** Width of the whole picture. */
  readonly whole: number;
}

const made = <Name extends keyof HTMLElementTagNameMap>(name: Name, properties: object = {}, children: readonly Node[] = []) => {
  const out = Object.assign(document.createElement(name), properties);
  out.append(...children);
  return out;
};

/** The section of a map, and what opens a file in it. */
export interface MapView {
  readonly section: HTMLElement;
  open(file: File): Promise<void>;
}

/**
 * Makes the section. `choose` is called with the settings of a point that is clicked, or taken with
 * Enter.
 */
export function makeMapView(settings: () => LabSettings, choose: (settings: LabSettings) => void): MapView {
  const file = made("input", { type: "file", id: "map-file", accept: ".json,application/json" });
  const measure = made("select", { id: "map-measure", disabled: true });
  const problem = made("p", { id: "map-problem" });
  problem.setAttribute("role", "alert");
  const picture = made("img", { id: "map", hidden: true, tabIndex: 0 });
  Object.assign(picture.style, { width: "100%", maxWidth: "44rem", cursor: "crosshair" });
  const point = made("p", { id: "map-point" });
  point.setAttribute("role", "status");
  const hint =
    "The analysis.json of spillway analyse with a map: choose it, or drop it anywhere. A click, or the arrow keys and Enter, takes a point.";
  const parts = [labelled("file of a map", file), problem, labelled("measure", measure), picture, point];
  const section = made("section", { id: "map-section" }, [
    made("h2", { textContent: "A map of measures" }),
    made("p", { className: "hint", textContent: hint }),
    ...parts,
  ]);
  picture.hidden = true;
  let map: QualityMap | undefined;
  let cells: Cells | undefined;
  let [column, row] = [0, 0];
  const dark = matchMedia("(prefers-color-scheme: dark)");

  const draw = () => {
    if (!map) return;
    const figure = plotQualityMap(map, measure.value);
    const svg = toSvg(figure, { width: 700, theme: dark.matches ? "dark" : "light" });
    const drawn = new DOMParser().parseFromString(svg, "image/svg+xml").querySelector("image")!;
    const number = (name: string) => Number(drawn.getAttribute(name));
    cells = { left: number("x"), top: number("y"), width: number("width"), height: number("height"), whole: 700 };
    picture.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
    picture.alt = figure.description;
    picture.hidden = false;
  };

  const show = (taken = false) => {
    if (!map) return;
    const value = map.values[measure.value as keyof QualityMap["values"]]!.at(row, column);
    const at = [map.x, map.y].map(({ parameter, values }, k) => `${parameter} ${formatNumber(values[k === 0 ? column : row]!)}`);
    point.textContent = `${taken ? "taken: " : ""}${at.join(", ")}: ${Number.isNaN(value) ? "not measured" : formatNumber(value)}`;
  };

  const take = () => {
    if (!map) return;
    choose(settingsAt(map, column, row, settings()));
    show(true);
  };

  const moveTo = (event: MouseEvent): boolean => {
    if (!map || !cells) return false;
    const box = picture.getBoundingClientRect();
    const scale = cells.whole / box.width;
    const across = ((event.clientX - box.left) * scale - cells.left) / cells.width;
    const upwards = 1 - ((event.clientY - box.top) * scale - cells.top) / cells.height;
    if (!(across >= 0 && across < 1 && upwards >= 0 && upwards < 1)) return false;
    column = Math.floor(across * map.x.values.length);
    row = Math.floor(upwards * map.y.values.length);
    show();
    return true;
  };

  picture.addEventListener("mousemove", moveTo);
  picture.addEventListener("click", (event) => moveTo(event) && take());
  picture.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (event.key === "Enter") take();
    if (!step || !map) return;
    event.preventDefault();
    column = Math.min(map.x.values.length - 1, Math.max(0, column + step[0]!));
    row = Math.min(map.y.values.length - 1, Math.max(0, row + step[1]!));
    show();
  });
  measure.addEventListener("change", () => {
    draw();
    show();
  });
  dark.addEventListener("change", draw);
  const open = async (chosen: File) => {
    try {
      if (chosen.size > mostMapBytes)
        throw new Error(`${chosen.name} is larger than ${mostMapBytes / 2 ** 20} MiB, the most the lab reads`);
      map = readMap(await chosen.text(), chosen.name);
    } catch (error) {
      problem.textContent = sentenceOf(error);
      return;
    }
    problem.textContent = "";
    [column, row] = [0, 0];
    const names = Object.keys(map.values);
    fillSelect(
      measure,
      names.map((name) => [name, plotQualityMap(map!, name).title] as const),
    );
    measure.disabled = false;
    draw();
    point.textContent = `${map.x.values.length} x ${map.y.values.length} points`;
  };
  file.addEventListener("change", () => {
    const [chosen] = file.files ?? [];
    if (chosen) void open(chosen);
  });
  return { section, open };
}
