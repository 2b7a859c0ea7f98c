// One number in, one number out: the executor's element-wise kernels. They take their size when
// they are launched; the grid is made for `count`.
import type { PtxKernel, Value } from "../builder/index.js";
import { ceilDiv, type GeneratedKernel, generate, type KernelGeneratorOptions, readShape } from "./generated-kernel.js";
import { portableSigmoid, portableTanh } from "./portable.js";
import type { ElementwiseName, Shapes } from "./shapes.js";

type F = Value<"f32">;
type U = Value<"u32">;

/** e^x within 4 ulp by the hardware's 2^x: x is n ln 2 and a rest, so large x lose nothing. */
export function exponential(k: PtxKernel, x: F): F {
  const n = k.convert("f32", k.convert("s32", k.mul(k.max(k.min(x, 90), -105), Math.LOG2E), "rni"));
  const minus = k.neg(n);
  const rest = k.fma(minus, -2.1219444e-4, k.fma(minus, 0.693359375, k.max(k.min(x, 90), -105)));
  const half = k.convert("f32", k.convert("s32", k.mul(n, 0.5), "rmi"));
  const power = k.approximate("ex2", k.mul(rest, Math.LOG2E));
  // In two factors, since 2^n alone may be out of range although the result is not.
  return k.mul(k.mul(power, k.approximate("ex2", half)), k.approximate("ex2", k.sub(n, half)));
}

/** In place: data[i] = of(data[i]). Arguments: data, n. */
const inPlace = (of: (k: PtxKernel, x: F) => F) => (k: PtxKernel) => {
  const [data, n] = [k.pointer("f32", "data"), k.parameter("u32", "n")];
  forEach(k, n, (i) => k.store(k.at(data, i), of(k, k.load(k.at(data, i)))));
};

/** c[i] = of(a[i], b[i]). Arguments: a, b, c, n. */
const ofTwo = (of: (k: PtxKernel, a: F, b: F) => F) => (k: PtxKernel) => {
  const [a, b, c, n] = [k.pointer("f32", "a"), k.pointer("f32", "b"), k.pointer("f32", "c"), k.parameter("u32", "n")];
  forEach(k, n, (i) => k.store(k.at(c, i), of(k, k.load(k.at(a, i)), k.load(k.at(b, i)))));
};

const bodies = {
  vector_add: ofTwo((k, a, b) => k.add(a, b)),
  elementwise_multiply: ofTwo((k, a, b) => k.mul(a, b)),
  /** y[i] = e^x[i]. Arguments: x, y, n. */
  elementwise_exp: (k: PtxKernel) => {
    const [x, y, n] = [k.pointer("f32", "x"), k.pointer("f32", "y"), k.parameter("u32", "n")];
    forEach(k, n, (i) => k.store(k.at(y, i), exponential(k, k.load(k.at(x, i)))));
  },
  /** z <= 0 ? 0 : z, so a NaN stays (docs/numerics.md, rule 4). */
  relu: inPlace((k, x) => k.select(k.compare("le", x, 0), k.constant("f32", 0), x)),
  sigmoid: inPlace(portableSigmoid),
  tanh_activation: inPlace(portableTanh),
  /** data[r, f] += bias[f]. Arguments: data, bias, batch, features. */
  broadcast_add: (k: PtxKernel) => {
    const [data, bias, batch, features] = [
      k.pointer("f32", "data"),
      k.pointer("f32", "bias"),
      k.parameter("u32", "batch"),
      k.parameter("u32", "features"),
    ];
    forEach(k, k.mul(batch, features), (i) => k.store(k.at(data, i), k.add(k.load(k.at(data, i)), k.load(k.at(bias, k.rem(i, features))))));
  },
  /**
   * data[r, f] = (data[r, f] - mean[f]) / sqrt(variance[f] + eps) * gamma[f] + beta[f]. Arguments:
   * data, gamma, beta, mean, variance, batch, features, eps.
   */
  batch_norm: (k: PtxKernel) => {
    const data = k.pointer("f32", "data");
    const [gamma, beta, mean, variance] = [
      k.pointer("f32", "gamma"),
      k.pointer("f32", "beta"),
      k.pointer("f32", "mean"),
      k.pointer("f32", "variance"),
    ];
    const [batch, features, eps] = [k.parameter("u32", "batch"), k.parameter("u32", "features"), k.parameter("f32", "eps")];
    forEach(k, k.mul(batch, features), (i) => {
      const f = k.rem(i, features);
      const of = (pointer: typeof data): F => k.load(k.at(pointer, f), { readOnly: true });
      const centred = k.div(k.sub(k.load(k.at(data, i)), of(mean)), k.sqrt(k.add(of(variance), eps)));
      k.store(k.at(data, i), k.add(k.mul(centred, of(gamma)), of(beta)));
    });
  },
} as const satisfies Readonly<Record<ElementwiseName, (k: PtxKernel) => void>>;

const threads = 256;

/** Runs over 0 to n - 1, in strides of the grid. */
function forEach(k: PtxKernel, n: U, visit: (i: U) => void): void {
  const i = k.variable("u32", k.mad(k.blockIndex(), threads, k.threadIndex()));
  const stride = k.mul(k.special("nctaid", "x"), threads);
  k.while(
    () => k.compare("lt", i, n),
    () => {
      visit(i);
      k.assign(i, k.add(i, stride));
    },
  );
}

/**
 * One of the element-wise kernels, with a grid for `count` elements; it takes any number of them.
 * Its arguments are documented beside its name. @throws ArgumentError, PtxBuildError
 */
export function elementwise(shape: Shapes["elementwise"], options: KernelGeneratorOptions = {}): GeneratedKernel {
  const { operation, count } = readShape("elementwise", "elementwise", shape);
  return generate({ name: operation, grid: [Math.min(ceilDiv(count, threads), 65536)], block: [threads] }, options, bodies[operation]);
}
