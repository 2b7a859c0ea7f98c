// One setting of the lab: its running reservoir, its measures and its pictures. The page has one,
// or two beside each other over the same data.
import { loadWasm, ReservoirComputer } from "../../src/lab/browser.js";
import type { Measure } from "../../src/lab/measures.js";
import type { OwnSeries } from "../../src/lab/own-data.js";
import { type LabSettings, reservoirOf, whatIsHere } from "../../src/lab/settings.js";
import { driveOf } from "../../src/lab/signal.js";
import { drawNote } from "./canvas.js";
import { drawForecast, drawMemory, drawSpectrum, forecastLegend } from "./charts.js";
import { showLegend } from "./legend.js";
import { LiveView } from "./live.js";
import type { MeasureAnswer, MeasureRequest } from "./measuring.js";
import { canvas } from "./page.js";
import { sentenceOf } from "./sentence.js";

/** Rows of the signal that the running reservoir goes round. */
const signalRows = 6000;
/** Milliseconds that the sliders must rest before weights are drawn anew. */
const rest = 120;
/** Milliseconds for the first steps of a new reservoir, before its first frame. */
const fillMs = 80;

/** Where each measure is said in words. */
const wordsOf = { hash: "hash", spectrum: "radius", memory: "capacity", forecast: "score" } as const;

/** What both sides of a page share. */
export interface Shared {
  /** The user's own data, if it drives the reservoirs. */
  own(): OwnSeries | undefined;
  paused(): boolean;
  /** Called when a side begins to compute, and when everything of it is there. */
  changed(): void;
}

/** What the values of input and forecast are counted in. */
const unitOf = (own: OwnSeries | undefined) => (own && !own.choices.standardise ? "as in the file" : "standard deviations");

export class Side {
  settings: LabSettings;
  /** Whether something is still to be computed. */
  busy = true;
  /** What was measured last, or the sentence why it could not be. */
  readonly results = new Map<Measure["kind"], MeasureAnswer["result"]>();
  /** Of the weights that run. */
  connections = 0;
  readonly #suffix: string;
  readonly #shared: Shared;
  #measures: Worker | undefined;
  #computer: ReservoirComputer | undefined;
  #live: LiveView | undefined;
  #request = 0;
  #waiting: ReturnType<typeof setTimeout> | undefined;

  /** `suffix` ends the ids of its elements. */
  constructor(suffix: string, settings: LabSettings, shared: Shared) {
    this.#suffix = suffix;
    this.settings = settings;
    this.#shared = shared;
  }

  /** Takes settings, and draws weights anew once they rest. */
  change(settings: LabSettings): void {
    this.settings = settings;
    this.#setBusy(true);
    clearTimeout(this.#waiting);
    this.#waiting = setTimeout(() => void this.build(), rest);
  }

  async build(): Promise<void> {
    const id = ++this.#request;
    // A slider that moves while the weights are drawn makes a build of its own: this one keeps its
    // settings.
    const wanted = this.settings;
    const own = this.#shared.own();
    const { topologies, signals } = whatIsHere();
    const elsewhere = !topologies.includes(wanted.topology) ? wanted.topology : !signals.includes(wanted.signal) ? wanted.signal : "";
    if (elsewhere !== "") {
      this.#live = undefined;
      this.results.clear();
      for (const name of Object.values(wordsOf)) this.#say(name, "");
      this.#say("status", `the machine that serves this page has ${elsewhere}, and the page has not: run it there`);
      return this.#setBusy(false);
    }
    for (const name of Object.values(wordsOf)) this.#say(name, "…");
    try {
      await loadWasm();
      const next = await ReservoirComputer.create(reservoirOf(wanted));
      if (id !== this.#request) return void next.dispose();
      const before = this.#computer;
      this.#computer = next;
      this.#live = new LiveView(next, driveOf(wanted, signalRows, own?.drive).input, unitOf(own), this.#suffix);
      showLegend(`trajectories-legend${this.#suffix}`, this.#live.legend);
      this.#say("engine", next.engine.plan.summary);
      const { weights } = next.model;
      this.connections = "values" in weights ? weights.values.length : weights.data.length;
      this.#say("status", `${wanted.size} neurons, ${this.connections.toLocaleString("en-US")} connections`);
      await before?.dispose();
      if (id !== this.#request) return;
    } catch (error) {
      if (id !== this.#request) return;
      this.#live = undefined;
      this.#say("status", sentenceOf(error));
    }
    // A page that stands still is filled, however long it takes.
    this.#live?.fill(this.#shared.paused() ? Infinity : fillMs);
    // Not before: its code and its work would hold up the first picture.
    this.#measures ??= this.#startMeasures();
    this.#measures.postMessage({ id, settings: wanted, own: own?.drive } satisfies MeasureRequest);
  }

  #startMeasures(): Worker {
    const worker = new Worker(new URL("./measures.ts", import.meta.url), { type: "module" });
    worker.addEventListener("message", ({ data }: MessageEvent<MeasureAnswer>) => {
      if (data.id !== this.#request) return;
      this.results.set(data.kind, data.result);
      this.#show(data.kind, data.result);
      if (data.last) this.#setBusy(false);
    });
    return worker;
  }

  /** Goes on by a few steps, and draws the running pictures that are visible. */
  frame(visible: (view: HTMLCanvasElement) => boolean): void {
    if (!this.#shared.paused()) this.#live?.advance();
    this.#live?.draw(visible);
  }

  /** Draws everything anew: sizes or colours have changed. */
  redraw(): void {
    for (const [kind, result] of this.results) this.#show(kind, result);
    this.#live?.redrawAxes();
  }

  /** The results in a sentence. */
  inWords(): string {
    const words = [...this.results.values()].map((result) =>
      typeof result === "string" ? result : result.kind === "hash" ? "" : summaryOf(result),
    );
    return words.filter((text) => text !== "").join("; ");
  }

  async dispose(): Promise<void> {
    this.#request = -1;
    clearTimeout(this.#waiting);
    this.#measures?.terminate();
    this.#live = undefined;
    await this.#computer?.dispose();
  }

  #setBusy(busy: boolean): void {
    this.busy = busy;
    this.#shared.changed();
  }

  /** Not every side has an element for everything. */
  #say(id: string, text: string): void {
    const element = document.getElementById(`${id}${this.#suffix}`);
    if (element) element.textContent = text;
  }

  #show(kind: Measure["kind"], result: MeasureAnswer["result"]): void {
    if (typeof result === "string") {
      this.#say(wordsOf[kind], kind === "hash" ? result : "");
      if (kind !== "hash") this.#picture(kind, result, (view) => drawNote(view, result));
      return;
    }
    const text = summaryOf(result);
    this.#say(wordsOf[kind], text);
    if (result.kind === "spectrum") this.#picture(kind, text, (view) => drawSpectrum(view, result));
    else if (result.kind === "memory") this.#picture(kind, text, (view) => drawMemory(view, result));
    else if (result.kind === "forecast") {
      this.#picture(kind, text, (view) => drawForecast(view, result, `value (${unitOf(this.#shared.own())})`));
      showLegend(`forecast-legend${this.#suffix}`, forecastLegend(result));
    }
  }

  /** Draws a view and says in words what is on it. */
  #picture(id: string, words: string, draw: (view: HTMLCanvasElement) => void): void {
    const view = canvas(`${id}${this.#suffix}`);
    view.setAttribute("aria-label", `${view.dataset["title"]}: ${words}`);
    draw(view);
  }
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
