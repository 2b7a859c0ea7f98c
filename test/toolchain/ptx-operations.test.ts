// Every operation of the builder, for every type that it takes, is something that the assembler
// takes.
import { spawnSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import {
  type ComparisonOperator,
  type OperationName,
  operations,
  type PtxKernel,
  PtxModule,
  type RegisterType,
} from "../../packages/ptx/src/builder/index.js";

const folder = mkdtempSync(join(tmpdir(), "spillway-ptx-operations-"));

function assembles(name: string, body: (k: PtxKernel) => void): void {
  const module = new PtxModule({ target: "sm_90" });
  module.kernel("made", { block: [128] }, body);
  const file = join(folder, `${name}.ptx`);
  writeFileSync(file, module.emit());
  const { status, stderr, error } = spawnSync("ptxas", ["-arch=sm_90", file, "-o", "/dev/null"], { encoding: "utf8" });
  expect(error).toBeUndefined();
  expect(stderr).toBe("");
  expect(status).toBe(0);
}

/** A builder whose methods take any values: the table says which they may be. */
type AnyKernel = Record<string, (...operands: unknown[]) => unknown>;

/** A value of any type that is not known before the kernel runs. */
function someValue(k: PtxKernel, type: RegisterType): unknown {
  if (type === "pred") return k.compare("eq", k.threadIndex(), 3);
  if (type === "u16" || type === "s16") return k.convert(type, k.threadIndex());
  return k.load(k.shared(type, 1));
}

const comparisons = (type: RegisterType): readonly ComparisonOperator[] =>
  type.startsWith("b") ? ["eq", "ne"] : ["eq", "ne", "lt", "le", "gt", "ge"];
const many = (count: number) => (name: string) => (k: AnyKernel, of: () => unknown) => k[name]!(...Array.from({ length: count }, of));
const [one, two, three] = [many(1), many(2), many(3)];
const shift = (name: string) => (k: AnyKernel, of: () => unknown) => k[name]!(of(), 3);
const approximation = (name: string) => (k: AnyKernel, of: () => unknown) => k["approximate"]!(name, of());

/** How each operation of the table is called. */
const calls: Readonly<Record<OperationName, (k: AnyKernel, of: () => unknown, type: RegisterType) => unknown>> = {
  ...{ add: two("add"), sub: two("sub"), mul: two("mul"), mulHi: two("mulHi"), mad: three("mad"), fma: three("fma") },
  ...{ div: two("div"), rem: two("rem"), min: two("min"), max: two("max"), neg: one("neg"), abs: one("abs"), copysign: two("copysign") },
  ...{ and: two("and"), or: two("or"), xor: two("xor"), not: one("not"), shl: shift("shl"), shr: shift("shr") },
  ...{ sqrt: one("sqrt"), rcp: one("rcp"), divApprox: two("divApprox"), popc: one("popc"), clz: one("clz"), brev: one("brev") },
  ...{ rcpApprox: approximation("rcp"), rsqrtApprox: approximation("rsqrt"), ex2Approx: approximation("ex2") },
  ...{
    lg2Approx: approximation("lg2"),
    sinApprox: approximation("sin"),
    cosApprox: approximation("cos"),
    tanhApprox: approximation("tanh"),
  },
  bfe: (k, of) => k["bitField"]!(of(), 3, 5),
  bfi: (k, of) => k["bitInsert"]!(of(), of(), 3, 5),
  prmt: (k, of) => k["bytePermute"]!(of(), of(), of()),
  lop3: (k, of) => k["logic"]!(of(), of(), of(), 0xea),
  select: (k, of) => k["select"]!(k["compare"]!("eq", k["threadIndex"]!(), 3), of(), of()),
  compare: (k, of, type) => comparisons(type).map((how) => k["compare"]!(how, of(), of())),
};

it.each(Object.keys(operations) as OperationName[])("%s", (name) => {
  assembles(name, (k) => {
    for (const type of operations[name].types) calls[name](k as unknown as AnyKernel, () => someValue(k, type), type);
  });
});

/** A method whose operands but the first are the number 3. */
const ofThree =
  (k: PtxKernel, name: string) =>
  (a: unknown, ...others: unknown[]) =>
    (k as unknown as AnyKernel)[name]!(a, ...others.map(() => 3));

it.each(["add", "sub", "mul", "div", "rem", "min", "max", "fma", "and", "or", "xor"] as const)("%s of a constant", (name) => {
  assembles(`${name}-constant`, (k) => {
    const types = operations[name].types.filter((type: RegisterType) => type !== "pred");
    for (const type of types) calls[name]({ [name]: ofThree(k, name) }, () => someValue(k, type), type);
  });
});

it("conversions between numbers, and copies of anything", () => {
  const numbers = ["u16", "s16", "u32", "s32", "u64", "s64", "f16", "bf16", "f32", "f64"] as const;
  const others = ["b16", "b32", "b64", "f16x2", "bf16x2", "tf32"] as const;
  assembles("convert", (k) => {
    for (const from of numbers) for (const to of numbers) k.convert(to, someValue(k, from) as ReturnType<typeof k.threadIndex>);
    k.convert("tf32", k.load(k.shared("f32", 1)));
    for (const type of [...numbers, ...others])
      k.assign(k.variable<RegisterType>(type), k.copy(someValue(k, type) as ReturnType<typeof k.threadIndex>));
  });
});

it("atomics in global and shared memory", () => {
  assembles("atomic", (k) => {
    const both = <T extends "u32" | "s32" | "u64" | "s64" | "b32" | "b64" | "f32" | "f64">(type: T) =>
      [k.pointer(type, `x${k.registers.length}`), k.shared(type, 1)] as const;
    for (const type of ["u32", "s32", "u64", "f32", "f64"] as const) for (const at of both<"u32">(type as "u32")) k.atomic("add", at, 1);
    for (const type of ["u32", "s32", "u64", "s64"] as const)
      for (const how of ["min", "max"] as const) for (const at of both<"u32">(type as "u32")) k.atomic(how, at, 1);
    for (const type of ["u32", "s32", "b32", "u64", "s64", "b64"] as const)
      for (const how of ["and", "or", "xor"] as const) for (const at of both<"u32">(type as "u32")) k.atomic(how, at, 1);
    for (const type of ["u32", "s32", "b32", "f32", "u64", "s64", "b64", "f64"] as const)
      for (const at of both<"u32">(type as "u32")) k.atomic("exch", at, 1);
    for (const how of ["inc", "dec"] as const) for (const at of both("u32")) k.atomic(how, at, 5);
    for (const type of ["b32", "b64"] as const) for (const at of both<"b32">(type as "b32")) k.compareAndSwap(at, 1, 2, "acq_rel");
  });
});
