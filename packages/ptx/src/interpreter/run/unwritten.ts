// Values that were loaded from shared or local bytes which nothing wrote. Loading and moving them
// is no error, since structs have padding; it is one that an address, a branch, an atomic or a store
// depends on them. They are followed in registers, after each segment. Bytes that get a value
// computed from them count as not written. What is not known counts as harmless: instructions under
// a guard, choices and logic of which one side is good, and bytes that a plain copy took along.
import { spaceIn } from "../compile/memory.js";
import { hasResult, registersOf } from "../compile/registers.js";
import { isScalarType, type PtxInstruction, type PtxOperand, type PtxRegister, scalarBytes } from "../types.js";
import { shadow } from "./memory.js";
import type { Frame, Group, Warp } from "./warp.js";

/** A load of bytes that nothing wrote. */
export interface UnwrittenLoad {
  readonly site: number;
  readonly lane: number;
  /** Which bytes of it, as bits, and the first of them in the heap. */
  readonly bytes: number;
  readonly offset: number;
  readonly words: () => string;
}

/** A store to shared or local memory: where it went in the heap. */
interface OwnStore {
  readonly lane: number;
  readonly site: number;
  readonly offset: number;
}

/** Such a value in a register; `computed` if it was not only moved. */
interface Value {
  readonly load: UnwrittenLoad;
  readonly computed: boolean;
}

/** Registers, by index, that hold such values in some lanes. */
export type UnwrittenRegisters = Map<number, (Value | undefined)[]>;

/** Operations that move or choose: one good operand may be all that counts. */
const choices = new Set(["mov", "selp", "slct", "and", "or", "lop3"]);
const moves = new Set(["mov", "selp", "slct"]);
/** Operations whose operands must be good. */
const demanding = new Set(["atom", "red", "cp", "mbarrier", "brx"]);

const listOf = (operand: PtxOperand): readonly PtxOperand[] => (operand.kind === "vector" ? operand.elements : [operand]);

export class UnwrittenValues {
  private loads: UnwrittenLoad[] = [];
  private stores: OwnStore[] = [];

  get pending(): boolean {
    return this.loads.length > 0;
  }

  note(warp: Warp, load: UnwrittenLoad): void {
    warp.holdsUnwritten = true;
    this.loads.push(load);
  }

  noteStore(warp: Warp, lane: number, site: number, offset: number): void {
    if (this.pending || warp.running!.frame.unwritten !== undefined) this.stores.push({ lane, site, offset });
  }

  /** Follows what the segment of a group did. @throws SimulationError for a use */
  follow(warp: Warp, { frame, segment: index, mask }: Group): void {
    const segment = frame.fn.segments[index]!;
    const held: UnwrittenRegisters = frame.unwritten ?? new Map();
    const run: Run = { warp, held, loads: this.loads, stores: this.stores };
    this.loads = [];
    this.stores = [];
    for (const instruction of segment.instructions) {
      if (instruction.opcode === "call" || instruction.opcode === "shfl") continue;
      const step = new Step(run, instruction);
      for (let lane = 0; lane < 32; lane++) if ((mask >>> lane) & 1) step.follow(lane);
    }
    // A shuffle is done after this.
    if (segment.collective === undefined)
      for (const [index, values] of held) {
        if (segment.alive(index)) continue;
        // Lanes that are elsewhere may need it still.
        for (let lane = 0; lane < 32; lane++) if ((mask >>> lane) & 1) values[lane] = undefined;
        if (values.every((value) => value === undefined)) held.delete(index);
      }
    frame.unwritten = held.size === 0 ? undefined : held;
  }

  /** Follows a shuffle, after which each lane of the mask has what lane `from[lane]` had. */
  shuffle({ unwritten }: Frame, source: PtxOperand, to: PtxOperand, mask: number, from: Int32Array): void {
    if (unwritten === undefined || to.kind !== "register") return;
    const before = source.kind === "register" ? unwritten.get(source.register.index)?.slice() : undefined;
    const after = unwritten.get(to.register.index) ?? [];
    for (let lane = 0; lane < 32; lane++) if ((mask >>> lane) & 1) after[lane] = before?.[from[lane]!];
    unwritten.set(to.register.index, after);
  }
}

/** What a segment of a warp did: loads, stores, and unwritten values in registers. */
interface Run {
  readonly warp: Warp;
  readonly held: UnwrittenRegisters;
  readonly loads: readonly UnwrittenLoad[];
  readonly stores: readonly OwnStore[];
}

class Step {
  private readonly run: Run;
  private readonly instruction: PtxInstruction;
  private readonly result: PtxOperand | undefined;
  private readonly sources: readonly PtxOperand[];

  constructor(run: Run, instruction: PtxInstruction) {
    this.run = run;
    this.instruction = instruction;
    const { operands } = instruction;
    this.result = hasResult(instruction) ? operands[0] : undefined;
    this.sources = this.result === undefined ? operands : operands.slice(1);
  }

  follow(lane: number): void {
    const { opcode, guard, operands } = this.instruction;
    if (guard === undefined) this.look(lane);
    else this.refuse(this.value(guard.register, lane), lane);
    if (/^ldu?$/.test(opcode)) this.load(lane, listOf(operands[0]!));
    else if (this.result !== undefined) {
      const value = guard === undefined ? this.outcome(lane) : undefined;
      for (const register of registersOf(this.result)) this.set(register, lane, value);
    }
  }

  /** Refuses unwritten values as addresses, as required operands, and as a whole global store. */
  private look(lane: number): void {
    const { opcode } = this.instruction;
    for (const operand of this.sources)
      if (operand.kind === "address" || demanding.has(opcode))
        for (const register of registersOf(operand)) this.refuse(this.value(register, lane), lane);
    if (opcode !== "st") return;
    const elements = listOf(this.sources[1]!).map((element) => registersOf(element).map((register) => this.value(register, lane))[0]);
    const space = spaceIn(this.instruction.modifiers);
    if (space === "shared" || space === "local") this.store(lane, elements);
    else {
      this.refuse(
        elements.find((value) => value?.computed),
        lane,
      );
      if (elements.every((value) => value !== undefined)) this.refuse(elements[0], lane);
    }
  }

  /** Bytes that get a computed value count as not written, the others as written. */
  private store(lane: number, elements: readonly (Value | undefined)[]): void {
    const { access, kernel } = this.run.warp.launch;
    const size = scalarBytes[this.instruction.modifiers.findLast(isScalarType) ?? "b32"];
    const store = this.run.stores.find((each) => each.lane === lane && kernel.sites[each.site] === this.instruction);
    if (store === undefined) return;
    for (const [k, value] of elements.entries()) {
      const offset = store.offset + k * size;
      access.memory.shadowBytes.fill(value?.computed ? shadow.unwritten : shadow.written, offset, offset + size);
    }
  }

  /** What an instruction gives from such values; undefined if it is good, or may be. */
  private outcome(lane: number): Value | undefined {
    const { opcode, modifiers } = this.instruction;
    const chosen = opcode === "selp" || opcode === "slct" ? this.sources.slice(0, 2) : this.sources;
    const values = chosen.flatMap((operand) =>
      operand.kind === "integer" || operand.kind === "float"
        ? [opcode === "selp" || opcode === "slct" ? undefined : null]
        : registersOf(operand).map((register) => this.value(register, lane)),
    );
    const first = values.find((value) => value != null) ?? undefined;
    const combined = opcode === "setp" && /^(and|or|xor)$/.test(modifiers[1] ?? "");
    if (first === undefined || ((choices.has(opcode) || combined) && values.includes(undefined))) return undefined;
    return moves.has(opcode) || first.computed ? first : { load: first.load, computed: true };
  }

  private load(lane: number, to: readonly PtxOperand[]): void {
    const { modifiers } = this.instruction;
    const size = scalarBytes[modifiers.findLast(isScalarType) ?? "b32"];
    const { sites } = this.run.warp.launch.kernel;
    const load = this.run.loads.find((each) => each.lane === lane && sites[each.site] === this.instruction);
    for (const [k, element] of to.entries()) {
      const bytes = (2 ** size - 1) << (k * size);
      const value = load !== undefined && (load.bytes & bytes) === bytes ? { load, computed: false } : undefined;
      for (const register of registersOf(element)) this.set(register, lane, value);
    }
  }

  private value({ index }: PtxRegister, lane: number): Value | undefined {
    return this.run.held.get(index)?.[lane];
  }

  private set({ index }: PtxRegister, lane: number, value: Value | undefined): void {
    const values = this.run.held.get(index);
    if (values !== undefined) values[lane] = value;
    else if (value !== undefined) {
      const fresh: (Value | undefined)[] = [];
      fresh[lane] = value;
      this.run.held.set(index, fresh);
    }
  }

  private refuse(value: Value | undefined, lane: number): void {
    if (value === undefined) return;
    const { load } = value;
    const { warp } = this.run;
    const { launch } = warp;
    const used = launch.kernel.sites[load.site] === this.instruction ? "" : ` and is used by ${launch.describe(this.instruction)}`;
    throw launch.unwritten(warp, lane, load.site, load.offset, load.words(), used);
  }
}
