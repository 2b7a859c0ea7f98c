// What a kernel is before it is text: instructions and labels. Plain data, and how one instruction is printed.
import type { Needs } from "./targets.js";
import type { Value } from "./values.js";

/** How far a value is the same: in all threads of a block, in the 128 of a warp group, in those of a warp, or in one lane. */
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
  readonly result?: Item;
  readonly operands: readonly Item[];
  readonly guard?: { readonly value: Value<"pred">; readonly negated: boolean };
  /** Where a branch goes. */
  readonly target?: string;
  /** True where what the result's registers held before is read too. */
  readonly accumulates?: boolean;
  /** Threads that must come by together: a whole block, a warp group or a warp. */
  readonly together?: "block" | "group" | "warp";
  /** How uniform the result is, where that does not follow from the operands. */
  readonly level?: Level;
  readonly needs?: Needs;
}

export interface Label {
  readonly kind: "label";
  readonly name: string;
}

export type Statement = Instruction | Label;

const isValue = (item: Item): item is Value => typeof item === "object" && "id" in item;

/** Calls `visit` for every register in an item. */
export function eachValue(item: Item | undefined, visit: (value: Value) => void): void {
  if (item === undefined || typeof item === "string") return;
  if (isValue(item)) visit(item);
  else if ("address" in item) eachValue(item.address, visit);
  else for (const part of "vector" in item ? item.vector : item.pair) eachValue(part, visit);
}

/** Calls `visit` for every register that an instruction reads. */
export function eachRead(instruction: Instruction, visit: (value: Value) => void): void {
  if (instruction.guard) visit(instruction.guard.value);
  if (instruction.accumulates) eachValue(instruction.result, visit);
  for (const operand of instruction.operands) eachValue(operand, visit);
}

/** Calls `visit` for every register that an instruction writes. */
export function eachWrite(instruction: Instruction, visit: (value: Value) => void): void {
  eachValue(instruction.result, visit);
}

function itemText(item: Item): string {
  if (typeof item === "string") return item;
  if (isValue(item)) return item.name;
  if ("vector" in item) return `{${item.vector.map(itemText).join(", ")}}`;
  if ("pair" in item) return item.pair.map(itemText).join("|");
  const base = itemText(item.address);
  return item.bytes === 0 ? `[${base}]` : item.bytes < 0 ? `[${base}-${-item.bytes}]` : `[${base}+${item.bytes}]`;
}

export function statementText(statement: Statement): string {
  if (statement.kind === "label") return `${statement.name}:`;
  const { opcode, result, operands, guard, target } = statement;
  const before = guard ? `@${guard.negated ? "!" : ""}${guard.value.name} ` : "";
  const items = result === undefined ? operands : [result, ...operands];
  const after = [...items.map(itemText), ...(target === undefined ? [] : [target])].join(", ");
  return `\t${before}${opcode}${after === "" ? "" : ` ${after}`};`;
}
