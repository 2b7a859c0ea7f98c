// Reads and writes registers of single lanes in a warp's file, for the instructions that all lanes
// do together.

import type { Warp } from "../run/warp.js";
import { type PtxInstruction, type PtxOperand, type PtxRegister, type ScalarType, scalarBytes } from "../types.js";
import { Reading } from "./reading.js";
import type { RegisterFile } from "./registers.js";

export type ReadLane = (warp: Warp, lane: number) => number;
export type WriteLane = (warp: Warp, lane: number, value: number) => void;

export class LaneAccess extends Reading {
  private readonly file: RegisterFile;

  constructor(instruction: PtxInstruction, file: RegisterFile, target: number) {
    super(target);
    this.begin(instruction);
    this.file = file;
  }

  constant(operand: PtxOperand): number | undefined {
    return operand.kind === "integer" ? Number(BigInt.asIntN(32, operand.value)) : undefined;
  }

  /** Word `part` of an operand of a type: 0 is the low one. */
  read(operand: PtxOperand, part = 0, type: ScalarType = "b32"): ReadLane {
    if (operand.kind === "integer" || operand.kind === "float") {
      const value = Number(BigInt.asIntN(32, this.constantBits(operand, type) >> BigInt(32 * part)));
      return () => value;
    }
    if (operand.kind === "not") {
      const inner = this.read(operand.operand, 0, type);
      return (warp, lane) => inner(warp, lane) ^ 1;
    }
    if (operand.kind !== "register") throw this.unsupported(`a ${operand.kind} cannot stand where .${type} is expected`);
    this.checkRegister(operand.register, type);
    return this.word(operand.register, part);
  }

  predicate(operand: PtxOperand): ReadLane {
    return this.read(operand, 0, "pred");
  }

  private word(register: PtxRegister, part: number): ReadLane {
    const slot = this.file.slots.get(register.index);
    if (slot === undefined) return () => 0;
    const { word, kind } = slot;
    if (kind === "word") return part === 0 ? (warp, lane) => warp.words[word + lane]! : () => 0;
    const step = kind === "double" ? 2 : 4;
    return (warp, lane) => warp.words[word + part + step * lane]!;
  }

  write(operand: PtxOperand, part = 0, type: ScalarType = "b32"): WriteLane {
    if (operand.kind === "sink") return () => {};
    if (operand.kind !== "register") throw this.unsupported("the result must go to a register");
    this.checkRegister(operand.register, type);
    const slot = this.file.slots.get(operand.register.index);
    if (slot === undefined) return () => {};
    const { word, kind } = slot;
    const step = kind === "word" ? 1 : kind === "double" ? 2 : 4;
    return (warp, lane, value) => {
      warp.words[word + part + step * lane] = value;
    };
  }

  /** A bracketed address as its two halves and offset. */
  address(operand: PtxOperand): { low: ReadLane; high: ReadLane; offset: number } {
    if (operand.kind !== "address") throw this.unsupported("expected an address in brackets");
    const { base, offset } = operand;
    if (base.kind !== "register") throw this.unsupported(`an address in a register is expected, not a ${base.kind}`);
    const wide = scalarBytes[base.register.type] === 8;
    const words = [0, 1].map((part) => (wide || part === 0 ? this.read(base, part, wide ? "u64" : "u32") : () => 0)) as [
      ReadLane,
      ReadLane,
    ];
    return { low: words[0], high: words[1], offset };
  }

  list(operand: PtxOperand): PtxOperand[] {
    return operand.kind === "vector" ? operand.elements : [operand];
  }
}
