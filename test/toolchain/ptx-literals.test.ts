// The bits of every kind of constant in fixtures/literals.json are those that ptxas gives: a kernel
// with the constant assembles to the same machine code as one with the bits. `SPILLWAY_UPDATE=1`
// writes the file anew, with "differs" if ours are others. What ptxas takes and we refuse on
// purpose is in `refusedHere`.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { PtxMachine } from "../../packages/ptx/src/interpreter/index.js";
import { sampled } from "../exhaustive.js";
import { type LiteralForm, type LiteralTable, literalColumns, literalKernel, literals, resultBytes } from "../ptx/literal-kernels.js";

const folder = mkdtempSync(join(tmpdir(), "spillway-literals-"));
const path = "test/ptx/fixtures/literals.json";
/** What ptxas says of a text: the lines of its errors, and the object file if there are none. */
function assemble(ptx: string): { errorLines: number[]; fatal: boolean; object: Buffer | undefined } {
  const [source, out] = [join(folder, "in.ptx"), join(folder, "out.cubin")];
  writeFileSync(source, ptx);
  const { status, stdout, stderr, error } = spawnSync("ptxas", ["-arch=sm_90", source, "-o", out], { encoding: "utf8" });
  expect(error).toBeUndefined();
  const errorLines = [...`${stdout}${stderr}`.matchAll(/line (\d+); (?:error|fatal)/g)].map((match) => Number(match[1]));
  return {
    errorLines,
    fatal: /; fatal/.test(`${stdout}${stderr}`),
    object: status === 0 && existsSync(out) ? readFileSync(out) : undefined,
  };
}

/**
 * Sections of an ELF file with what tells the kernels apart: their names end in the kernel's, and
 * variables are symbols.
 */
function parts(elf: Buffer): Map<string, string> {
  const at = Number(elf.readBigUInt64LE(0x28));
  const [size, count, names] = [elf.readUInt16LE(0x3a), elf.readUInt16LE(0x3c), elf.readUInt16LE(0x3e)];
  const section = (k: number) => {
    const header = at + k * size;
    const [start, bytes] = [Number(elf.readBigUInt64LE(header + 0x18)), Number(elf.readBigUInt64LE(header + 0x20))];
    return { name: elf.readUInt32LE(header), type: elf.readUInt32LE(header + 4), link: elf.readUInt32LE(header + 0x28), start, bytes };
  };
  const text = (start: number): string => elf.toString("latin1", start, elf.indexOf(0, start));
  const found = new Map<string, string>();
  for (let k = 0; k < count; k++) {
    const { name, type, link, start, bytes } = section(k);
    const called = text(section(names).start + name);
    if (called.startsWith(".text.")) found.set(called.slice(6), elf.toString("hex", start, start + bytes));
    if (type !== 2) continue;
    for (let symbol = start; symbol < start + bytes; symbol += 24) {
      const variable = text(section(link).start + elf.readUInt32LE(symbol));
      const home = elf.readUInt16LE(symbol + 6);
      if (!/^x\d+$/.test(variable) || home === 0 || home >= count) continue;
      const position = section(home).start + Number(elf.readBigUInt64LE(symbol + 8));
      found.set(variable, elf.toString("hex", position, position + Number(elf.readBigUInt64LE(symbol + 16))));
    }
  }
  return found;
}

/** Many kernels in one text; gives it and the number of the kernel that each line belongs to. */
function together(kernels: readonly string[]): { ptx: string; owner: number[] } {
  const lines: string[] = kernels[0]!.split("\n").slice(0, 3);
  const owner = [-1, -1, -1, -1];
  for (const [k, kernel] of kernels.entries())
    for (const line of kernel.split("\n").slice(3)) {
      lines.push(line.replace(/\bk\(/, `k${k}(`).replace(/\bx\b(?= =|\])/g, `x${k}`));
      owner[lines.length] = k;
    }
  return { ptx: lines.join("\n"), owner };
}

/**
 * Kernels that ptxas takes, with their machine code and initial values; undefined for the others.
 */
function codes(kernels: readonly string[]): (string | undefined)[] {
  const left = new Set(kernels.keys());
  while (left.size > 0) {
    const which = [...left];
    const { ptx, owner } = together(which.map((k) => kernels[k]!));
    const { errorLines, object } = assemble(ptx);
    if (object !== undefined) {
      const found = parts(object);
      const position = new Map(which.map((k, index) => [k, index]));
      // The code of a kernel that loads a variable depends on where all variables lie; what the
      // variable holds does not.
      return kernels.map((_, k) => (left.has(k) ? (found.get(`x${position.get(k)}`) ?? found.get(`k${position.get(k)}`)) : undefined));
    }
    const wrong = errorLines.map((line) => owner[line]!).filter((index) => index >= 0);
    expect(wrong, ptx.slice(0, 2000)).not.toEqual([]);
    for (const index of wrong) left.delete(which[index]!);
  }
  return kernels.map(() => undefined);
}

/** Our own answer: bits as hexadecimal digits, or undefined if we refuse. */
function ours(form: LiteralForm, type: string, literal: string): string | undefined {
  const machine = new PtxMachine({ memoryBytes: 4096, launchBytes: 2 ** 16 });
  const address = machine.allocate(16);
  try {
    machine.load(literalKernel(form, type, literal)).launch({ entry: "k", grid: 1, block: 1, args: [address] });
  } catch {
    return undefined;
  }
  return Buffer.from(machine.read(address, resultBytes(type)))
    .reverse()
    .toString("hex");
}

/** The type to write the bits as: integers keep theirs, which a store shows. */
const asBits = (type: string): string => (/^(pred|[bus]\d+)$/.test(type) ? type : `b${8 * resultBytes(type)}`);

/** Literals that end the assembler, whatever is expected where they stand. */
const syntax = new Set(literals.filter((literal) => assemble(literalKernel("mov", "b32", literal)).fatal));

/**
 * ptxas negates the bits of `0f` as if they were a double's, and gives untyped bytes the low bits
 * of a float.
 */
function refusedHere(form: LiteralForm, type: string, literal: string): boolean {
  return literal === "-(0f3FC00000)" || (form === "initial" && /^b(8|16)$/.test(type) && ours("mov", "f64", literal) !== undefined);
}

function answersOf(form: LiteralForm, type: string): string[] {
  const asked = literals.filter((literal) => !syntax.has(literal) && !refusedHere(form, type, literal));
  const taken = codes(asked.map((literal) => literalKernel(form, type, literal)));
  const bits = asked.map((literal) => ours(form, type, literal));
  const same = codes(bits.map((each) => literalKernel(form, asBits(type), `0x${each ?? "0"}`)));
  const answers = new Map(literals.map((literal) => [literal, "-"]));
  for (const [k, literal] of asked.entries())
    if (taken[k] !== undefined) answers.set(literal, bits[k] !== undefined && same[k] === taken[k] ? bits[k]! : "differs");
  return literals.map((literal) => answers.get(literal)!);
}

const update = process.env["SPILLWAY_UPDATE"] === "1";
const known: LiteralTable = existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : { columns: [], rows: {} };
const columns: string[][] = [];

it.each(update ? literalColumns : sampled(literalColumns, 0.25, "literals"))("a constant in %s of .%s", (form, type) => {
  const answers = answersOf(form, type);
  columns.push(answers);
  const at = known.columns.indexOf(`${form} ${type}`);
  if (!update) expect(literals.map((literal) => known.rows[literal]?.split(" ")[at])).toEqual(answers);
});

afterAll(() => {
  if (!update) return;
  const rows = Object.fromEntries(literals.map((literal, k) => [literal, columns.map((answers) => answers[k]).join(" ")]));
  const table: LiteralTable = { columns: literalColumns.map((column) => column.join(" ")), rows };
  writeFileSync(path, `${JSON.stringify(table, null, 1)}\n`);
});
