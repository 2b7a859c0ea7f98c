// The builder: what it prints, that what it prints runs, and what it refuses.
import { describe, expect, it } from "vitest";
import { literal, type Pointer, type PtxKernel, PtxModule, type Target, type Value } from "../../packages/ptx/src/builder/index.js";
import { Bench, input, output } from "./device.js";

function build(body: (k: PtxKernel) => void, { target = "sm_90" as Target, block = [32] as [number, number?, number?] } = {}): string {
  const module = new PtxModule({ target });
  module.kernel("made", { block }, body);
  return module.emit();
}

/** Runs a kernel of one warp whose lane l stores one f32 to out[l]. */
function lanes(body: (k: PtxKernel) => Value<"f32">): number[] {
  const ptx = build((k) => {
    const out = k.pointer("f32", "out");
    k.store(k.at(out, k.laneIndex()), body(k));
  });
  const result = new Float32Array(32);
  new Bench(ptx).run("made", { grid: 1, block: 32 }, [output(result)]);
  return [...result];
}

describe("text", () => {
  it("is a whole module: header, parameters by name, registers by type, one instruction a line", () => {
    const module = new PtxModule();
    module.kernel("scale", { block: [64] }, (k) => {
      const [x, factor] = [k.pointer("f32", "x"), k.parameter("f32", "factor")];
      const at = k.at(x, k.threadIndex());
      k.store(at.plus(3), k.mul(k.load(at), factor));
    });
    expect(module.emit()).toBe(`.version 6.3
.target sm_75
.address_size 64


.visible .entry scale(
	.param .u64 .ptr .global .align 4 scale_x,
	.param .f32 scale_factor
)
.reqntid 64, 1, 1
{
	.reg .u32 %u<1>;
	.reg .f32 %f<3>;
	.reg .u64 %ud<3>;
	ld.param.u64 %ud0, [scale_x];
	cvta.to.global.u64 %ud1, %ud0;
	ld.param.f32 %f0, [scale_factor];
	mov.u32 %u0, %tid.x;
	mad.wide.u32 %ud2, %u0, 4, %ud1;
	ld.global.f32 %f1, [%ud2];
	mul.rn.f32 %f2, %f1, %f0;
	st.global.f32 [%ud2+12], %f2;
	ret;
}
`);
  });

  it("is the same bytes for the same program", () => {
    const program = (k: PtxKernel) => k.for("u32", { from: 0, to: 9, unroll: 2 }, (i) => k.if(k.compare("eq", i, 3), () => k.trap()));
    expect(build(program)).toBe(build(program));
  });

  it.each([
    ["f32", 0.1, "0f3DCCCCCD"],
    ["f32", -0, "0f80000000"],
    ["f32", Number.POSITIVE_INFINITY, "0f7F800000"],
    ["f32", 16777217, "0f4B800000"],
    ["f64", 0.1, "0d3FB999999999999A"],
    ["f64", 5e-324, "0d0000000000000001"],
    ["f16", 1, "0x3C00"],
    ["f16", 65504, "0x7BFF"],
    ["f16", 65520, "0x7C00"],
    ["f16", -(2 ** -24), "0x8001"],
    ["f16", 2 ** -25, "0x0000"],
    ["f16", 3 * 2 ** -25, "0x0002"],
    ["f16", 2049, "0x6800"],
    ["f16", 2051, "0x6802"],
    ["bf16", 1.00390625, "0x3F80"],
    ["bf16x2", 1, "0x3F803F80"],
    ["u64", 2n ** 64n - 1n, "18446744073709551615"],
    ["s32", -5, "-5"],
  ] as const)("prints the %s constant %s by its bits, %s", (type, value, text) => {
    expect(literal(type, value)).toBe(text);
  });

  it("asks for the least PTX version that has what is used", () => {
    const version = (body: (k: PtxKernel) => void, target: Target = "sm_90") => /\.version (.*)/.exec(build(body, { target }))![1];
    expect(version(() => {}, "sm_75")).toBe("6.3");
    expect(version((k) => k.loadMatrices(k.shared("b32", 64), 1), "sm_75")).toBe("6.5");
    expect(version((k) => k.clusterRank(), "sm_90")).toBe("7.8");
    expect(version((k) => k.fenceBarrierInit(), "sm_90")).toBe("8.0");
  });
});

describe("what it prints runs", () => {
  it("if and else", () => {
    const values = lanes((k) => {
      const x = k.variable("f32");
      k.if(
        k.compare("lt", k.laneIndex(), 10),
        () => k.assign(x, 1),
        () => k.assign(x, 2),
      );
      return x;
    });
    expect(values).toEqual(Array.from({ length: 32 }, (_, l) => (l < 10 ? 1 : 2)));
  });

  it.each([1, 2, 3, 4, 7, 8])("for, unrolled by %i, visits every index once, whatever is left over", (unroll) => {
    // Lane l sums 5, 8, 11, ... below 5 + l.
    const values = lanes((k) => {
      const sum = k.variable("u32", 0);
      const to = k.add(k.laneIndex(), 5);
      k.for("u32", { from: 5, to, step: 3, unroll }, (i) => k.assign(sum, k.add(sum, i)));
      return k.convert("f32", sum);
    });
    const expected = Array.from({ length: 32 }, (_, l) => {
      let sum = 0;
      for (let i = 5; i < 5 + l; i += 3) sum += i;
      return sum;
    });
    expect(values).toEqual(expected);
  });

  it("for with known ends leaves out what never runs", () => {
    const rounds = (to: number, unroll: number) => {
      let copies = 0;
      build((k) => k.for("u32", { from: 0, to, unroll }, () => copies++));
      return copies;
    };
    expect([rounds(8, 4), rounds(9, 4), rounds(3, 4), rounds(8, 1)]).toEqual([4, 5, 1, 1]);
  });

  it("break and continue, in loops of every kind", () => {
    // Odd numbers up to the lane's own index: 1 + 3 + ...
    const values = lanes((k) => {
      const lane = k.laneIndex();
      const total = k.variable("u32", 0);
      k.for("u32", { from: 0, to: 100, unroll: 2 }, (i, loop) => {
        loop.break(k.compare("gt", i, lane));
        loop.continue(k.compare("eq", k.and(i, 1), 0));
        k.assign(total, k.add(total, i));
      });
      const left = k.variable("u32", lane);
      k.while(
        () => k.compare("gt", left, 3),
        () => k.assign(left, k.sub(left, 4)),
      );
      const doubled = k.variable("u32", 1);
      k.repeatWhile(() => {
        k.assign(doubled, k.shl(doubled, 1));
        return k.compare("lt", doubled, lane);
      });
      return k.convert("f32", k.mad(total, 1000, k.mad(left, 100, doubled)));
    });
    const expected = Array.from({ length: 32 }, (_, l) => {
      let total = 0;
      for (let i = 1; i <= l; i += 2) total += i;
      let doubled = 1;
      do doubled *= 2;
      while (doubled < l);
      return 1000 * total + 100 * (l % 4) + doubled;
    });
    expect(values).toEqual(expected);
  });

  it("shuffles of all four kinds, with parts of the warp apart", () => {
    const at = (how: "idx" | "up" | "down" | "bfly", by: number, width: 8 | 32) =>
      lanes((k) => k.convert("f32", k.shuffle(how, k.laneIndex(), by, { width })));
    const expected = (of: (lane: number) => number) => Array.from({ length: 32 }, (_, l) => of(l));
    expect(at("idx", 3, 8)).toEqual(expected((l) => (l & 24) + 3));
    expect(at("up", 3, 8)).toEqual(expected((l) => ((l & 7) >= 3 ? l - 3 : l)));
    expect(at("down", 3, 32)).toEqual(expected((l) => (l + 3 < 32 ? l + 3 : l)));
    expect(at("bfly", 5, 32)).toEqual(expected((l) => l ^ 5));
  });

  it("rounds a product before it is added, unless fma is asked for", () => {
    const x = Math.fround(1 + 2 ** -12);
    const both = (k: PtxKernel, fused: boolean) => {
      const a = k.constant("f32", x);
      return fused ? k.fma(a, a, -1) : k.sub(k.mul(a, a), 1);
    };
    expect(lanes((k) => both(k, false))[0]).toBe(2 ** -11);
    expect(lanes((k) => both(k, true))[0]).toBe(2 ** -11 + 2 ** -24);
  });

  it("halves, pairs and words: packing and taking apart are inverse", () => {
    const values = lanes((k) => {
      const half = k.convert("f16", k.convert("f32", k.laneIndex()));
      const [low, high] = k.unpack(k.add(k.pack("f16x2", half, k.convert("f16", k.constant("f32", 0.5))), 0.25));
      const [first] = k.split("f32", k.join("b64", k.convert("f32", low), k.convert("f32", high)));
      return k.add(first, k.convert("f32", high));
    });
    expect(values).toEqual(Array.from({ length: 32 }, (_, l) => l + 1));
  });

  it("bits put into others, and atomics of bits of any word", () => {
    const result = lanes((k) => {
      const lane = k.reinterpret("b32", k.laneIndex());
      const word = k.shared("u32", 1);
      const first = k.compare("eq", k.laneIndex(), 0);
      k.store(word, 0xff00, { where: first });
      k.barrier();
      k.if(first, () => {
        k.atomic("and", word, 0x0ff0);
        k.atomic("or", word, 0x000f);
        k.atomic("xor", word, 0x0100);
      });
      k.barrier();
      const put = k.bitInsert(lane, k.reinterpret("b32", k.load(word)), 16, 4);
      return k.convert("f32", k.reinterpret("u32", put));
    });
    expect(result).toEqual(Array.from({ length: 32 }, (_, l) => 0x0e0f + (l % 16) * 2 ** 16));
  });

  it("guarded loads give what was said instead", () => {
    const ptx = build((k) => {
      const [x, out] = [k.pointer("u8", "x"), k.pointer("u32", "out")];
      const lane = k.laneIndex();
      k.store(k.at(out, lane), k.load(k.at(x, lane), { where: k.compare("lt", lane, 5), otherwise: 77, readOnly: true }));
    });
    const result = new Uint32Array(32);
    new Bench(ptx).run("made", { grid: 1, block: 32 }, [input(Uint8Array.of(250, 251, 252, 253, 254)), output(result)]);
    expect([...result]).toEqual([250, 251, 252, 253, 254, ...new Array<number>(27).fill(77)]);
  });

  it("an address some bytes back is written as a sum, which is all that assemblers take", () => {
    const module = new PtxModule({ target: "sm_75" });
    module.kernel("back", { block: [32] }, (k) => {
      const array = k.shared("f32", 8).plus(-1);
      k.store(array, k.load(array));
    });
    expect(module.emit()).toMatch(/ld\.shared\.f32 %f\d+, \[%u\d+\+-4\];/);
  });

  it("shared memory, static and dynamic, at different places", () => {
    const ptx = build((k) => {
      const out = k.pointer("f32", "out");
      const lane = k.laneIndex();
      const arrays = [k.shared("f32", 32), k.shared("f32", 32), k.dynamicShared("f32", 32), k.dynamicShared("f32", 32)];
      for (const [n, array] of arrays.entries()) k.store(k.at(array, lane), k.convert("f32", k.add(lane, 100 * n)));
      k.barrier();
      for (const [n, array] of arrays.entries())
        k.store(k.at(out, lane).plus(32 * n), k.load(k.at(array, k.sub(k.constant("u32", 31), lane))));
    });
    const result = new Float32Array(128);
    new Bench(ptx).run("made", { grid: 1, block: 32, dynamicSharedBytes: 256 }, [output(result)]);
    expect([...result]).toEqual(Array.from({ length: 128 }, (_, k) => 100 * Math.floor(k / 32) + 31 - (k % 32)));
  });

  it("arrays of each thread's own, and numbers in constant memory, of every element", () => {
    const result = lanes((k) => {
      const lane = k.laneIndex();
      const weights = k.constants("f32", [0.5, -1, 3]);
      const table = k.constants("u8", [2, 0, 1, 0]);
      const halves = k.constants("f16", [1, 0.25]);
      const large = k.constants("u64", [2n ** 40n, 5]);
      const own = k.local("f32", 4);
      for (let i = 0; i < 4; i++) k.store(own.plus(i), k.convert("f32", k.add(lane, 10 * i)));
      const weight = k.load(k.at(weights, k.load(k.at(table, k.and(lane, 3)))));
      const half = k.convert("f32", k.load(k.at(halves, k.and(lane, 1))));
      const five = k.convert("f32", k.load(large.plus(1)));
      return k.add(k.add(k.mul(weight, k.load(k.at(own, k.rem(lane, 4)))), half), five);
    });
    const weight = [3, 0.5, -1, 0.5];
    expect(result).toEqual(Array.from({ length: 32 }, (_, l) => weight[l % 4]! * (l + 10 * (l % 4)) + (l % 2 ? 0.25 : 1) + 5));
  });

  it("wmma of a 16 x 16 product", () => {
    const ptx = build((k) => {
      const [a, b, c] = [k.pointer("f16", "a"), k.pointer("f16", "b"), k.pointer("f32", "c")];
      const zero = Array.from({ length: 8 }, () => k.constant("f32", 0));
      const tile = k.wmma("f16", ["row", "col"], k.wmmaLoad("a", "f16", "row", a, 16), k.wmmaLoad("b", "f16", "col", b, 16), zero);
      k.wmmaStore(c, tile, 16);
    });
    const identity = new Uint16Array(256);
    for (let i = 0; i < 16; i++) identity[17 * i] = 0x3c00;
    const ramp = Uint16Array.from({ length: 256 }, (_, k) => (k % 16 === 3 ? 0x4000 : 0));
    const c = new Float32Array(256);
    new Bench(ptx).run("made", { grid: 1, block: 32 }, [input(identity), input(ramp), output(c)]);
    // b is read by columns: every column has its 2 in row 3.
    expect([...c]).toEqual(Array.from({ length: 256 }, (_, k) => (Math.floor(k / 16) === 3 ? 2 : 0)));
  });
});

describe("what it refuses", () => {
  const refuse = (body: (k: PtxKernel) => void, options?: Parameters<typeof build>[1]) => expect(() => build(body, options));

  it("a value that some way leaves undefined", () => {
    refuse((k) => {
      const x = k.variable("f32");
      k.if(k.compare("lt", k.laneIndex(), 4), () => k.assign(x, 1));
      k.add(x, 1);
    }).toThrow('kernel made: %f0 may be read before it is given a value, by "add.rn.f32 %f1, %f0, 0f3F800000;"');
    refuse((k) => k.add(k.variable("u32"), 1)).toThrow("%u0 may be read before");
  });

  it("a barrier that an earlier exit keeps threads from", () => {
    refuse((k) => {
      k.exit(k.compare("ge", k.threadIndex(), 20));
      k.barrier();
    }).toThrow('not every thread of the block comes to "bar.sync 0;": "@%p0 ret;" sends threads different ways or ends some');
  });

  it("a barrier under a condition that differs between threads, also by way of memory", () => {
    refuse((k) => k.if(k.compare("lt", k.threadIndex(), 9), () => k.barrier())).toThrow("not every thread of the block");
    refuse((k) => {
      const x = k.load(k.at(k.pointer("u32", "x"), k.threadIndex()));
      k.for("u32", { from: 0, to: x }, () => k.barrier());
    }).toThrow("not every thread of the block");
    // One place of local memory is another in each thread; one of constant memory is the same.
    const under = (pointer: (k: PtxKernel) => Pointer<"local" | "const", "u32">) => (k: PtxKernel) =>
      k.if(k.compare("eq", k.load(pointer(k)), 0), () => k.barrier());
    refuse(under((k) => k.local("u32", 1))).toThrow("not every thread of the block");
    refuse(under((k) => k.constants("u32", [7]))).not.toThrow();
  });

  it("a full-mask shuffle among some lanes, but not one among whole warps", () => {
    const shuffle = (k: PtxKernel) => k.shuffle("bfly", k.constant("f32", 1), 16);
    refuse((k) => k.if(k.compare("lt", k.laneIndex(), 9), () => shuffle(k))).toThrow(
      'not every lane of the warp comes to "shfl.sync.bfly.b32',
    );
    refuse((k) => {
      k.exit(k.compare("ge", k.laneIndex(), 30));
      shuffle(k);
    }).toThrow("not every lane of the warp");
    refuse((k) => k.if(k.compare("lt", k.warpIndex(), 1), () => shuffle(k)), { block: [64] }).not.toThrow();
    refuse((k) => k.if(k.compare("lt", k.warpIndex(), 1), () => k.barrier()), { block: [64] }).toThrow("not every thread of the block");
    refuse((k) => k.if(k.compare("lt", k.blockIndex(), 1), () => k.barrier())).not.toThrow();
    refuse((k) =>
      k.if(k.compare("lt", k.laneIndex(), 16), () => k.shuffle("bfly", k.constant("f32", 1), 8, { mask: 0xffff })),
    ).not.toThrow();
  });

  it("a loop that a lane leaves early carries its divergence to what is computed in it", () => {
    refuse((k) => {
      const count = k.variable("u32", 0);
      k.for("u32", { from: 0, to: 32 }, (i, loop) => {
        loop.break(k.compare("gt", i, k.laneIndex()));
        k.assign(count, k.add(count, 1));
      });
      k.if(k.compare("gt", count, 4), () => k.warpSync());
    }).toThrow("not every lane of the warp");
  });

  it("what the target lacks", () => {
    refuse((k) => k.waitCopies(0), { target: "sm_75" }).toThrow('"cp.async.wait_group 0;" takes sm_80 or later; the target is sm_75');
    refuse((k) => k.dynamicShared("b8", 100 * 1024), { target: "sm_89" }).toThrow(
      "102400 bytes of shared memory; a block of sm_89 has 101376",
    );
    refuse((k) => k.constants("f64", new Array(8193).fill(0))).toThrow("65544 bytes of constant memory; it takes at most 65536");
    refuse((k) => k.shared("b8", 50_000)).toThrow("50000 bytes of static shared memory; it takes at most 49152 (dynamicShared gives more)");
    refuse((k) => {
      const [x, many] = [k.pointer("f32", "x"), k.threadIndex()];
      const values = Array.from({ length: 300 }, (_, i) => k.load(k.at(x, many).plus(i)));
      k.barrier();
      for (const [i, value] of values.entries()) k.store(k.at(x, many).plus(i), value);
    }).toThrow(/about 30\d registers a thread are alive at once; sm_90 has 255/);
  });

  it("numbers that a type cannot hold, names twice, and operands of another kernel", () => {
    refuse((k) => k.add(k.laneIndex(), 0.5)).toThrow("the constant 0.5 for .u32; it takes a whole number");
    refuse((k) => k.add(k.laneIndex(), -1)).toThrow("the constant -1 for .u32; it takes 0 to 4294967295");
    refuse((k) => {
      k.parameter("u32", "n");
      k.pointer("f32", "n");
    }).toThrow("parameter n is there twice");
    const other = new PtxModule();
    let stranger: ReturnType<PtxKernel["laneIndex"]> | undefined;
    other.kernel("other", {}, (k) => {
      k.constant("u32", 1);
      stranger = k.laneIndex();
    });
    refuse((k) => k.add(k.laneIndex(), stranger!)).toThrow("operand 2 of add got %u1 of another kernel");
    expect(() => new PtxModule({ target: "sm_42" as Target })).toThrow('target is "sm_42"; it takes "sm_75", "sm_80"');
    expect(() => new PtxModule({ version: [5, 0] })).toThrow("it takes [major, minor], [6, 0] or later");
  });

  it("numbers that an array's element cannot hold, arrays without elements, and stores to constant memory", () => {
    refuse((k) => k.constants("u8", [256])).toThrow("the constant 256 for .u8; it takes 0 to 255");
    refuse((k) => k.constants("f32", [])).toThrow("constant memory for 0 elements; it takes a whole number from 1");
    refuse((k) => k.local("f32", 0.5)).toThrow("local memory for 0.5 elements; it takes a whole number from 1");
    refuse((k) => k.local("f32", 4, 24)).toThrow("an alignment of 24 bytes; it takes a power of two up to 128");
    // @ts-expect-error constant memory is read only
    refuse((k) => k.store(k.constants("f32", [1]), 2)).toThrow("a store to constant memory; it takes global, shared or local memory");
  });

  it("what no instruction does: an order of bits, conversions of what is no number, atomics of other types", () => {
    // @ts-expect-error bits without a meaning have no order
    refuse((k) => k.compare("lt", k.constant("b32", 1), 2)).toThrow("compare of b32 got lt; it takes eq or ne");
    // @ts-expect-error a pair is no number
    refuse((k) => k.convert("f32", k.constant("f16x2", 1))).toThrow("convert to f32 got a f16x2; it takes one number");
    refuse((k) => k.convert("tf32", k.constant("f64", 1))).toThrow("convert to tf32 got a f64; it takes f32");
    // @ts-expect-error there is no sum of bits
    refuse((k) => k.atomic("add", k.shared("b32", 1), 1)).toThrow("atomic add of b32; it takes u32, s32, u64, f32, f64");
  });

  it("64 bits of words of two types, which no assembler takes", () => {
    // @ts-expect-error one is a float, the other a whole number
    refuse((k) => k.join("b64", k.constant("f32", 1), k.constant("u32", 0))).toThrow(
      "join got f32 and u32; it takes two words of one type",
    );
  });

  it("types that do not fit, before anything runs", () => {
    // Each line below must not compile; the body is never called.
    const never = (k: PtxKernel): void => {
      const [f, u, d] = [k.constant("f32", 1), k.constant("u32", 1), k.constant("f64", 1)];
      // @ts-expect-error f32 and u32
      k.add(f, u);
      // @ts-expect-error f32 and f64
      k.fma(f, f, d);
      // @ts-expect-error no remainder of floats
      k.rem(f, f);
      // @ts-expect-error a condition is a predicate
      k.if(u, () => {});
      // @ts-expect-error a shared address takes no 64-bit base
      k.copyAsync(k.pointer("f32", "x"), k.shared("f32", 4), 16);
      // @ts-expect-error an f64 into memory of f32
      k.store(k.shared("f32", 4), d);
      // @ts-expect-error a bigint is for 64 bits
      k.add(u, 1n);
      // @ts-expect-error a value that is no variable
      k.assign(f, 2);
    };
    expect(never).toBeTypeOf("function");
    refuse((k) => k.add(k.constant("f32", 1), k.constant("u32", 1) as never)).toThrow("operand 2 of add got a u32; it takes f32");
  });
});
