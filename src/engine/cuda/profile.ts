// Times phases on streams of a device by pairs of events, which are recorded where the work is and
// read once it is done: nothing waits for them.
import { disposeAll } from "@spillway/core/disposal.js";
import { type Context, type CopyMarks, type DeviceEvent, type Stream, StreamMeter } from "@spillway/gpu";
import type { EngineProfile, PhaseName } from "../../reservoir/profile.js";
import { PhaseClock } from "../phase-clock.js";

interface Piece {
  readonly phase: PhaseName;
  readonly steps: number | undefined;
  /** Bytes that the meter had counted when it began. */
  readonly before: number;
  bytes: number | undefined;
  readonly start: DeviceEvent;
  readonly end: DeviceEvent;
}

/** How much a piece of work does. */
export interface PieceSize {
  readonly steps?: number | undefined;
  /** Bytes that it reads, if that is not what comes from or goes to the host. */
  readonly bytes?: number | undefined;
}

/** The phases of one session on a device, those on the host included. */
export class DeviceClock extends PhaseClock {
  readonly #context: Context;
  readonly #source: "device" | "simulated";
  readonly #meter = new StreamMeter();
  readonly #open = new Map<Stream, Piece>();
  readonly #events: DeviceEvent[] = [];
  #free: DeviceEvent[] = [];
  #pending: Piece[] = [];

  constructor(context: Context) {
    super();
    this.#context = context;
    this.#source = context.core.driver.takesPtxOnly ? "simulated" : "device";
  }

  /** Counts what is given to a stream from now on. */
  watch(stream: Stream): void {
    stream.meter = this.#meter;
  }

  /** What the stream is given from now on is this phase, until the next `on` or `off`. */
  on(stream: Stream, phase: PhaseName, { steps, bytes }: PieceSize = {}): void {
    this.off(stream);
    const piece: Piece = { phase, steps, bytes, before: this.#moved, start: this.#event(), end: this.#event() };
    piece.start.record(stream);
    this.#open.set(stream, piece);
  }

  /** Ends the stream's phase. */
  off(stream: Stream): void {
    const piece = this.#open.get(stream);
    if (!piece) return;
    this.#open.delete(stream);
    piece.end.record(stream);
    piece.bytes ??= this.#moved - piece.before;
    this.#pending.push(piece);
  }

  /** `on` and `off` for `Stream.download`, which takes page-locked memory before it copies. */
  around(stream: Stream, bytes: number): CopyMarks {
    return { before: () => this.on(stream, "download", { bytes }), after: () => this.off(stream) };
  }

  /** Bytes that came to the host in a way of their own. */
  came(bytes: number): void {
    this.#meter.bytesToHost += bytes;
  }

  /**
   * At the end of a call, even a failed one: reads what is done, and drops what an error left open.
   */
  override endCall(): void {
    for (const { start, end } of this.#open.values()) this.#free.push(start, end);
    this.#open.clear();
    try {
      this.collect();
    } catch {
      // The work that the events stand in has failed, which its own call says.
      this.#pending = [];
    }
  }

  /** Reads the events of pieces that are done, and frees them for use. */
  collect(): void {
    const { loss, disposed } = this.#context;
    if (loss || disposed) return;
    const left: Piece[] = [];
    for (const piece of this.#pending) {
      const { phase, steps, bytes, start, end } = piece;
      if (!end.ready) {
        left.push(piece);
        continue;
      }
      this.add({ phase, clock: this.#source, milliseconds: end.elapsedSince(start), steps, bytes });
      this.#free.push(start, end);
    }
    this.#pending = left;
  }

  override read(): EngineProfile {
    this.collect();
    const { launches, graphLaunches, kernels, bytesToDevice, bytesToHost } = this.#meter;
    return {
      ...super.read(),
      device: { launches, graphLaunches, kernels: Object.fromEntries(kernels), bytesToDevice, bytesToHost },
    };
  }

  /** Gives the events back; what was measured stays. */
  dispose(): void {
    this.endCall();
    this.#pending = [];
    this.#free = [];
    disposeAll(this.#events.splice(0));
  }

  get #moved(): number {
    return this.#meter.bytesToDevice + this.#meter.bytesToHost;
  }

  #event(): DeviceEvent {
    const free = this.#free.pop();
    if (free) return free;
    const event = this.#context.event({ label: "profile" });
    this.#events.push(event);
    return event;
  }
}
