// What all blocks of one launch share: the kernel, its counters, its clock, and how an error gets
// its location. It schedules nothing.

import type { CompiledKernel } from "../compile/function.js";
import { lineWords, SimulationError, type SimulationSite } from "../errors.js";
import type { PtxInstruction } from "../types.js";
import type { Access } from "./access.js";
import { emptyCounters, type LaunchCounters } from "./counters.js";
import { GlobalRaces } from "./global-races.js";
import type { Checks, Limits } from "./options.js";
import { Races } from "./races.js";
import type { Spares } from "./spares.js";
import { ConflictingStores } from "./stores.js";
import { UnwrittenValues } from "./unwritten.js";
import type { Warp, WarpThreads } from "./warp.js";

/** Bytes that the registers of all threads on the device may take together. */
export const mostRegisterBytes = 2 ** 29;

export interface LaunchSetting {
  kernel: CompiledKernel;
  checks: Checks;
  limits: Limits;
  gridId: number;
  blocks: number;
  localBytes: number;
  paramBase: number;
  /** Shared words of all blocks that are on the device at once. */
  tagWords: number;
  spares: Spares;
  access: Access;
  /** Functions by the numbers that pointers to them hold. */
  functionNames: readonly string[];
  /** Address of the grid's workspace as halves; null if the launch is not cooperative. */
  workspace: { low: number; high: number };
  fileNames: ReadonlyMap<number, string>;
  startNanoseconds: number;
  print: ((text: string) => void) | undefined;
}

export class LaunchState {
  readonly setting: LaunchSetting;
  readonly kernel: CompiledKernel;
  readonly checks: Checks;
  readonly limits: Limits;
  readonly access: Access;
  readonly races: Races;
  readonly stores: ConflictingStores;
  readonly values = new UnwrittenValues();
  readonly threads: WarpThreads[] = [];
  /** Runs the other threads on, and returns whether one of them writes a byte, or races. */
  writtenLater: ((warp: Warp, offset: number) => boolean | SimulationError) | undefined;
  /** Undefined if that check is off. */
  readonly globalRaces: GlobalRaces | undefined;
  /** Segments run so far by all warps: the simulated clock. */
  steps = 0;
  /** Grows whenever a thread changes something another could be waiting for. */
  progress = 0;
  /** Bytes of the registers of all calls under way. */
  private registerBytes = 0;
  readonly printed: string[] = [];
  private printedCharacters = 0;
  readonly counters: LaunchCounters = emptyCounters();
  /** The heap, for what is neither a load nor a store. */
  readonly view: DataView;

  constructor(setting: LaunchSetting) {
    const { kernel, checks, limits, access, spares, tagWords, blocks } = setting;
    const heap = access.memory.bytes;
    this.setting = setting;
    this.kernel = kernel;
    this.checks = checks;
    this.limits = limits;
    this.access = access;
    this.view = new DataView(heap.buffer);
    this.races = new Races(tagWords, this, spares);
    this.stores = new ConflictingStores(heap);
    this.globalRaces = checks.globalRaces ? new GlobalRaces(blocks, this, spares) : undefined;
  }

  /** After the launch: leaves what it worked in to the next. */
  giveBack(): void {
    this.setting.spares.giveAccesses(this.races.words);
    this.globalRaces?.giveBack();
  }

  /** Counts registers that a call takes, or gives back. False if they do not fit. */
  keepRegisters(bytes: number): boolean {
    this.registerBytes += bytes;
    return this.registerBytes <= mostRegisterBytes;
  }

  /** Takes what a kernel prints. False if that is more than `most` characters in all. */
  tell(text: string, most: number): boolean {
    this.printedCharacters += text.length;
    if (this.printedCharacters > most) return false;
    this.printed.push(text);
    this.setting.print?.(text);
    return true;
  }

  /** An instruction's PTX line, source line, and outermost call that it was inlined at. */
  lines({ line, location }: PtxInstruction): Pick<SimulationSite, "line" | "source" | "inlinedAt"> {
    const name = (at: { file: number; line: number }): string => `${this.setting.fileNames.get(at.file) ?? `file ${at.file}`}:${at.line}`;
    return {
      line,
      ...(location !== undefined && { source: name(location) }),
      ...(location?.outermost !== undefined && { inlinedAt: name(location.outermost) }),
    };
  }

  /** An instruction in words, for messages that name another than the one of their site. */
  describe(instruction: PtxInstruction): string {
    return `${lineWords(this.lines(instruction))} "${instruction.text}"`;
  }

  /** The error for a use of a byte that nothing wrote, or another thread writes later. */
  unwritten(warp: Warp, lane: number, site: number, offset: number, load: string, use = ""): SimulationError {
    const later = this.checks.races && this.writtenLater?.(warp, offset);
    if (later instanceof SimulationError) return later;
    const { words } = this.access.memory.describe(offset, true);
    if (!later) return warp.error("uninitialised", `${load}, which nothing wrote (${words})${use}`, lane, site);
    const what = `${load}, which another thread writes only later (${words})${use}: no barrier is between`;
    return warp.error("race", what, lane, site);
  }
}
