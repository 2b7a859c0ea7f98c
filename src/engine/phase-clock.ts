// Times phases of an engine's work by the host's clock, and sums what was timed by whichever clock.
// It does not know what the phases do.
import type { EngineOptions } from "../reservoir/engine.js";
import type { EngineProfile, PhaseName, PhaseProfile } from "../reservoir/profile.js";

/** A piece of work, timed. */
export interface TimedPiece {
  readonly phase: PhaseName;
  readonly clock: PhaseProfile["clock"];
  readonly milliseconds: number;
  readonly steps?: number | undefined;
  readonly bytes?: number | undefined;
}

type Total = { -readonly [Field in keyof PhaseProfile]: PhaseProfile[Field] };

/** The phases of one session. One piece of work is timed at a time. */
export class PhaseClock {
  readonly #totals = new Map<string, Total>();
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
  add({ phase, clock, milliseconds, steps, bytes }: TimedPiece): void {
    const key = `${clock} ${phase}`;
    let total = this.#totals.get(key);
    if (!total) {
      total = { phase, clock, milliseconds: 0, pieces: 0 };
      this.#totals.set(key, total);
    }
    total.milliseconds += milliseconds;
    total.pieces++;
    if (steps !== undefined) total.steps = (total.steps ?? 0) + steps;
    if (bytes !== undefined && bytes > 0) total.bytes = (total.bytes ?? 0) + bytes;
  }

  /** At the end of a call, even a failed one. */
  endCall(): void {}

  /** What was measured so far. */
  read(): EngineProfile {
    const phases = [...this.#totals.values()].map((total): PhaseProfile => {
      const { bytes, milliseconds } = total;
      return bytes !== undefined && milliseconds > 0 ? { ...total, gigabytesPerSecond: bytes / milliseconds / 1e6 } : { ...total };
    });
    return { phases };
  }
}

/** The clock of a session on the host that is opened with these options. */
export function clockFor(options: EngineOptions | undefined): PhaseClock | undefined {
  return options?.profile ? new PhaseClock() : undefined;
}
