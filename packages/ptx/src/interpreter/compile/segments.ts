// Cuts a function into segments: straight runs of instructions that one compiled loop over lanes
// can do, each ending where control or the other lanes come in. It decides nothing about arithmetic
// or memory.
import { getOrMake } from "@spillway/core/maps.js";
import { UnsupportedPtxError } from "../errors.js";
import type { PtxFunction, PtxInstruction, PtxOperand, PtxRegister } from "../types.js";
import { Reading } from "./reading.js";

export type SegmentEnd =
  | { kind: "next" }
  | { kind: "branch"; target: number; instruction: PtxInstruction }
  | { kind: "leave"; how: "exit" | "ret"; instruction: PtxInstruction | undefined }
  | { kind: "switch"; targets: number[]; instruction: PtxInstruction }
  | { kind: "collective"; instruction: PtxInstruction }
  | { kind: "call"; instruction: PtxInstruction };

export interface Segment {
  instructions: PtxInstruction[];
  guard: { register: PtxRegister; negated: boolean } | undefined;
  end: SegmentEnd;
}

/** V8 does not optimise functions above 60 kB of bytecode; this many instructions are less. */
const longest = 300;

const collectiveOpcodes = new Set(
  "shfl vote match redux bar barrier elect mma wmma wgmma ldmatrix stmatrix movmatrix nanosleep".split(" "),
);

export function isCollective(instruction: PtxInstruction): boolean {
  return collectiveOpcodes.has(instruction.opcode);
}

const flowOperands = new Map([
  ["bra", 1],
  ["brx", 2],
  ["ret", 0],
  ["exit", 0],
]);

/** Hints about a jump change nothing here, but nothing else may be written there. */
function checkFlow(instruction: PtxInstruction): void {
  const { opcode, operands } = instruction;
  const count = opcode === "call" ? operands.length : flowOperands.get(opcode);
  if (count === undefined) return;
  const reading = new Reading();
  reading.begin(instruction);
  reading.skip(["uni"]);
  if (opcode === "brx" && !reading.has("idx")) throw reading.unsupported("it takes .idx");
  for (let k = 0; k < count; k++) reading.operand(k);
  reading.refuseUnread();
  const isTarget = (operand: PtxOperand | undefined): boolean => operand?.kind === "function" || operand?.kind === "register";
  if (opcode === "call" && !isTarget(operands[operands[0]?.kind === "list" ? 1 : 0]))
    throw reading.unsupported("it takes a function or a pointer");
}

export function cutIntoSegments(fn: PtxFunction): Segment[] {
  const segments: Segment[] = [];
  const labels = new Map<string, number>();
  const branches: { segment: Segment; label: string }[] = [];
  const switches: { segment: Segment; labels: string[] }[] = [];
  let current: PtxInstruction[] = [];
  const close = (end: SegmentEnd, guard?: Segment["guard"]): Segment => {
    const segment: Segment = { instructions: current, guard, end };
    segments.push(segment);
    current = [];
    return segment;
  };
  const skipGuarded = (instruction: PtxInstruction): void => {
    if (instruction.guard === undefined) return;
    const { register, negated } = instruction.guard;
    const target = segments.length + 2;
    close({ kind: "branch", target, instruction }, { register, negated: !negated });
  };
  for (const statement of fn.statements) {
    if ("label" in statement) {
      if (current.length > 0) close({ kind: "next" });
      labels.set(statement.label, segments.length);
      continue;
    }
    const instruction = statement;
    const { opcode, operands, guard } = instruction;
    checkFlow(instruction);
    if (opcode === "bra") {
      const target = operands[0];
      if (target?.kind !== "label") throw new UnsupportedPtxError("bra takes a label", instruction.line);
      branches.push({ segment: close({ kind: "branch", target: -1, instruction }, guard), label: target.label });
    } else if (opcode === "brx") {
      const list = operands[1];
      const names = list?.kind === "label" ? fn.branchTargets.get(list.label) : undefined;
      if (names === undefined) throw new UnsupportedPtxError("brx.idx takes a .branchtargets label", instruction.line);
      skipGuarded(instruction);
      switches.push({ segment: close({ kind: "switch", targets: [], instruction }), labels: names });
    } else if (opcode === "ret" || opcode === "exit") {
      close({ kind: "leave", how: opcode, instruction }, guard);
    } else if (opcode === "call") {
      skipGuarded(instruction);
      close({ kind: "call", instruction });
    } else if (isCollective(instruction)) {
      skipGuarded(instruction);
      // Lanes that wait here must not have done anything else of the segment, for others to join
      // them.
      if (current.length > 0) close({ kind: "next" });
      close({ kind: "collective", instruction });
    } else {
      current.push(instruction);
      if (current.length >= longest) close({ kind: "next" });
    }
  }
  close({ kind: "leave", how: "ret", instruction: undefined });
  const numberOfLabel = (label: string): number => {
    const index = labels.get(label);
    if (index === undefined) throw new UnsupportedPtxError(`label "${label}" is not in ${fn.name}`, fn.line);
    return index;
  };
  const targets = new Map<string[], number[]>();
  // Branches by one list share its targets.
  const targetsOf = (names: string[]): number[] => getOrMake(targets, names, () => names.map(numberOfLabel));
  for (const { segment, label } of branches) if (segment.end.kind === "branch") segment.end.target = numberOfLabel(label);
  for (const { segment, labels: names } of switches) if (segment.end.kind === "switch") segment.end.targets = targetsOf(names);
  return segments;
}
