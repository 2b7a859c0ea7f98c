// The errors of the simulated device: PTX that cannot be read, PTX that asks for something not
// modelled, and kernels that do wrong. Nothing here decides what is wrong; the parser, the compiler
// and the checks do.

import { SpillwayError } from "@spillway/core/errors.js";
import { visible } from "@spillway/core/text.js";

/** Characters of a message: the text it quotes may be of any length. */
const mostMessage = 1000;
const mostName = 300;

/** PTX text that is not PTX. `line` and `column` count from 1 and point at `offending`. */
export class PtxSyntaxError extends SpillwayError {
  override readonly name = "PtxSyntaxError";
  readonly line: number;
  readonly column: number;
  readonly offending: string;

  constructor(problem: string, line: number, column: number, offending: string) {
    super("format", visible(`PTX line ${line}, column ${column}: ${problem}, at "${visible(offending, 60)}"`, mostMessage));
    this.line = line;
    this.column = column;
    this.offending = offending;
  }
}

/** PTX that is well formed and not modelled, or a launch of what the module does not have. */
export class UnsupportedPtxError extends SpillwayError {
  override readonly name = "UnsupportedPtxError";
  readonly line: number;

  constructor(problem: string, line = 0) {
    super("unavailable", visible(line > 0 ? `PTX line ${line}: ${problem}` : problem, mostMessage));
    this.line = line;
  }
}

/** What a kernel did wrong. */
export type SimulationErrorKind =
  | "outOfBounds" // an address in no live allocation, or in the wrong state space
  | "useAfterFree" // an address in an allocation that was freed
  | "foreign" // an address in memory of another device, which this one was not let reach
  | "misaligned" // an address that is no multiple of the access size
  | "uninitialised" // bytes that nothing wrote
  | "readOnly" // a store to constant or parameter memory
  | "race" // two threads at the same bytes, one of them storing, with nothing that orders them
  | "barrierDivergence" // threads wait at a barrier that the others can never complete
  | "warpDivergence" // lanes of a mask can never arrive, or a lane is not in its own
  | "inactiveLane" // a shuffle reads a lane that takes no part
  | "spin" // a polling loop that nothing can end
  | "trap" // this and the next two: the kernel asked for it
  | "breakpoint"
  | "assertion"
  | "illegalInstruction" // operands that the instruction does not take
  | "stackOverflow"; // more local memory than a thread has

/** Three-dimensional index, as `%tid` and `%ctaid` are. */
export interface Index3 {
  x: number;
  y: number;
  z: number;
}

/** Where in a launch something happened. */
export interface SimulationSite {
  kernel: string;
  /** Line of the PTX text, from 1. */
  line: number;
  /** The instruction as written. */
  instruction: string;
  /** `file:line` of the CUDA source if the PTX carries `.loc` lines. */
  source?: string;
  /** If that was inlined: `file:line` of the outermost call. */
  inlinedAt?: string;
  block: Index3;
  thread: Index3;
}

export function lineWords({ line, source, inlinedAt }: Pick<SimulationSite, "line" | "source" | "inlinedAt">): string {
  const inlined = inlinedAt === undefined ? "" : `, inlined at ${inlinedAt}`;
  return `PTX line ${line}${source === undefined ? "" : ` (${source}${inlined})`}`;
}

const triple = (index: Index3): string => `(${index.x},${index.y},${index.z})`;

/** A kernel did what a GPU lets pass or crashes on. It names PTX line, block and thread. */
export class SimulationError extends SpillwayError {
  override readonly name = "SimulationError";
  readonly kind: SimulationErrorKind;
  readonly site: SimulationSite;

  constructor(kind: SimulationErrorKind, what: string, site: SimulationSite) {
    const location = `in ${visible(site.kernel, mostName)}, ${visible(lineWords(site), mostName)} "${visible(site.instruction, mostMessage)}"`;
    super("device", `${visible(what, mostMessage)}; ${location}, block ${triple(site.block)}, thread ${triple(site.thread)}`);
    this.kind = kind;
    this.site = site;
  }
}
