// Layer norm (Ba, Kiros and Hinton 2016) and root-mean-square norm (Zhang and Sennrich 2019) of
// rows.
import type { PtxKernel } from "../builder/index.js";
import { ceilDiv, type GeneratedKernel, generate, type KernelGeneratorOptions, readShape } from "./generated-kernel.js";
import { eachRow, planRow } from "./row.js";
import type { Shapes } from "./shapes.js";
import type { Single } from "./value-types.js";

export const layerNormName = "layernorm";
export const rmsNormName = "rmsnorm";

function norm(
  name: string,
  shape: Shapes["layerNorm"],
  defaultEpsilon: number,
  vectors: readonly string[],
  options: KernelGeneratorOptions,
  centred: boolean,
): GeneratedKernel {
  const { rows = 1, hiddenSize, epsilon = defaultEpsilon, affine = true, form } = readShape("layerNorm", name, shape);
  const plan = planRow(hiddenSize, form);
  return generate({ name, grid: [ceilDiv(rows, plan.rowsPerBlock)], block: [plan.threads] }, options, (k) => {
    const [x, y] = [k.pointer("f32", "x"), k.pointer("f32", "y")];
    const given = affine ? vectors.map((vector) => k.pointer("f32", vector)) : [];
    const count = k.parameter("u32", "rows");
    const share = 1 / hiddenSize;
    eachRow(k, plan, count, x, y, (row, to) => {
      if (centred) {
        const total = row.reduce("sum", (value) => value);
        const mean = k.mul(total, share);
        row.update((value) => k.sub(value, mean));
      }
      const squares = row.reduce("sum", (value) => k.mul(value, value));
      const meanSquare = k.mul(squares, share);
      const scale = k.rcp(k.sqrt(k.add(meanSquare, epsilon)));
      const loaded = new Map<object, Single[][]>();
      row.write(to, (value, part, piece) => {
        const vectors = loaded.get(piece) ?? given.map((vector) => row.alike(vector, piece));
        loaded.set(piece, vectors);
        const [gamma, beta] = vectors;
        return scaled(k, k.mul(value, scale), gamma?.[part], beta?.[part]);
      });
    });
  });
}

function scaled(k: PtxKernel, value: Single, gamma: Single | undefined, beta: Single | undefined): Single {
  if (gamma === undefined) return value;
  return beta === undefined ? k.mul(value, gamma) : k.fma(value, gamma, beta);
}

/**
 * y = (x - mean(x)) / sqrt(var(x) + epsilon) * gamma + beta over each row, the variance that of the
 * row (divided by its length), in binary32. Arguments: x, y, gamma and beta if affine, rows.
 * @throws ArgumentError, PtxBuildError
 */
export function layerNorm(shape: Shapes["layerNorm"], options: KernelGeneratorOptions = {}): GeneratedKernel {
  return norm(layerNormName, shape, 1e-5, ["gamma", "beta"], options, true);
}

/**
 * y = x / sqrt(mean(x^2) + epsilon) * gamma over each row, in binary32: no mean is subtracted.
 * Arguments: x, y, gamma if affine, rows.
 * @throws ArgumentError, PtxBuildError
 */
export function rmsNorm(shape: Shapes["layerNorm"], options: KernelGeneratorOptions = {}): GeneratedKernel {
  return norm(rmsNormName, shape, 1e-6, ["gamma"], options, false);
}
