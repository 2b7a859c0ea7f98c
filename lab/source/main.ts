// The lab's page: puts sliders, running reservoir, measures, own data and links together.
import { loadWasm, ReservoirComputer } from "../../src/lab/browser.js";
import { driveOf, type Measure, measureNames } from "../../src/lab/measures.js";
import { experimentDataOf, type OwnSeries } from "../../src/lab/own-data.js";
import { experimentOf, type LabSettings, reservoirOf, settingsFromLink, settingsToLink, whatIsHere } from "../../src/lab/settings.js";
import { drawNote } from "./canvas.js";
import { drawForecast, drawMemory, drawSpectrum, forecastLegend } from "./charts.js";
import { makeControls } from "./controls.js";
import { showLegend } from "./legend.js";
import { LiveView } from "./live.js";
import { makeMapView } from "./map.js";
import type { MeasureAnswer, MeasureRequest } from "./measuring.js";
import { makeDataPanel } from "./own-data.js";
import { canvas, element, say } from "./page.js";
import { connect } from "./remote.js";
import { addSaveButtons, saveText } from "./save.js";
import { sentenceOf } from "./sentence.js";

/** Rows of the signal that the running reservoir goes round. */
const signalRows = 6000;
/** Milliseconds that the sliders must rest before weights are drawn anew. */
const rest = 120;
/** Milliseconds for the first steps of a new reservoir, before its first frame. */
const fillMs = 80;

const link = location.hash;
let settings: LabSettings = settingsFromLink(link);
/** The last series that was read, and whether it drives the reservoir. */
let series: OwnSeries | undefined;
let usesOwn = false;
let computer: ReservoirComputer | undefined;
let live: LiveView | undefined;
let paused = matchMedia("(prefers-reduced-motion: reduce)").matches;
let request = 0;
let waiting: ReturnType<typeof setTimeout> | undefined;
/** The pictures that stand on the screen. */
const seen = new Set<Element>();
const shown = new Map<Measure["kind"], MeasureAnswer>();
const measures = new Worker(new URL("./measures.ts", import.meta.url), { type: "module" });

const own = () => (usesOwn ? series : undefined);
/** What the values of input and forecast are counted in. */
const unit = () => (own() && !own()!.choices.standardise ? "as in the file" : "standard deviations");
const connectionsOf = (weights: ReservoirComputer["model"]["weights"]) =>
  ("values" in weights ? weights.values.length : weights.data.length).toLocaleString("en-US");

async function build(): Promise<void> {
  const id = ++request;
  // A slider that moves while the weights are drawn makes a build of its own: this one keeps its
  // settings.
  const wanted = settings;
  const data = own();
  const inUnits = unit();
  const { topologies, signals } = whatIsHere();
  const elsewhere = !topologies.includes(wanted.topology) ? wanted.topology : !signals.includes(wanted.signal) ? wanted.signal : "";
  if (elsewhere !== "") {
    live = undefined;
    for (const name of ["hash", "radius", "capacity", "score"]) say(name, "");
    showBusy(false);
    return say("status", `the machine that serves this page has ${elsewhere}, and the page has not: run it there`);
  }
  measures.postMessage({ id, settings: wanted, own: data?.drive } satisfies MeasureRequest);
  for (const name of ["hash", "radius", "capacity", "score"]) say(name, "…");
  try {
    await loadWasm();
    const next = await ReservoirComputer.create(reservoirOf(wanted));
    if (id !== request) return void next.dispose();
    const before = computer;
    computer = next;
    live = new LiveView(next, driveOf(wanted, signalRows, data?.drive).input, inUnits);
    showLegend("trajectories-legend", live.legend);
    say("engine", next.engine.plan.summary);
    say("status", `${wanted.size} neurons, ${connectionsOf(next.model.weights)} connections`);
    await before?.dispose();
  } catch (error) {
    if (id !== request) return;
    live = undefined;
    say("status", sentenceOf(error));
  }
  // A page that stands still is filled, however long it takes.
  live?.fill(paused ? Infinity : fillMs);
}

async function describe(): Promise<void> {
  history.replaceState(undefined, "", `${location.pathname}${location.search}#${settingsToLink(settings)}`);
  const { stringify } = await import("yaml");
  const data = own();
  say("yaml", stringify(experimentOf(settings, data && experimentDataOf(data))));
}

function changed(next: LabSettings, withOwn: boolean): void {
  settings = next;
  usesOwn = withOwn;
  remote.setOwn(usesOwn);
  showBusy(true);
  clearTimeout(waiting);
  waiting = setTimeout(() => void build(), rest);
  void describe();
}

measures.addEventListener("message", ({ data }: MessageEvent<MeasureAnswer>) => {
  if (data.id !== request) return;
  shown.set(data.kind, data);
  show(data);
  if (data.kind !== measureNames.at(-1)) return;
  say("results", resultsInWords());
  showBusy(false);
});

/** Says whether something is still to be computed and drawn. */
function showBusy(busy: boolean): void {
  element("pictures").ariaBusy = String(busy);
}

/** What a screen reader is told once everything is measured. */
function resultsInWords(): string {
  const words = [...shown.values()].map(({ kind, result }) =>
    kind === "hash" ? "" : typeof result === "string" ? result : summaryOf(result),
  );
  return words.filter((text) => text !== "").join("; ");
}

function show({ kind, result }: MeasureAnswer): void {
  const words = { hash: "hash", spectrum: "radius", memory: "capacity", forecast: "score" }[kind];
  if (typeof result === "string") {
    say(words, kind === "hash" ? result : "");
    if (kind !== "hash") picture(kind, result, (view) => drawNote(view, result));
    return;
  }
  const text = summaryOf(result);
  say(words, text);
  if (result.kind === "spectrum") picture(kind, text, (view) => drawSpectrum(view, result));
  else if (result.kind === "memory") picture(kind, text, (view) => drawMemory(view, result));
  else if (result.kind === "forecast") {
    picture(kind, text, (view) => drawForecast(view, result, `value (${unit()})`));
    showLegend("forecast-legend", forecastLegend(result));
  }
}

/** Draws a view and says in words what is on it. */
function picture(id: string, words: string, draw: (view: HTMLCanvasElement) => void): void {
  const view = canvas(id);
  view.setAttribute("aria-label", `${view.dataset["title"]}: ${words}`);
  draw(view);
}

function summaryOf(measure: Measure): string {
  switch (measure.kind) {
    case "hash":
      return measure.hash;
    case "spectrum":
      return `spectral radius ${measure.radius.toFixed(3)}`;
    case "memory":
      return `capacity ${measure.total.toFixed(1)} steps`;
    case "forecast": {
      const { free, follows, score, truth } = measure;
      return free ? `follows for ${follows} of ${truth.length} steps` : `prediction, NRMSE ${score.toPrecision(3)}`;
    }
  }
}

let frames = 0;
let since = performance.now();
function frame(now: number): void {
  if (!paused) live?.advance();
  live?.draw((view) => seen.has(view));
  frames++;
  if (now - since >= 1000) {
    say("frames", String(Math.round((1000 * frames) / (now - since))));
    frames = 0;
    since = now;
  }
  requestAnimationFrame(frame);
}

async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    say("copied", `${what} copied`);
  } catch {
    say("copied", `the browser does not let a page copy; mark the text of the ${what}`);
  }
}

const controls = makeControls(element<HTMLFormElement>("controls"), settings, changed);
const remote = connect(
  () => settings,
  (offered) => {
    const here = whatIsHere();
    const topologies = offered.topologies.filter((name) => !here.topologies.includes(name));
    const signals = offered.signals.filter((name) => !here.signals.includes(name));
    if (topologies.length + signals.length === 0) return;
    const linked = settingsFromLink(link, offered);
    const isLinked = topologies.includes(linked.topology) || signals.includes(linked.signal);
    controls.offer({ topologies, signals }, isLinked ? linked : settings);
  },
);
makeDataPanel((read) => {
  series = read;
  controls.offerOwn(`your data: ${read.name}`);
});
const goTo = (next: LabSettings) => controls.offer({ topologies: [], signals: [] }, next);
document.querySelector(".below")!.append(makeMapView(() => settings, goTo));
element("copy-yaml").addEventListener("click", () => void copy(element("yaml").textContent ?? "", "YAML"));
element("save-yaml").addEventListener("click", () => saveText("lab.yaml", element("yaml").textContent ?? ""));
addSaveButtons(document.querySelectorAll("figure canvas"));
element("copy-link").addEventListener(
  "click",
  () => void copy(`${location.origin}${location.pathname}#${settingsToLink(settings)}`, usesOwn ? "link (without your data)" : "link"),
);
const pause = element<HTMLButtonElement>("pause");
const showPause = () => {
  pause.textContent = paused ? "Go on" : "Pause";
  pause.setAttribute("aria-pressed", String(paused));
};
pause.addEventListener("click", () => {
  paused = !paused;
  showPause();
});
showPause();
const drawer = element<HTMLButtonElement>("drawer");
drawer.addEventListener("click", () => {
  const open = element("panel").classList.toggle("open");
  drawer.setAttribute("aria-expanded", String(open));
});
const redraw = () => {
  shown.forEach(show);
  live?.redrawAxes();
};
const sizes = new ResizeObserver(redraw);
const sight = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) isIntersecting ? seen.add(target) : seen.delete(target);
});
for (const view of document.querySelectorAll("canvas")) {
  sizes.observe(view);
  sight.observe(view);
}
addEventListener("resize", redraw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => setTimeout(redraw, 0));
await Promise.all([build(), describe()]);
requestAnimationFrame(frame);
