// Which spellings of instructions the simulated device takes, beside what ptxas takes: every opcode
// with modifiers it has and has not, in every type.
import { spawnSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { PtxMachine } from "../../packages/ptx/src/interpreter/index.js";
import { sampled } from "../exhaustive.js";

/** Taken here alone: what they say is computed, and ptxas for sm_90 has no form for it. */
const onlyHere = [
  /^mov\.b64 \{.*, %tid\.x;$/,
  /^cvt(\.\w+)*\.sat\.[us]\d+\.[us]\d+ /,
  /^cvt\..*bf16/,
  /^redux\.sync\.(min|max)(\.NaN|\.abs)?\.f32 /,
  /^set\.\w+\.ftz\.bf16\.f32 /,
  /^setp\.\w+\.(and|or|xor)\.b?f16 /,
];
/**
 * Taken by ptxas alone, which gives them no meaning of their own or drops a part of it: not in the
 * ISA.
 */
const onlyThere = [
  /^fma\.r[zmp]\..*bf16/,
  /^madc\.hi\.sat\.s32 /,
  // One register for several, and a vector that lacks an element.
  /^mov\.v[24]\.\w+ \{[^}]*\}, [^{]/,
  /^mov\..* .*_\};$/,
  /^mov\.b128 .*, 0;$/,
  /^rcp\.r[nzmp]\.ftz\.f64 /,
  /^set\.\w+\.bf16\.f16 /,
  /^testp\.f(32|64) /,
];

const all = "pred b8 u8 s8 b16 u16 s16 f16 bf16 b32 u32 s32 f32 tf32 f16x2 bf16x2 u16x2 s16x2 b64 u64 s64 f64".split(" ");

/** A register of a type, untyped so that only its size counts. */
function reg(type: string, k: number): string {
  if (type === "pred") return `%p${k}`;
  return /x2|32/.test(type) ? `%r${k}` : /64/.test(type) ? `%d${k}` : `%h${k}`;
}

/** Sets of at most `most` modifiers, in the order of the pool. */
function subsets(pool: readonly string[], most: number): string[][] {
  let sets: string[][] = [[]];
  for (const modifier of pool) sets = sets.concat(sets.filter((set) => set.length < most).map((set) => [...set, modifier]));
  return sets;
}

type Make = (modifiers: string, type: string) => string;
const jobs: [name: string, make: Make, pool: string[], most: number, types: string[]][] = [];
const add = (name: string, make: Make, pool: string[], most = 2, types = all) => jobs.push([name, make, pool, most, types]);

const same =
  (op: string, count: number): Make =>
  (m, t) =>
    `${op}${m}.${t} ${Array.from({ length: count }, (_, k) => reg(t, k + 1)).join(", ")};`;
const doubled: Readonly<Record<string, string>> = { u16: "u32", s16: "s32", b16: "b32", u32: "u64", s32: "s64", b32: "b64" };
const product =
  (op: string, count: number): Make =>
  (m, t) => {
    const result = /wide/.test(m) ? (doubled[t] ?? t) : t;
    return `${op}${m}.${t} ${[reg(result, 1), reg(t, 2), reg(t, 3), reg(result, 4)].slice(0, count).join(", ")};`;
  };
const round = ["rn", "rz", "rm", "rp"];
for (const op of ["add", "sub"]) add(op, same(op, 3), [...round, "ftz", "sat", "cc"], 3);
for (const op of ["addc", "subc"]) add(op, same(op, 3), ["cc", "sat"]);
add("mul", product("mul", 3), ["lo", "hi", "wide", ...round, "ftz", "sat"], 3);
add("mad", product("mad", 4), ["lo", "hi", "wide", ...round, "ftz", "sat", "cc"], 3);
add("madc", product("madc", 4), ["lo", "hi", "wide", "cc", "sat"], 2);
add("fma", same("fma", 4), [...round, "ftz", "sat", "relu"], 3);
for (const op of ["mul24"]) add(op, same(op, 3), ["lo", "hi", "sat"]);
add("mad24", same("mad24", 4), ["lo", "hi", "sat"]);
add("sad", same("sad", 4), ["sat"], 1);
for (const op of ["div"]) add(op, same(op, 3), [...round, "approx", "full", "ftz", "sat"]);
add("rem", same("rem", 3), ["sat"], 1);
for (const op of ["min", "max"]) add(op, same(op, 3), ["ftz", "NaN", "relu", "sat", "xorsign", "abs"], 4);
for (const op of ["neg", "abs"]) add(op, same(op, 2), ["ftz", "sat"], 2);
for (const op of ["rcp", "sqrt"]) add(op, same(op, 2), [...round, "approx", "ftz", "sat"], 2);
for (const op of ["rsqrt", "ex2", "lg2", "sin", "cos", "tanh"]) add(op, same(op, 2), ["approx", "ftz", "sat", "rn"], 2);
add("copysign", same("copysign", 3), ["ftz"], 1);
add(
  "testp",
  (m, t) => `testp${m}.${t} %p1, ${reg(t, 2)};`,
  ["finite", "infinite", "number", "notanumber", "normal", "subnormal", "ftz"],
  2,
);
for (const op of ["and", "or", "xor"]) add(op, same(op, 3), ["sat"], 1);
for (const op of ["not", "cnot"]) add(op, same(op, 2), ["sat"], 1);
for (const op of ["shl", "shr"]) add(op, (m, t) => `${op}${m}.${t} ${reg(t, 1)}, ${reg(t, 2)}, %r3;`, ["sat", "wrap", "clamp"], 1);
for (const op of ["popc", "clz"]) add(op, (m, t) => `${op}${m}.${t} %r1, ${reg(t, 2)};`, ["sat"], 1);
add("bfind", (m, t) => `bfind${m}.${t} %r1, ${reg(t, 2)};`, ["shiftamt", "sat"]);
add("brev", same("brev", 2), ["sat"], 1);
add("bfe", (m, t) => `bfe${m}.${t} ${reg(t, 1)}, ${reg(t, 2)}, %r3, %r4;`, ["wrap"], 1);
add("bfi", (m, t) => `bfi${m}.${t} ${reg(t, 1)}, ${reg(t, 2)}, ${reg(t, 3)}, %r3, %r4;`, ["wrap"], 1);
add("bmsk", same("bmsk", 3), ["wrap", "clamp"]);
add("szext", same("szext", 3), ["wrap", "clamp"]);
add("shf", same("shf", 4), ["l", "r", "wrap", "clamp"], 3);
add("prmt", same("prmt", 4), ["f4e", "b4e", "rc8", "ecl", "ecr", "rc16"], 2);
add("lop3", (m, t) => `lop3${m}.${t} ${reg(t, 1)}, ${reg(t, 2)}, ${reg(t, 3)}, ${reg(t, 4)}, 0x96;`, ["and", "or"], 1);
add("dp4a", (m, t) => `dp4a${m}.${t} %r1, %r2, %r3, %r4;`, ["u32", "s32", "lo"], 2);
add("dp2a", (m, t) => `dp2a${m}.${t} %r1, %r2, %r3, %r4;`, ["lo", "hi", "u32", "s32"], 3);
const video = ["s32", "sat", "add", "min", "add.min", "lt", "clamp", "wrap", "po", "shr7"];
const selectors = ["", "b0", "b4", "h1", "h2", "h10", "h01", "b31", "b3210", "b7770", "x"].map((part) => (part === "" ? "" : `.${part}`));
const parts = selectors.flatMap((part) => [`%r1${part}, %r2, %r3`, `%r1, %r2${part}, %r3`, `%r1, %r2, %r3${part}`]);
const forms = [...parts, "%r1, %r2, 3", "%r1, -%r2, %r3", "%r1, %p2, %r3"].flatMap((form) => [
  form,
  `${form}, %r4`,
  `${form}, 4`,
  `${form}, -%r4`,
]);
for (const op of ["vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vmad", "vset"])
  for (const count of op === "vmad" || op.startsWith("vsh") ? [""] : ["", "2", "4"]) {
    const given = op === "vset" ? "u32" : "u32.u32";
    const [comparison, shift] = [op === "vset" ? ".lt" : "", op.startsWith("vsh") ? ".wrap" : ""];
    add(`${op}${count} operands`, (m, form) => `${op}${count}.${given}.u32${comparison}${shift}${m} ${form};`, ["sat", "add"], 1, forms);
    add(`${op}${count}`, (m, t) => `${op}${count}.${t}.${given}${m} %r1, %r2, %r3, %r4;`, video, 2, ["u32", "s32", "b32", "u16", "u64"]);
  }
const ways = ["eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "num", "nan"];
add("setp", (m, t) => `setp${m}.${t} %p1, ${reg(t, 2)}, ${reg(t, 3)};`, [...ways, "ftz"], 2);
add("setp2", (m, t) => `setp${m}.${t} %p1|%p2, ${reg(t, 2)}, ${reg(t, 3)}, %p3;`, ["eq", "lt", "and", "or", "xor"], 2);
for (const to of ["u32", "s32", "f32", "u16", "f16", "bf16", "f16x2", "bf16x2", "b32", "u64", "s16"])
  add(`set ${to}`, (m, t) => `set${m}.${to}.${t} ${reg(to, 1)}, ${reg(t, 2)}, ${reg(t, 3)};`, ["eq", "lt", "lo", "ltu", "ftz"], 2);
add("selp", (m, t) => `selp${m}.${t} ${reg(t, 1)}, ${reg(t, 2)}, ${reg(t, 3)}, %p1;`, ["sat"], 1);
for (const of of ["s32", "f32"])
  add(`slct ${of}`, (m, t) => `slct${m}.${t}.${of} ${reg(t, 1)}, ${reg(t, 2)}, ${reg(t, 3)}, %r4;`, ["ftz", "sat"], 1);
add("mov", same("mov", 2), ["sat"], 1);
const wished = ["64", "%r2", "%d2", "0"].flatMap((size) => ["", ", 16", ", 3", ", 0", ", %r3"].map((alignment) => size + alignment));
for (const t of ["u32", "u64", "b64", "s64"]) {
  add(
    `alloca.${t}`,
    (_, form) => `alloca.${t} ${form};`,
    [],
    0,
    wished.flatMap((size) => [`%r1, ${size}`, `%d1, ${size}`, `_, ${size}`]),
  );
  for (const op of ["stacksave", "stackrestore"])
    add(`${op}.${t}`, (m, form) => `${op}${m}.${t} ${form};`, ["local"], 1, ["%r1", "%d1", "0", "_", "%d1, %d2"]);
}
for (const op of ["add", "sub", "mul", "fma"])
  add(`${op} of pairs below sm_100`, (m) => `${op}${m}.f32x2 %d1, %d2, %d3${op === "fma" ? ", %d4" : ""};`, ["rn", "ftz"], 2, ["f32x2"]);
const sizes = { b: "%b", h: "%h", r: "%r", d: "%d", f: "%f" };
const vectors = Object.values(sizes).flatMap((name) =>
  [1, 2, 3, 4, 8].flatMap((count) => {
    const names = Array.from({ length: count }, (_, k) => name + ((k % 8) + 1));
    return [names, names.slice(1).concat("_"), names.map(() => "_")].map((list) => `{${list.join(", ")}}`);
  }),
);
const sources = ["%h1", "%r1", "%d1", "%q1", "%f1", "%tid", "%tid.x", "0"];
const pairs = vectors.flatMap((vector) => [
  ...sources.flatMap((one) => [`${vector}, ${one}`, `${one}, ${vector}`]),
  `${vector}, ${vector}`,
]);
for (const t of ["b16", "u16", "b32", "u32", "f32", "b64", "s64", "b128", "pred"])
  add(`mov.${t} of vectors`, (m, form) => `mov${m}.${t} ${form};`, ["v2", "v4"], 1, pairs);
for (const from of ["u8", "s8", "u16", "s32", "u32", "u64", "s64", "f16", "bf16", "f32", "f64"])
  add(
    `cvt ${from}`,
    (m, t) => `cvt${m}.${t}.${from} ${reg(t, 1)}, ${reg(from, 2)};`,
    ["rn", "rz", "rni", "rzi", "rna", "ftz", "sat", "relu", "satfinite"],
    2,
  );
add("cvtp", (m, t) => `cvt${m}.${t}.f32 ${reg(t, 1)}, %r2, %r3;`, ["rn", "rz", "rm", "ftz", "sat", "relu", "satfinite"], 2);
const byteFloatModifiers = ["rn", "rz", "satfinite", "relu", "ftz", "sat"];
for (const pair of ["e4m3x2", "e5m2x2"]) {
  const from = ["f16x2", "bf16x2", "f32", "e4m3x2", "u16", "b16"];
  add(`cvt ${pair}`, (m, t) => `cvt${m}.${pair}.${t} %h1, ${t === "f32" ? "%r2, %r3" : reg(t, 2)};`, byteFloatModifiers, 3, from);
  add(`cvt of ${pair}`, (m, t) => `cvt${m}.${t}.${pair} ${reg(t, 1)}, %h2;`, byteFloatModifiers, 3, [
    "f16x2",
    "bf16x2",
    "f32",
    "f16",
    "b32",
  ]);
}
for (const sp of ["", ".global", ".shared", ".const", ".local"]) {
  add(
    `ld${sp}`,
    (m, t) => `ld${m}${sp}.${t} ${reg(t, 1)}, [%d2];`,
    ["weak", "volatile", "relaxed.gpu", "acquire.sys", "relaxed", "acquire.cta", "mmio.relaxed.sys"],
    2,
    ["b8", "u16", "b32", "f32", "u64", "f16", "pred"],
  );
  add(
    `st${sp}`,
    (m, t) => `st${m}${sp}.${t} [%d2], ${reg(t, 1)};`,
    ["weak", "volatile", "relaxed.gpu", "release.sys", "release", "mmio.relaxed.sys"],
    2,
    ["b8", "u16", "b32", "f32", "u64", "f16", "pred"],
  );
  add(
    `ldh${sp}`,
    (m, t) => `ld${sp}${m}.${t} ${reg(t, 1)}, [%d2];`,
    ["ca", "cg", "cs", "lu", "cv", "nc", "L1::evict_last", "L1::no_allocate", "L2::128B", "wb", "unified"],
    2,
    ["b32", "f32", "u64"],
  );
  add(
    `sth${sp}`,
    (m, t) => `st${sp}${m}.${t} [%d2], ${reg(t, 1)};`,
    ["wb", "cg", "cs", "wt", "ca", "L1::evict_last", "L1::no_allocate", "nc"],
    2,
    ["b32", "f32"],
  );
}
for (const op of ["add", "min", "max", "inc", "dec", "and", "or", "xor", "exch"]) {
  add(
    `atom ${op}`,
    (m, t) => `atom${m}.global.${op}.${t} ${reg(t, 1)}, [%d2], ${reg(t, 3)};`,
    ["relaxed", "acquire", "acq_rel", "release", "gpu", "cta", "volatile"],
    2,
  );
  add(`atomn ${op}`, (m, t) => `atom.global.${op}${m}.${t} ${reg(t, 1)}, [%d2], ${reg(t, 3)};`, ["noftz"], 1);
  add(`red ${op}`, (m, t) => `red${m}.global.${op}.${t} [%d2], ${reg(t, 3)};`, ["relaxed", "release", "gpu"], 2);
}
add("atom cas", (m, t) => `atom${m}.global.cas.${t} ${reg(t, 1)}, [%d2], ${reg(t, 3)}, ${reg(t, 4)};`, ["relaxed", "cta"], 2);
add("shfl", (m, t) => `shfl${m}.${t} ${reg(t, 1)}, ${reg(t, 2)}, %r3, %r4, %r5;`, ["sync", "up", "idx", "bfly", "down"], 2);
add("vote", (m, t) => `vote${m}.${t} ${reg(t, 1)}, %p2, %r5;`, ["sync", "all", "any", "uni", "ballot"], 2);
add("match", (m, t) => `match${m}.${t} %r1, ${reg(t, 2)}, %r5;`, ["any", "all", "sync"], 2);
add("redux", (m, t) => `redux.sync${m}.${t} ${reg(t, 1)}, ${reg(t, 2)}, %r5;`, ["add", "min", "max", "and", "or", "xor", "abs", "NaN"], 2);
for (const bar of ["bar", "barrier", "bar.cta", "barrier.cta"])
  add(
    bar,
    (m, t) => (t === "u32" ? `${bar}${m} 0;` : `${bar}${m}.${t} ${reg(t, 1)}, 0, %p2;`),
    ["sync", "arrive", "red", "aligned", "and", "or", "popc"],
    3,
    ["u32", "pred"],
  );
add("fence", (m) => `fence${m};`, ["sc", "acq_rel", "acquire", "release", "cta", "gpu", "sys", "cluster"], 2, ["b32"]);
add("membar", (m) => `membar${m};`, ["cta", "gl", "sys", "gpu"], 2, ["b32"]);

const headOf = (target: string): string =>
  `.version 9.0\n.target ${target}\n.address_size 64\n.visible .entry k()\n{\n.reg .b8 %b<9>; .reg .b16 %h<9>; .reg .f32 %f<9>; .reg .b128 %q<9>; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<9>;\n`;
const source = join(mkdtempSync(join(tmpdir(), "spillway-spellings-")), "a.ptx");

/**
 * Which lines ptxas takes: those that it names are left out until it names none, and it is asked
 * for halves if it gives up without naming any.
 */
function takenThere(lines: readonly string[], target = "sm_90"): Set<string> {
  let left = [...lines];
  while (left.length > 0) {
    writeFileSync(source, `${headOf(target)}${left.join("\n")}\nret;\n}\n`);
    const { status, stdout, stderr, error } = spawnSync("ptxas", [`-arch=${target}`, "-O0", source, "-o", "/dev/null"], {
      encoding: "utf8",
      maxBuffer: 2 ** 28,
    });
    expect(error).toBeUndefined();
    if (status === 0) return new Set(left);
    const wrong = new Set([...`${stdout}${stderr}`.matchAll(/a\.ptx, line (\d+); (?:error|fatal)/g)].map((match) => Number(match[1]) - 7));
    const next = left.filter((_, k) => !wrong.has(k));
    if (next.length === left.length) {
      const middle = left.length >> 1;
      return middle === 0 ? new Set() : new Set([...takenThere(left.slice(0, middle), target), ...takenThere(left.slice(middle), target)]);
    }
    left = next;
  }
  return new Set();
}

const machine = new PtxMachine({ memoryBytes: 4096, launchBytes: 4096 });

function takenHere(line: string, target = "sm_90"): boolean {
  try {
    machine.load(`${headOf(target)}${line}\nret;\n}\n`).info("k");
    return true;
  } catch (error) {
    expect((error as Error).name).toBe("UnsupportedPtxError");
    return false;
  }
}

it.each(jobs)("%s", (_, make, pool, most, types) => {
  const lines = [...new Set(subsets(pool, most).flatMap((set) => types.map((type) => make(set.map((each) => `.${each}`).join(""), type))))];
  const there = takenThere(lines);
  const here = new Set(lines.filter((line) => takenHere(line)));
  expect([...here].filter((line) => !there.has(line) && !onlyHere.some((known) => known.test(line)))).toEqual([]);
  expect([...there].filter((line) => !here.has(line) && !onlyThere.some((known) => known.test(line)))).toEqual([]);
});

const registers = (name: string, count: number): string => `{${Array.from({ length: count }, (_, k) => `%${name}${k}`).join(",")}}`;
const factorBits: Readonly<Record<string, number>> = {
  b1: 1,
  s4: 4,
  u4: 4,
  s8: 8,
  u8: 8,
  e4m3: 8,
  e5m2: 8,
  f16: 16,
  bf16: 16,
  tf32: 32,
  f64: 64,
};
const sumRegister: Readonly<Record<string, string>> = { f16: "r", f32: "r", s32: "r", f64: "d" };
/** Registers that elements of a type fill. */
const filled = (type: string, elements: number): number =>
  type === "f64" ? elements / 32 : Math.ceil((elements * (factorBits[type] ?? 32)) / 1024);

/** A product as it is said in every shape that a type has, and in one that it has not. */
const mmas = [
  ["f16", "f16"],
  ["f16", "bf16"],
  ["bf16", "bf16"],
  ["tf32", "tf32"],
  ["f64", "f64"],
  ["e4m3", "e5m2"],
  ["e5m2", "e5m2"],
  ["e4m3", "s8"],
  ["s8", "u8"],
  ["s8", "s4"],
  ["u4", "s4"],
  ["b1", "b1"],
].flatMap(([a, b]) =>
  [8, 16].flatMap((m) =>
    [4, 8, 16, 32, 64, 128, 256].flatMap((k) =>
      ["f16", "f32", "s32", "f64"].flatMap((d) =>
        [d, "f16"].flatMap((c) =>
          ["", ".satfinite"].flatMap((satfinite) =>
            ["", ".xor.popc", ".and.popc"].map((operation) => {
              const sums = (type: string) => registers(sumRegister[type]!, filled(type, 8 * m));
              const factors = [
                registers(a === "f64" ? "d" : "r", filled(a!, m * k)),
                registers(b === "f64" ? "d" : "r", filled(b!, 8 * k)),
              ];
              return `mma.sync.aligned.m${m}n8k${k}.row.col${satfinite}.${d}.${a}.${b}.${c}${operation} ${sums(d)}, ${factors.join(", ")}, ${sums(c)};`;
            }),
          ),
        ),
      ),
    ),
  ),
);

const wmmaShapes = ["m16n16k16", "m32n8k16", "m8n32k16", "m16n16k8", "m8n8k4", "m8n8k32", "m8n8k128"];
const lengthsOf = (shape: string): [m: number, n: number, k: number] => shape.match(/\d+/g)!.map(Number) as [number, number, number];
const factorRegisters = (type: string, elements: number): string =>
  registers(type === "f64" ? "d" : "r", type === "f16" ? 8 : filled(type, elements));
const wmmas = wmmaShapes.flatMap((shape) => {
  const [m, n, k] = lengthsOf(shape);
  const moves = ["row", "col"].flatMap((side) =>
    [...Object.keys(factorBits), "f32", "s32"].flatMap((type) => [
      `wmma.load.a.sync.aligned.${side}.${shape}.${type} ${factorRegisters(type, m * k)}, [%d8], %r8;`,
      `wmma.load.b.sync.aligned.${side}.${shape}.global.${type} ${factorRegisters(type, n * k)}, [%d8];`,
      `wmma.load.c.sync.aligned.${side}.${shape}.shared.${type} ${registers(type === "f64" ? "d" : "r", filled(type, m * n))}, [%d8];`,
      `wmma.store.d.sync.aligned.${side}.${shape}.${type} [%d8], ${registers(type === "f64" ? "d" : "r", filled(type, m * n))}, %r8;`,
    ]),
  );
  const products = Object.keys(factorBits).flatMap((type) =>
    ["f16", "f32", "s32", "f64"].flatMap((sum) =>
      ["row.col", "col.row"].flatMap((sides) =>
        ["", ".satfinite"].flatMap((satfinite) =>
          ["", ".xor.popc", ".and.popc"].map((operation) => {
            const sums = registers(sumRegister[sum]!, filled(sum, m * n));
            const types = type === "f16" ? `${sum}.${sum}` : `${sum}.${type}.${type}.${sum}`;
            const factors = `${factorRegisters(type, m * k)}, ${factorRegisters(type, n * k)}`;
            return `wmma.mma${operation}.sync.aligned.${sides}.${shape}.${types}${satfinite} ${sums}, ${factors}, ${sums};`;
          }),
        ),
      ),
    ),
  );
  return [...moves, ...products];
});
const bytePairs = ["e4m3x2", "e5m2x2"].flatMap((pair) => [
  `cvt.rn.satfinite.${pair}.f32 %h1, %r1, %r2;`,
  `cvt.rn.satfinite.relu.${pair}.f16x2 %h1, %r1;`,
  `cvt.rn.f16x2.${pair} %r1, %h1;`,
]);

/**
 * Taken by ptxas without a meaning: shapes that the types have not, operations of bits on whole
 * numbers, and the product of quarters of a warp, which is deprecated.
 */
const notInIsa = [
  /^mma.*\.[su]4\..*popc/,
  /^wmma\.mma.*\.[su]4\./,
  /^wmma.*n16k(8|16)\..*f64/,
  /^wmma\.(load\.c|store\.d).*m8n8k(32|128)\..*f32/,
  /^mma.*m8n8k4.*f16/,
];

it.each(sampled(["sm_75", "sm_80", "sm_89", "sm_90"], 0.3, "matrix products"))("matrix products and 8-bit floats for %s", (target) => {
  const lines = [...new Set([...mmas, ...wmmas, ...bytePairs])].filter((line) => !/%[rd](?:9|\d\d)/.test(line));
  const there = takenThere(lines, target);
  const here = new Set(lines.filter((line) => takenHere(line, target)));
  expect([...here].filter((line) => !there.has(line))).toEqual([]);
  expect([...there].filter((line) => !here.has(line) && !notInIsa.some((known) => known.test(line)))).toEqual([]);
});
