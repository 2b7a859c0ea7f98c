// Mutations of generated PTX: one instruction is changed at a time, and the run that the kernel's
// tests make must notice. It shows that those tests look at every instruction.
// `npx tsx test/ptx/kernels/mutate.ts` runs all of them, the toolchain tests a fixed sample.
import { PtxSyntaxError, UnsupportedPtxError } from "../../../packages/ptx/src/interpreter/index.js";

export interface Mutant {
  readonly line: number;
  readonly before: string;
  readonly after: string;
}

const swap =
  (from: RegExp, to: string) =>
  (line: string): string =>
    line.replace(from, to);

/** Operand k of an instruction, counted from 0; braces count as one. */
function operands(line: string): { head: string; list: string[] } | undefined {
  const match = /^(\s*(?:@!?%\w+ )?[\w.:]+ )(.*);$/.exec(line);
  if (match === null) return undefined;
  return { head: match[1]!, list: match[2]!.match(/\{[^}]*\}|\[[^\]]*\]|[^,\s]+/g) ?? [] };
}

function withOperands(line: string, change: (list: string[]) => string[]): string {
  const parts = operands(line);
  return parts === undefined ? line : `${parts.head}${change([...parts.list]).join(", ")};`;
}

const bytes: Record<string, number> = { "8": 1, "16": 2, "32": 4, "64": 8 };

/** An address moved on by what the instruction accesses. */
function moveAddress(line: string): string {
  const width = Number(/\.v([24])\./.exec(line)?.[1] ?? 1) * (bytes[/\.[busf](8|16|32|64) /.exec(line)?.[1] ?? ""] ?? 16);
  return line.replace(/\[([%\w$]+)(?:\+(\d+))?\]/, (_, base, offset) => `[${base}+${Number(offset ?? 0) + width}]`);
}

const doubleConstant = (line: string): string => line.replace(/, (\d+)(?=[,;])/, (_, value) => `, ${2 * Number(value)}`);

/**
 * What may be done to an instruction, by what it is; the first of a group that changes it is taken.
 */
const operators: readonly { readonly of: RegExp; readonly changes: readonly ((line: string) => string)[] }[] = [
  { of: /^\s*@/, changes: [swap(/@!%/, "@%_"), swap(/@%(?!_)/, "@!%"), swap(/@%_/, "@%")] },
  { of: /setp\.(lt|ge)/, changes: [swap(/setp\.lt/, "setp.le"), swap(/setp\.ge/, "setp.gt")] },
  {
    of: /setp\.(le|gt|eq|ne)/,
    changes: [swap(/setp\.le/, "setp.lt"), swap(/setp\.gt/, "setp.ge"), swap(/setp\.eq/, "setp.ne"), swap(/setp\.neu?/, "setp.eq")],
  },
  { of: /\b(add|sub)\./, changes: [swap(/\badd\./, "sub._"), swap(/\bsub\.(?!_)/, "add."), swap(/sub\._/, "sub.")] },
  { of: /\bmul\.(rn|lo)\./, changes: [swap(/\bmul\.rn\./, "add.rn."), swap(/\bmul\.lo\./, "add.")] },
  { of: /\bmul\.wide|\bmad\.(wide|lo)/, changes: [doubleConstant, (line) => withOperands(line, ([d, a, , c]) => [d!, a!, a!, c!])] },
  {
    of: /\bfma\./,
    changes: [(line) => withOperands(line, ([d, a, b, c]) => (b!.startsWith("%") ? [d!, a!, a === b ? c! : a!, c!] : [d!, a!, b!, a!]))],
  },
  { of: /\b(min|max)\./, changes: [swap(/\bmin\./, "max._"), swap(/\bmax\.(?!_)/, "min."), swap(/max\._/, "max.")] },
  {
    of: /\b(and|or|xor)\.(b32|pred)/,
    changes: [swap(/\band\.(b32|pred)/, "or._$1"), swap(/\bor\.(?!_)(b32|pred)/, "and.$1"), swap(/\bxor\./, "or."), swap(/or\._/, "or.")],
  },
  { of: /\b(shl|shr)\./, changes: [swap(/\bshl\.b32/, "shr._"), swap(/\bshr\.u32/, "shl.b32"), swap(/shr\._/, "shr.u32")] },
  { of: /\bselp\./, changes: [(line) => withOperands(line, ([d, a, b, p]) => [d!, b!, a!, p!])] },
  {
    of: /\b(ex2|rcp|sqrt|neg|abs)\./,
    changes: [
      swap(/\bex2\./, "lg2."),
      swap(/\brcp\.rn/, "sqrt.rn"),
      swap(/\bsqrt\.rn/, "rcp.rn"),
      swap(/\bneg\./, "abs."),
      swap(/\babs\./, "neg."),
    ],
  },
  {
    of: /\bshfl\.sync\.bfly/,
    changes: [(line) => withOperands(line, ([d, a, by, ...rest]) => [d!, a!, String((2 * Number(by)) % 32 || 1), ...rest])],
  },
  { of: /\blop3\./, changes: [(line) => withOperands(line, ([d, a, b, c]) => [d!, a!, b!, c!, "252"])] },
  { of: /\bbfe\./, changes: [(line) => withOperands(line, ([d, a, from, count]) => [d!, a!, String(Number(from) + 1), count!])] },
  { of: /\b(ld|st)\.(?!param)|ldmatrix|cp\.async\.c/, changes: [moveAddress] },
  {
    of: /\bmma\./,
    changes: [(line) => withOperands(line, ([d, a, b, c]) => [d!, `{${a!.slice(1, -1).split(", ").reverse().join(", ")}}`, b!, c!])],
  },
  { of: /\bdiv\.rn|copysign/, changes: [(line) => withOperands(line, ([d, a, b]) => [d!, b!, a!])] },
];

/** All mutants of a PTX text, in its order. */
function mutantsOf(ptx: string): Mutant[] {
  const lines = ptx.split("\n");
  return lines.flatMap((before, line) => {
    if (!before.startsWith("\t") || before.startsWith("\t.")) return [];
    return operators.flatMap(({ of, changes }): Mutant[] => {
      if (!of.test(before)) return [];
      // Several swaps of a group make one change: a name is marked on its way so that it does not
      // come back.
      const marks = changes.length > 1 && !changes.some((change) => change === doubleConstant);
      const after = marks
        ? changes.reduce((text, change) => change(text), before)
        : (changes.map((change) => change(before)).find((text) => text !== before) ?? before);
      return after === before ? [] : [{ line, before, after }];
    });
  });
}

const mutate = (ptx: string, { line, after }: Mutant): string => ptx.split("\n").with(line, after).join("\n");

/** Why a mutant went: its PTX is none, or the run noticed it; undefined if it lives. */
function fate(check: (ptx: string) => boolean, ptx: string): "malformed" | "killed" | undefined {
  try {
    return check(ptx) ? undefined : "killed";
  } catch (error) {
    return error instanceof PtxSyntaxError || error instanceof UnsupportedPtxError ? "malformed" : "killed";
  }
}

/** What became of every so manieth mutant of a kernel. Shares leave out those that are no PTX. */
export interface Sweep {
  readonly noticed: number;
  readonly malformed: number;
  readonly survivors: readonly Mutant[];
  readonly share: number;
}

/**
 * Runs every `every`th mutant of a PTX text. @throws Error if the text does not pass the check
 * as it is
 */
export function sweep({ ptx, check }: { ptx: string; check: (ptx: string) => boolean }, every: number): Sweep {
  if (!check(ptx)) throw new Error("the kernel does not pass its own check");
  const counts = { killed: 0, malformed: 0 };
  const survivors: Mutant[] = [];
  for (const [k, mutant] of mutantsOf(ptx).entries()) {
    if (k % every !== 0) continue;
    const end = fate(check, mutate(ptx, mutant));
    if (end === undefined) survivors.push(mutant);
    else counts[end]++;
  }
  const { killed: noticed, malformed } = counts;
  return { noticed, malformed, survivors, share: noticed / (noticed + survivors.length) };
}

export const described = ({ line, before, after }: Mutant): string => `line ${line + 1}: ${before.trim()}  ->  ${after.trim()}`;
