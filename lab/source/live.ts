// The reservoir that runs while one looks: a few steps each frame, drawn as colours, marks and
// lines.
import type { Matrix, ReservoirComputer } from "../../src/index.js";
import { divergingScale, seriesColour } from "../../src/plot/palette.js";
import { type Axis, clearPanel, colour, drawLine, drawPanel, type Panel, stateColours, withAxis } from "./canvas.js";
import type { LegendEntry } from "./legend.js";
import { canvas } from "./page.js";

/** Steps that the views hold. */
const span = 600;
const stepsPerFrame = 2;
const shownNeurons = 6;

/** The last steps of a reservoir, in rings. */
export class LiveView {
  readonly legend: readonly LegendEntry[];
  readonly #suffix: string;
  readonly #computer: ReservoirComputer;
  readonly #input: Matrix;
  readonly #inputAxis: Axis;
  readonly #neurons: readonly number[];
  readonly #lines: readonly Float32Array[];
  readonly #driven = new Float32Array(span).fill(Number.NaN);
  readonly #before: Float32Array;
  readonly #states: OffscreenCanvas;
  readonly #marks: OffscreenCanvas;
  readonly #column: ImageData;
  #panels: Readonly<Record<"heatmap" | "raster" | "trajectories" | "driven", Panel>> | undefined;
  #step = 0;

  /** `unit` is that of the input; `suffix` ends the ids of the canvases. */
  constructor(computer: ReservoirComputer, input: Matrix, unit: string, suffix: string) {
    const { size } = computer.model;
    const shown = Math.min(shownNeurons, size);
    this.#suffix = suffix;
    this.#computer = computer;
    this.#input = input;
    this.#inputAxis = { range: rangeOf(input.data), title: `input (${unit})` };
    this.#neurons = Array.from({ length: shown }, (_, k) => Math.floor((k * size) / shown));
    this.#lines = this.#neurons.map(() => new Float32Array(span).fill(Number.NaN));
    this.#before = new Float32Array(size);
    this.#states = new OffscreenCanvas(span, size);
    this.#marks = new OffscreenCanvas(span, size);
    this.#column = new ImageData(1, size);
    this.legend = [
      { text: "input", colour: "--soft", mark: "dashes" },
      ...this.#neurons.map((neuron, l) => ({ text: `neuron ${neuron}`, colour: seriesColour(l), mark: "line" as const })),
    ];
    computer.reset();
  }

  /** Goes on by a few steps. */
  advance(steps: number = stepsPerFrame): void {
    const states = this.#states.getContext("2d")!;
    const marks = this.#marks.getContext("2d")!;
    marks.fillStyle = colour("--accent");
    for (let k = 0; k < steps; k++) {
      const u = this.#input.row(this.#step % this.#input.rows);
      const x = this.#computer.step(u);
      const at = this.#step % span;
      this.#driven[at] = u[0]!;
      for (const [l, neuron] of this.#neurons.entries()) this.#lines[l]![at] = x[neuron]!;
      marks.clearRect(at, 0, 1, x.length);
      const { data } = this.#column;
      for (let i = 0; i < x.length; i++) {
        const shade = 3 * Math.min(255, Math.max(0, Math.round(127.5 * (x[i]! + 1))));
        data[4 * i] = stateColours[shade]!;
        data[4 * i + 1] = stateColours[shade + 1]!;
        data[4 * i + 2] = stateColours[shade + 2]!;
        data[4 * i + 3] = 255;
        if (this.#before[i]! < 0 && x[i]! >= 0) marks.fillRect(at, i, 1, 1);
        this.#before[i] = x[i]!;
      }
      states.putImageData(this.#column, at, 0);
      this.#step++;
    }
  }

  /** Fills the views, for about the given number of milliseconds. */
  fill(milliseconds: number): void {
    const end = performance.now() + milliseconds;
    while (this.#step < span && performance.now() < end) this.advance(20);
  }

  /**
   * Draws the visible ones of its three views. The axes do not move, so they are drawn once.
   */
  draw(visible: (canvas: HTMLCanvasElement) => boolean): void {
    this.#panels ??= this.#drawAxes();
    const { heatmap, raster, trajectories, driven } = this.#panels;
    if (visible(heatmap.context.canvas)) this.#unroll(heatmap, this.#states);
    if (visible(raster.context.canvas)) this.#unroll(raster, this.#marks);
    if (!visible(trajectories.context.canvas)) return;
    clearPanel(trajectories);
    const first = -Math.min(span, this.#step);
    drawLine(driven, this.#ordered(this.#driven), { colour: colour("--soft"), dash: [4, 3] }, first);
    for (const [l, line] of this.#lines.entries()) drawLine(trajectories, this.#ordered(line), { colour: seriesColour(l) }, first);
  }

  /** Draws the axes anew with the next frame: sizes or colours have changed. */
  redrawAxes(): void {
    this.#panels = undefined;
  }

  #drawAxes() {
    const x: Axis = { range: [-span, 0], title: "time from now (steps)" };
    const y: Axis = { range: [0, this.#before.length], title: "neuron", reversed: true };
    const state: Axis = { range: [-1, 1], title: "state" };
    const heatmap = drawPanel(canvas(`heatmap${this.#suffix}`), { x, y, right: { ...state, gap: 16 } });
    drawColours(heatmap);
    const raster = drawPanel(canvas(`raster${this.#suffix}`), { x, y });
    const trajectories = drawPanel(canvas(`trajectories${this.#suffix}`), { x, y: state, right: this.#inputAxis });
    return { heatmap, raster, trajectories, driven: withAxis(trajectories, this.#inputAxis) };
  }

  /** A ring's values, the oldest first. */
  #ordered(ring: Float32Array): Float32Array {
    if (this.#step <= span) return ring.subarray(0, this.#step);
    const at = this.#step % span;
    const out = new Float32Array(span);
    out.set(ring.subarray(at));
    out.set(ring.subarray(0, at), span - at);
    return out;
  }

  /** A ring of columns, the newest at the right. */
  #unroll(panel: Panel, ring: OffscreenCanvas): void {
    const { context, left, top, width, height } = panel;
    clearPanel(panel);
    context.imageSmoothingEnabled = false;
    const right = left + width;
    const perStep = width / span;
    const newer = this.#step > span ? this.#step % span : this.#step;
    const older = this.#step > span ? span - newer : 0;
    if (older > 0) context.drawImage(ring, newer, 0, older, ring.height, left, top, older * perStep, height);
    if (newer > 0) context.drawImage(ring, 0, 0, newer, ring.height, right - newer * perStep, top, newer * perStep, height);
  }
}

/** The scale of the states' colours, between the panel and its right axis. */
function drawColours({ context, left, top, width, height }: Panel): void {
  const gradient = context.createLinearGradient(0, top + height, 0, top);
  for (const [at, hex] of divergingScale) gradient.addColorStop(at, hex);
  context.fillStyle = gradient;
  context.fillRect(left + width + 6, top, 10, height);
}

/** The range of a series with a margin; of a constant one a range around it. */
export function rangeOf(values: ArrayLike<number>): readonly [number, number] {
  let low = Infinity;
  let high = -Infinity;
  for (let i = 0; i < values.length; i++) {
    low = Math.min(low, values[i]!);
    high = Math.max(high, values[i]!);
  }
  const margin = Math.max(0.08 * (high - low), 1e-6 * Math.max(Math.abs(low), Math.abs(high))) || 1;
  return [low - margin, high + margin];
}
