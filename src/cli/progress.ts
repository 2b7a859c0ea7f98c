// Progress on standard error: a bar on a terminal, elsewhere plain lines, at most one a second. It
// never touches standard output.

import { visibleLines } from "@spillway/core/text.js";
import type { SingleBar } from "cli-progress";

/** What long work reports to. */
export interface Progress {
  /** Begins a piece of work of `total` steps. */
  begin(label: string, total: number): void;
  /** Steps done of the piece that was begun, and what is being done now. */
  update(done: number, label?: string): void;
  /** Ends the piece. */
  end(): void;
  /** A line that stays. */
  note(line: string): void;
}

/** Reports nothing. */
export const silent: Progress = { begin() {}, update() {}, end() {}, note() {} };

/** Hands the steps of one piece of work on; the first call begins it. */
export function reportTo(progress: Progress): (done: number, total: number, label: string) => void {
  let hasBegun = false;
  return (done, total, label) => {
    if (!hasBegun) progress.begin(label, total);
    hasBegun = true;
    progress.update(done, label);
  };
}

/** What progress is written to: standard error, or a stand-in. */
export interface ProgressStream {
  readonly isTTY?: boolean | undefined;
  write(text: string): unknown;
}

/** A bar if the stream is a terminal, lines if it is not, nothing if `quiet`. */
export async function createProgress(quiet: boolean, stream: ProgressStream & NodeJS.WritableStream = process.stderr): Promise<Progress> {
  if (quiet) return silent;
  if (!stream.isTTY) return new LineProgress(stream);
  const { SingleBar } = (await import("cli-progress")).default;
  const bar = new SingleBar({
    stream,
    format: "{label} [{bar}] {percentage}%  {eta_formatted} left",
    barsize: 28,
    barCompleteChar: "=",
    barIncompleteChar: " ",
    hideCursor: false,
    clearOnComplete: true,
    gracefulExit: false,
    fps: 10,
    etaBuffer: 50,
  });
  return new BarProgress(bar, stream);
}

class BarProgress implements Progress {
  readonly #bar: SingleBar;
  readonly #stream: ProgressStream;
  #running = false;
  constructor(bar: SingleBar, stream: ProgressStream) {
    this.#bar = bar;
    this.#stream = stream;
  }

  begin(label: string, total: number): void {
    this.end();
    this.#bar.start(Math.max(1, total), 0, { label });
    this.#running = true;
  }

  update(done: number, label?: string): void {
    if (this.#running) this.#bar.update(done, label === undefined ? {} : { label });
  }

  end(): void {
    if (this.#running) this.#bar.stop();
    this.#running = false;
  }

  note(line: string): void {
    this.end();
    this.#stream.write(`${visibleLines(line)}\n`);
  }
}

/** Plain lines for logs: each says how far a piece of work is. */
export class LineProgress implements Progress {
  readonly #stream: ProgressStream;
  readonly #clock: () => number;
  #label = "";
  #total = 0;
  #last = Number.NEGATIVE_INFINITY;
  #line = "";

  constructor(stream: ProgressStream, clock: () => number = () => performance.now()) {
    this.#stream = stream;
    this.#clock = clock;
  }

  begin(label: string, total: number): void {
    this.#label = label;
    this.#total = Math.max(1, total);
    this.update(0);
  }

  update(done: number, label = this.#label): void {
    this.#label = label;
    const line = `${this.#label}: ${Math.min(100, Math.floor((100 * done) / this.#total))}%\n`;
    const now = this.#clock();
    if (line === this.#line || now - this.#last < 1000) return;
    this.#last = now;
    this.#line = line;
    this.#stream.write(line);
  }

  end(): void {}

  note(line: string): void {
    this.#stream.write(`${visibleLines(line)}\n`);
  }
}
