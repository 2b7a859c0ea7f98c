// The lab's page: puts sliders, running reservoir, measures and links together.
import { loadWasm, ReservoirComputer } from "../../src/lab/browser.js";
import { experimentOf, type LabSettings, reservoirOf, settingsFromLink, settingsToLink } from "../../src/lab/settings.js";
import { signalOf } from "../../src/lab/signal.js";
import { drawFailure, drawForecast, drawMemory, drawSpectrum } from "./charts.js";
import { makeControls } from "./controls.js";
import { LiveView } from "./live.js";
import type { Measure } from "./measures.js";
import { connect } from "./remote.js";

const element = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;
const canvas = (id: string) => element<HTMLCanvasElement>(id);
const say = (id: string, text: string) => {
  element(id).textContent = text;
};

/** Rows of the signal that the running reservoir goes round. */
const signalRows = 6000;
/** Milliseconds that the sliders must rest before weights are drawn anew. */
const rest = 120;

let settings: LabSettings = settingsFromLink(location.hash);
let computer: ReservoirComputer | undefined;
let live: LiveView | undefined;
let paused = matchMedia("(prefers-reduced-motion: reduce)").matches;
let request = 0;
let waiting: ReturnType<typeof setTimeout> | undefined;
const shown = new Map<string, Measure>();
const measures = new Worker(new URL("./measures.ts", import.meta.url), { type: "module" });

const connectionsOf = (weights: ReservoirComputer["model"]["weights"]) =>
  ("values" in weights ? weights.values.length : weights.data.length).toLocaleString("en-US");

async function build(): Promise<void> {
  const id = ++request;
  measures.postMessage({ id, settings });
  for (const name of ["hash", "radius", "capacity", "score"]) say(name, "…");
  try {
    const next = await ReservoirComputer.create(reservoirOf(settings));
    if (id !== request) return void next.dispose();
    await computer?.dispose();
    computer = next;
    live = new LiveView(next, signalOf(settings, signalRows).input);
    const { plan } = next.engine;
    say("engine", plan.summary);
    say("status", `${settings.size} neurons, ${connectionsOf(next.model.weights)} connections`);
  } catch (error) {
    live = undefined;
    say("status", error instanceof Error ? error.message : String(error));
  }
  if (paused) live?.advance();
}

async function describe(): Promise<void> {
  history.replaceState(undefined, "", `${location.pathname}${location.search}#${settingsToLink(settings)}`);
  const { stringify } = await import("yaml");
  say("yaml", stringify(experimentOf(settings)));
}

function changed(next: LabSettings): void {
  settings = next;
  clearTimeout(waiting);
  waiting = setTimeout(() => void build(), rest);
  void describe();
}

measures.addEventListener("message", ({ data }: MessageEvent<{ id: number; result: Measure }>) => {
  if (data.id !== request) return;
  shown.set(data.result.kind === "failed" ? data.result.what : data.result.kind, data.result);
  show(data.result);
});

function show(measure: Measure): void {
  if (measure.kind === "hash") say("hash", measure.hash);
  else if (measure.kind === "spectrum") {
    drawSpectrum(canvas("spectrum"), measure);
    say("radius", `spectral radius ${measure.radius.toFixed(3)}`);
  } else if (measure.kind === "memory") {
    drawMemory(canvas("memory"), measure);
    say("capacity", `capacity ${measure.total.toFixed(1)} steps`);
  } else if (measure.kind === "forecast") {
    drawForecast(canvas("forecast"), measure);
    const { free, follows, score, truth } = measure;
    say("score", free ? `follows for ${follows} of ${truth.length} steps` : `prediction, NRMSE ${score.toPrecision(3)}`);
  } else if (measure.what !== "hash") {
    drawFailure(canvas(measure.what), measure.message);
    say({ spectrum: "radius", memory: "capacity", forecast: "score" }[measure.what] ?? "status", "");
  } else say("hash", measure.message);
}

let frames = 0;
let since = performance.now();
function frame(now: number): void {
  if (!paused) live?.advance();
  live?.draw(canvas("heatmap"), canvas("raster"), canvas("trajectories"));
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

makeControls(element<HTMLFormElement>("controls"), settings, changed);
element("copy-yaml").addEventListener("click", () => void copy(element("yaml").textContent ?? "", "YAML"));
element("copy-link").addEventListener(
  "click",
  () => void copy(`${location.origin}${location.pathname}#${settingsToLink(settings)}`, "link"),
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
addEventListener("resize", () => shown.forEach(show));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => setTimeout(() => shown.forEach(show), 0));
connect(() => settings);
await loadWasm();
await Promise.all([build(), describe()]);
requestAnimationFrame(frame);
