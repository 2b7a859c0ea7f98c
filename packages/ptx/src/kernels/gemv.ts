// y = alpha A x + beta y, and the leaky step, in portable arithmetic: the bits of every other
// engine.
import { ceilDiv, type GeneratedKernel, generate, type KernelGeneratorOptions, readShape } from "./generated-kernel.js";
import { butterfly, leakyIntegration, portableTanh } from "./portable.js";
import type { Shapes } from "./shapes.js";

export const gemvName = "gemv";
export const leakyStepName = "leaky_step";

const warps = 4;

/**
 * y = (alpha * (A x)) + (beta * y) in binary32, A m x n by rows, each dot product in the order of
 * docs/numerics.md, rule 1. If beta is 0, y is not read. Arguments: a, x, y, alpha, beta.
 * @throws ArgumentError, PtxBuildError
 */
export function gemv(shape: Shapes["gemv"], options: KernelGeneratorOptions = {}): GeneratedKernel {
  const { m, n } = readShape("gemv", gemvName, shape);
  return generate({ name: gemvName, grid: [ceilDiv(m, warps)], block: [32 * warps] }, options, (k) => {
    const [a, x, y] = [k.pointer("f32", "a"), k.pointer("f32", "x"), k.pointer("f32", "y")];
    const [alpha, beta] = [k.parameter("f32", "alpha"), k.parameter("f32", "beta")];
    const row = k.mad(k.blockIndex(), warps, k.warpIndex());
    k.if(k.compare("lt", row, m), () => {
      const lane = k.and(k.threadIndex(), 31);
      const [ofRow, ofX] = [k.at(k.at(a, row, n), lane), k.at(x, lane)];
      const partial = k.variable("f32", 0);
      const whole = n - (n % 32);
      const add = (product: ReturnType<typeof k.load<"global", "f32">>): void => k.assign(partial, k.add(partial, product));
      if (whole > 0)
        k.for("u32", { from: 0, to: whole, step: 32, unroll: 8 }, (at) =>
          add(k.mul(k.load(k.at(ofRow, at), { readOnly: true }), k.load(k.at(ofX, at), { readOnly: true }))),
        );
      if (whole < n) {
        const access = { readOnly: true, where: k.compare("lt", lane, n - whole), otherwise: 0 };
        add(k.mul(k.load(ofRow.plus(whole), access), k.load(ofX.plus(whole), access)));
      }
      const scaled = k.mul(butterfly(k, partial), alpha);
      const to = k.at(y, row);
      const reads = k.compare("ne", beta, 0);
      const before = k.load(to, { where: reads, otherwise: 0 });
      const result = k.select(reads, k.add(scaled, k.mul(beta, before)), scaled);
      k.store(to, result, { where: k.compare("eq", lane, 0) });
    });
  });
}

/**
 * y[i] = ((1 - leak) * x[i]) + (leak * tanh(z[i])) in binary32 (docs/numerics.md, rules 4 and 5),
 * `size` numbers. Arguments: x, z, y, leak.
 * @throws ArgumentError, PtxBuildError
 */
export function leakyStep(shape: Shapes["leakyStep"], options: KernelGeneratorOptions = {}): GeneratedKernel {
  const { size } = readShape("leakyStep", leakyStepName, shape);
  return generate({ name: leakyStepName, grid: [ceilDiv(size, 256)], block: [256] }, options, (k) => {
    const [x, z, y, leak] = [k.pointer("f32", "x"), k.pointer("f32", "z"), k.pointer("f32", "y"), k.parameter("f32", "leak")];
    const i = k.mad(k.blockIndex(), 256, k.threadIndex());
    k.if(k.compare("lt", i, size), () => {
      const keep = k.sub(k.constant("f32", 1), leak);
      k.store(k.at(y, i), leakyIntegration(k, keep, k.load(k.at(x, i)), leak, portableTanh(k, k.load(k.at(z, i)))));
    });
  });
}
