// What a kernel is before it is text: instructions and labels. Plain data, and how one instruction
// is printed.
import type { Needs } from "./targets.js";
import type { Value } from "./values.js";

/** How far a value is the same: in a block, a warp group of 128, a warp, or one lane. */
export type Level = 0 | 1 | 2 | 3;
export const levels = { block: 0, group: 1, warp: 2, lane: 3 } as const satisfies Record<string, Level>;

/** Something printed among the operands. */
export type Item =
  | Value
  | string
  | { readonly address: Value | string; readonly bytes: number }
  | { readonly vector: readonly Item[] }
  | { readonly pair: readonly [Item, Item] };

export interface Instruction {
  readonly kind: "instruction";
  /** The opcode with its modifiers, as "add.rn.f32". */
  readonly opcode: string;
  readonly result: Item | undefined;
  readonly operands: readonly Item[];
  readonly guard: { readonly value: Value<"pred">; readonly negated: boolean } | undefined;
  readonly target: string | undefined;
  /** True if what the result's registers held before is read too. */
  readonly accumulates: boolean | undefined;
  /** Threads that must come by together: a whole block, a warp group or a warp. */
  readonly together: "block" | "group" | "warp" | undefined;
  /** How uniform the result is, if that does not follow from the operands. */
  readonly level: Level | undefined;
  readonly needs: Needs | undefined;
}

export interface Label {
  readonly kind: "label";
  readonly name: string;
}

export type Statement = Instruction | Label;

const isValue = (item: Item): item is Value => typeof item === "object" && "id" in item;

function addRegisters(item: Item | undefined, ids: number[]): void {
  if (item === undefined || typeof item === "string") return;
  if (isValue(item)) ids.push(item.id);
  else if ("address" in item) addRegisters(item.address, ids);
  else for (const part of "vector" in item ? item.vector : item.pair) addRegisters(part, ids);
}

/** The numbers of the registers that an instruction reads, its guard's among them. */
export function registersRead({ accumulates, guard, operands, result }: Instruction): number[] {
  const ids: number[] = [];
  if (guard !== undefined) ids.push(guard.value.id);
  if (accumulates) addRegisters(result, ids);
  for (const operand of operands) addRegisters(operand, ids);
  return ids;
}

/** The numbers of the registers that an instruction writes. */
export function registersWritten({ result }: Instruction): number[] {
  const ids: number[] = [];
  addRegisters(result, ids);
  return ids;
}

function itemText(item: Item): string {
  if (typeof item === "string") return item;
  if (isValue(item)) return item.name;
  if ("vector" in item) return `{${item.vector.map(itemText).join(", ")}}`;
  if ("pair" in item) return item.pair.map(itemText).join("|");
  const base = itemText(item.address);
  return item.bytes === 0 ? `[${base}]` : `[${base}+${item.bytes}]`;
}

/** An instruction as PTX, with its own result or another in its place. */
export function instructionText(instruction: Instruction, result = instruction.result): string {
  const { opcode, operands, guard, target } = instruction;
  let text = guard ? `\t@${guard.negated ? "!" : ""}${guard.value.name} ${opcode}` : `\t${opcode}`;
  let before = " ";
  const print = (item: string): void => {
    text += before + item;
    before = ", ";
  };
  if (result !== undefined) print(itemText(result));
  for (const operand of operands) print(itemText(operand));
  if (target !== undefined) print(target);
  return `${text};`;
}
