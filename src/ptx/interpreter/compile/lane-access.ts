// Reads and writes registers of single lanes in a warp's file, for the instructions that all lanes do together.
import { UnsupportedPtxError } from "../errors.js";
import type { PtxInstruction, PtxOperand } from "../types.js";
import type { Warp } from "../run/warp.js";
import type { RegisterFile } from "./registers.js";

export type ReadLane = (warp: Warp, lane: number) => number;
export type WriteLane = (warp: Warp, lane: number, value: number) => void;

/** Access to the operands of one instruction. */
export class LaneAccess {
  private readonly file: RegisterFile;
  readonly instruction: PtxInstruction;

  constructor(instruction: PtxInstruction, file: RegisterFile) {
    this.instruction = instruction;
    this.file = file;
  }

  unsupported(what: string): UnsupportedPtxError {
    return new UnsupportedPtxError(`"${this.instruction.text}": ${what}`, this.instruction.line);
  }

  operand(index: number): PtxOperand {
    const operand = this.instruction.operands[index];
    if (operand === undefined) throw this.unsupported(`operand ${index + 1} is missing`);
    return operand;
  }

  /** The constant value of an operand, where it is one. */
  constant(operand: PtxOperand): number | undefined {
    return operand.kind === "integer" ? Number(BigInt.asIntN(32, operand.value)) : undefined;
  }

  /** Word `part` of an operand: 0 is the low one. */
  read(operand: PtxOperand, part = 0): ReadLane {
    if (operand.kind === "integer") {
      const value = Number(BigInt.asIntN(32, operand.value >> BigInt(32 * part)));
      return () => value;
    }
    if (operand.kind === "float") {
      const value = Number(BigInt.asIntN(32, operand.bits >> BigInt(32 * part)));
      return () => value;
    }
    if (operand.kind === "not") {
      const inner = this.read(operand.operand);
      return (warp, lane) => inner(warp, lane) ^ 1;
    }
    if (operand.kind !== "register") throw this.unsupported(`an operand cannot be a ${operand.kind} here`);
    const place = this.file.places.get(operand.register.index);
    if (place === undefined) return () => 0;
    const { word, kind } = place;
    if (kind === "word") return part === 0 ? (warp, lane) => warp.words[word + lane]! : () => 0;
    const step = kind === "double" ? 2 : 4;
    return (warp, lane) => warp.words[word + part + step * lane]!;
  }

  write(operand: PtxOperand, part = 0): WriteLane {
    if (operand.kind === "sink") return () => {};
    if (operand.kind !== "register") throw this.unsupported("the result must go to a register");
    const place = this.file.places.get(operand.register.index);
    if (place === undefined) return () => {};
    const { word, kind } = place;
    const step = kind === "word" ? 1 : kind === "double" ? 2 : 4;
    return (warp, lane, value) => {
      warp.words[word + part + step * lane] = value;
    };
  }

  /** Where a 32-bit register's lanes lie, for loops over whole rows; -1 if it is something else. */
  row(operand: PtxOperand): number {
    if (operand.kind !== "register") return -1;
    const place = this.file.places.get(operand.register.index);
    return place?.kind === "word" ? place.word : -1;
  }

  /** A bracketed address as its two halves and offset. */
  address(operand: PtxOperand): { low: ReadLane; high: ReadLane; offset: number } {
    if (operand.kind !== "address") throw this.unsupported("expected an address in brackets");
    return { low: this.read(operand.base), high: this.read(operand.base, 1), offset: operand.offset };
  }

  list(operand: PtxOperand): PtxOperand[] {
    return operand.kind === "vector" ? operand.elements : [operand];
  }
}
