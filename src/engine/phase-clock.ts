// Times phases of an engine's work by the host's clock, and sums what was timed by whichever clock.
// It does not know what the phases do.
import type { EngineOptions } from "../reservoir/engine.js";
import { addPhase, type EngineProfile, type PhaseName, type PhaseProfile } from "../reservoir/profile.js";

/** A piece of work, timed. */
export type TimedPiece = Pick<PhaseProfile, "phase" | "clock" | "milliseconds"> & {
  readonly [Field in "steps" | "bytes"]?: number | undefined;
};

/** The phases of one session. One piece of work is timed at a time. */
export class PhaseClock {
  readonly #phases = new Map<string, PhaseProfile>();
  #open: { readonly phase: PhaseName; readonly steps: number | undefined; readonly begun: number } | undefined;

  /** Begins a piece of work on the host. One that an error left open is dropped. */
  enter(phase: PhaseName, steps?: number): void {
    this.#open = { phase, steps, begun: performance.now() };
  }

  /** Ends it. */
  leave(): void {
    const open = this.#open;
    if (!open) return;
    const milliseconds = performance.now() - open.begun;
    this.#open = undefined;
    this.add({ phase: open.phase, clock: "host", milliseconds, steps: open.steps });
  }

  /** Adds a piece of work to its phase. */
  add(piece: TimedPiece): void {
    addPhase(this.#phases, { ...(piece as PhaseProfile), pieces: 1 });
  }

  /** At the end of a call, even a failed one. */
  endCall(): void {}

  /** What was measured so far. */
  read(): EngineProfile {
    return { phases: [...this.#phases.values()] };
  }
}

/** The clock of a session on the host that is opened with these options. */
export function clockFor(options: EngineOptions | undefined): PhaseClock | undefined {
  return options?.profile ? new PhaseClock() : undefined;
}
