// The machine that all simulated devices of a driver share: one memory, one clock. It is made when
// a context first needs it.
import type { PtxMachine } from "@spillway/ptx/interpreter/index.js";
import { makeMachine, type Simulation } from "./options.js";

/** Bytes a nanosecond that copies and fills are taken to move: about what PCI Express 5 does. */
const copyBytesPerNanosecond = 50;

export class Machine {
  readonly simulation: Simulation;
  /** Grows whenever something changed that a kernel of another device could be waiting for. */
  changes = 0;
  /** Gives the other devices a turn, while a kernel of one waits; set by what has the devices. */
  othersGoOn: (waiting: object) => void = () => undefined;
  #ptx: PtxMachine | undefined;
  #allocations = 0;

  constructor(simulation: Simulation) {
    this.simulation = simulation;
  }

  get ptx(): PtxMachine {
    this.#ptx ??= makeMachine(this.simulation);
    return this.#ptx;
  }

  get time(): number {
    return this.ptx.nanoseconds;
  }

  /** Lets the time of a copy go by. */
  spend(bytes: number): void {
    this.ptx.nanoseconds += 1000 + Math.ceil(bytes / copyBytesPerNanosecond);
  }

  /** A name for an allocation in errors, until it is given a better one. */
  nameOfNext(): string {
    return `allocation ${++this.#allocations}`;
  }
}
