// Products of a warp group (wgmma) and bulk copies: what the builder prints and refuses, every
// layout of shared memory on the simulated device, and what must not be touched while they go on.
import { describe, expect, it } from "vitest";
import { type AsyncProduct, type PtxKernel, PtxModule, type Target } from "../../packages/ptx/src/builder/index.js";
import { casesOf } from "../exhaustive.js";
import { Bench, input, output, simulationError } from "./device.js";
import { productCases, productData, productKernel } from "./warp-group-products.js";

function build(body: (k: PtxKernel) => void, target: Target = "sm_90a"): string {
  const module = new PtxModule({ target });
  module.kernel("made", { block: [256] }, body);
  return module.emit();
}

const sumsOf = (k: PtxKernel, columns: number) => Array.from({ length: columns / 2 }, () => k.variable("f32", 0));
const always = (k: PtxKernel) => k.compare("eq", k.constant("u32", 0), 0);

describe("the builder", () => {
  it("prints a product of factors in shared memory by their descriptors, for sm_90a", () => {
    const ptx = build((k) => {
      const tile = k.dynamicShared("bf16", 8192, 1024);
      const descriptor = k.matrixDescriptor(tile, { swizzle: 128, leading: 8192, stride: 1024 });
      k.fenceProducts();
      k.multiplyAsync(
        { type: "bf16", columns: 8, accumulate: always(k), transposeB: true },
        descriptor,
        k.add(descriptor, 2),
        sumsOf(k, 8),
      );
      k.commitProducts();
      k.waitProducts(0);
    });
    expect(ptx).toContain(".version 8.0\n.target sm_90a\n");
    expect(ptx).toContain(".extern .shared .align 1024 .b8 made_dynamic[];");
    // 8192 / 16 in bits 16 to 29; 1024 / 16 in bits 32 to 45, and 1 for the swizzle in bits 62 and
    // 63.
    expect(ptx).toMatch(/or\.b32 %u\d+, %u\d+, 33554432;\n\tmov\.u32 %u\d+, 1073741888;/);
    expect(ptx).toMatch(/wgmma\.mma_async\.sync\.aligned\.m64n8k16\.f32\.bf16\.bf16 \{%f0, %f1, %f2, %f3\}, %ud0, %ud1, %p0, 1, 1, 0, 1;/);
  });

  it("refuses products where there are none, and where not all four warps of a group come", () => {
    expect(() => build((k) => k.fenceProducts(), "sm_90")).toThrow('"wgmma.fence.sync.aligned;" takes sm_90a; the target is sm_90');
    expect(() => build((k) => k.fenceProducts(), "sm_100")).toThrow("takes sm_90a; the target is sm_100");
    const among = (group: (k: PtxKernel) => ReturnType<PtxKernel["warpIndex"]>) =>
      build((k) => k.if(k.compare("eq", group(k), 0), () => k.waitProducts(0)));
    expect(() => among((k) => k.warpIndex())).toThrow('not every warp of the warp group comes to "wgmma.wait_group.sync.aligned 0;"');
    expect(() => among((k) => k.warpGroupIndex())).not.toThrow();
    expect(() => build((k) => k.if(k.compare("eq", k.warpGroupIndex(), 0), () => k.barrier()))).toThrow("not every thread of the block");
  });

  it("refuses sums that no way defines, since they are read", () => {
    const body = (k: PtxKernel) => {
      const descriptor = k.matrixDescriptor(k.shared("bf16", 512, 1024), { swizzle: 0, leading: 128, stride: 256 });
      const sums = Array.from({ length: 4 }, () => k.variable("f32"));
      k.multiplyAsync({ type: "bf16", columns: 8, accumulate: always(k) }, descriptor, descriptor, sums);
    };
    expect(() => build(body)).toThrow("%f0 may be read before it is given a value");
  });

  it.each<[string, (k: PtxKernel) => unknown, string]>([
    ["columns", (k) => product(k, { columns: 12 }), "multiplyAsync for 12 columns; it takes a multiple of 8 up to 256"],
    ["sums", (k) => product(k, { sums: 3 }), "multiplyAsync got 3 sums; 16 columns take 8"],
    ["a turned tf32", (k) => product(k, { type: "tf32", transposeB: true }), "multiplyAsync transposes halves in shared memory alone"],
    ["a type", (k) => product(k, { type: "f64" as "f16" }), "multiplyAsync of f64; it takes f16, bf16 or tf32"],
    ["a distance", (k) => layoutOf(k, 128, 24, 1024), "leading of a descriptor is 24; it takes a multiple of 16 below 262144"],
    ["a swizzle", (k) => layoutOf(k, 16 as 32, 16, 1024), "swizzle of a descriptor is 16; it takes 0, 32, 64 or 128"],
    ["groups", (k) => k.waitProducts(8), "waitProducts for 8 groups; it takes 0 to 7"],
    ["registers", (k) => k.setMaxRegisters("inc", 250), "setMaxRegisters got 250; it takes a multiple of 8 from 24 to 256"],
    ["an alignment", (k) => k.dynamicShared("b8", 4, 24), "an alignment of 24 bytes; it takes a power of two up to 1024"],
    [
      "a copy",
      (k) => k.copyBulk(k.shared("b8", 64), k.pointer("b8", "x"), 40, k.shared("b64", 1)),
      "copyBulk got 40 bytes; it takes a multiple of 16 from 16",
    ],
  ])("refuses %s out of range", (_, body, message) => {
    expect(() => build((k) => void body(k))).toThrow(message);
  });

  function layoutOf(k: PtxKernel, swizzle: 0 | 32 | 64 | 128, leading: number, stride: number) {
    return k.matrixDescriptor(k.shared("bf16", 512, 1024), { swizzle, leading, stride });
  }

  function product(k: PtxKernel, given: Partial<AsyncProduct> & { sums?: number }) {
    const { type = "f16", columns = 16, sums = columns / 2, transposeB = false } = given;
    const descriptor = layoutOf(k, 0, 128, 256);
    k.multiplyAsync({ type, columns, accumulate: always(k), transposeB }, descriptor, descriptor, sumsOf(k, 2 * sums));
  }
});

describe("a product of a warp group", () => {
  const run = (given: (typeof productCases)[number], ptx = productKernel(given)): [got: Float32Array, expected: Float32Array] => {
    const { a, b, expected, dynamicSharedBytes } = productData(given, 7);
    const out = new Float32Array(expected.length);
    new Bench(ptx).run("product", { grid: 1, block: 128, dynamicSharedBytes }, [input(a), input(b), output(out)]);
    return [out, expected];
  };

  it.each(casesOf(productCases, (_, k) => k % 6 === 0))("of %j is exact on small whole numbers", (given) => {
    const [got, expected] = run(given);
    expect(got).toEqual(expected);
  });

  const plain = { type: "bf16", columns: 8, swizzle: 128 } as const;
  const changed = (from: string | RegExp, to: string): string => {
    const ptx = productKernel(plain);
    expect(ptx).toMatch(from);
    return ptx.replace(from, to);
  };
  const commit = "wgmma.commit_group.sync.aligned;";
  const fence = "wgmma.fence.sync.aligned;";

  it.each<[string, string | RegExp, string, string]>([
    ["comes before any fence", fence, "", "no wgmma.fence comes before it"],
    [
      "has sums that were touched after the fence",
      fence,
      `${fence} mov.f32 %f1, 0f00000000;`,
      '"mov.f32 %f1, 0f00000000" touches %f1, and no wgmma.fence comes after that',
    ],
    [
      "is not waited for",
      "wgmma.wait_group.sync.aligned 0;",
      "",
      "touches %f0, which a wgmma.mma_async still works on: nothing waited for it",
    ],
    ["is waited for too little", "wgmma.wait_group.sync.aligned 0;", "wgmma.wait_group.sync.aligned 1;", "touches %f0, which"],
    ["is in no committed group", commit, "", "touches %f0, which a wgmma.mma_async still works on"],
    ["meets others' stores to its factors", commit, `${commit} st.shared.u32 [product_dynamic], 0;`, "this thread writes what"],
    ["has a base offset in a descriptor", "1073741888", "1073872960", "a descriptor with a base offset is not modelled"],
  ])("that %s is told of", (_, from, to, message) => {
    const error = simulationError(() => run(plain, changed(from, to)));
    expect(error.message).toContain(message);
  });

  it("that reads what was stored and not fenced is told of, and one that reads what was fenced since is not", () => {
    const store = "setp.eq.u32 %p0, %tid.x, 127; @%p0 st.shared.u32 [product_dynamic], 0;";
    const stored = (...after: string[]) => changed(fence, `${store} ${after.join(" ")} ${fence}`);
    expect(simulationError(() => run(plain, stored("bar.sync 0;"))).message).toContain(
      "which thread (127,0,0) wrote: no fence.proxy.async comes after that",
    );
    run(plain, stored("fence.proxy.async.shared::cta;", "bar.sync 0;"));
    run(plain, stored("bar.sync 0;", "fence.proxy.async.shared::cta;"));
  });

  it("takes no descriptors that differ between lanes", () => {
    const ptx = changed(/(mov\.b64 %ud\d+, \{%u)(\d+)(, %u\d+\};)/, "add.u32 %u$2, %u$2, %laneid; $1$2$3");
    expect(simulationError(() => run(plain, ptx)).message).toContain("lanes give different descriptors");
  });
});

describe("a bulk copy", () => {
  /** Copies 64 bytes and gives the last word, waited for or not. */
  const copied = (waits: boolean, bytes = 64): (() => number) => {
    const module = new PtxModule({ target: "sm_90" });
    module.kernel("copy", { block: [64] }, (k) => {
      const [x, out] = [k.pointer("u32", "x"), k.pointer("u32", "out")];
      const [tile, barrier] = [k.shared("u32", 16), k.shared("b64", 1)];
      const leader = k.compare("eq", k.threadIndex(), 40);
      k.if(leader, () => k.initBarrierObject(barrier, 1));
      k.barrier();
      k.if(leader, () => {
        k.expectBytes(barrier, 64);
        k.copyBulk(tile, x, bytes, barrier);
      });
      if (waits) k.waitAt(barrier, 0, 2 ** 20);
      else k.barrier();
      k.store(k.at(out, k.threadIndex()), k.load(tile.plus(15)));
    });
    return () => {
      const out = new Uint32Array(64);
      const bench = new Bench(module.emit());
      bench.run("copy", { grid: 1, block: 64 }, [input(Uint32Array.from({ length: 16 }, (_, i) => i + 1)), output(out)]);
      expect(new Set(out).size).toBe(1);
      return out[0]!;
    };
  };

  it("has its bytes arrive for all who wait at its barrier object", () => {
    expect(copied(true)()).toBe(16);
  });

  it("is told of where its bytes are read and nobody waited, a barrier of the block or not", () => {
    expect(simulationError(copied(false)).message).toContain("still copies to: nothing waited for it");
  });

  it("does not end the phase before all bytes that it expects have come", () => {
    // The wait gives up, and the word was not copied.
    expect(simulationError(copied(true, 48)).kind).toBe("spin");
  });
});
