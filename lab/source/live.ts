// The reservoir that runs while one looks: a few steps each frame, drawn as colours, marks and lines.
import type { Matrix, ReservoirComputer } from "../../src/index.js";
import { colour, drawLine, lineColours, stateColours, type Surface, surfaceOf } from "./canvas.js";

/** Steps that the views hold. */
const span = 600;
const stepsPerFrame = 2;

/** The last steps of a reservoir, in rings. */
export class LiveView {
  readonly #computer: ReservoirComputer;
  readonly #input: Matrix;
  readonly #neurons: readonly number[];
  readonly #lines: readonly Float32Array[];
  readonly #driven = new Float32Array(span).fill(Number.NaN);
  readonly #before: Float32Array;
  readonly #states: OffscreenCanvas;
  readonly #marks: OffscreenCanvas;
  readonly #column: ImageData;
  #step = 0;

  constructor(computer: ReservoirComputer, input: Matrix) {
    const { size } = computer.model;
    this.#computer = computer;
    this.#input = input;
    this.#neurons = Array.from({ length: Math.min(6, size) }, (_, k) => Math.floor((k * size) / Math.min(6, size)));
    this.#lines = this.#neurons.map(() => new Float32Array(span).fill(Number.NaN));
    this.#before = new Float32Array(size);
    this.#states = new OffscreenCanvas(span, size);
    this.#marks = new OffscreenCanvas(span, size);
    this.#column = new ImageData(1, size);
    computer.reset();
  }

  /** Goes on by a few steps. */
  advance(): void {
    const states = this.#states.getContext("2d")!;
    const marks = this.#marks.getContext("2d")!;
    for (let k = 0; k < stepsPerFrame; k++) {
      const u = this.#input.row(this.#step % this.#input.rows);
      const x = this.#computer.step(u);
      const at = this.#step % span;
      this.#driven[at] = u[0]!;
      for (const [l, neuron] of this.#neurons.entries()) this.#lines[l]![at] = x[neuron]!;
      marks.clearRect(at, 0, 1, x.length);
      marks.fillStyle = colour("--accent");
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

  /** Draws all three views. */
  draw(heatmap: HTMLCanvasElement, raster: HTMLCanvasElement, trajectories: HTMLCanvasElement): void {
    this.#unroll(surfaceOf(heatmap), this.#states);
    this.#unroll(surfaceOf(raster), this.#marks);
    const surface = surfaceOf(trajectories);
    const ordered = (ring: Float32Array) => {
      if (this.#step <= span) return ring.subarray(0, this.#step);
      const at = this.#step % span;
      const out = new Float32Array(span);
      out.set(ring.subarray(at));
      out.set(ring.subarray(0, at), span - at);
      return out;
    };
    drawLine(surface, ordered(this.#driven), [-3, 3], { colour: colour("--soft"), dash: [4, 3] }, span);
    for (const [l, line] of this.#lines.entries()) drawLine(surface, ordered(line), [-1, 1], { colour: lineColours[l]! }, span);
  }

  /** A ring of columns with the oldest to the left. */
  #unroll({ context, width, height }: Surface, ring: OffscreenCanvas): void {
    context.imageSmoothingEnabled = false;
    const perStep = width / span;
    const at = this.#step > span ? this.#step % span : 0;
    const filled = Math.min(span, this.#step);
    const newer = this.#step > span ? at : filled;
    if (this.#step > span) context.drawImage(ring, at, 0, span - at, ring.height, 0, 0, (span - at) * perStep, height);
    if (newer > 0) {
      const left = this.#step > span ? (span - at) * perStep : 0;
      context.drawImage(ring, 0, 0, newer, ring.height, left, 0, newer * perStep, height);
    }
  }
}
