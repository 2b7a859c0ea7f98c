// Layer norm (Ba, Kiros and Hinton 2016) and root-mean-square norm (Zhang and Sennrich 2019) of
// rows.
import type { PtxKernel, Value } from "../builder/index.js";
import { ceilDiv, checkSizes, type GeneratedKernel, generate, type KernelGeneratorOptions, refusal } from "./generated-kernel.js";
import { eachRow, planRow } from "./row.js";

/** Sizes and form of a layer norm or RMS norm. */
export interface NormShape {
  /** Default 1. */
  readonly rows?: number;
  /** Length of a row. */
  readonly hiddenSize: number;
  /** Added to the variance or the mean square. Default 1e-5 for layer norm, 1e-6 for RMS norm. */
  readonly epsilon?: number;
  /** Whether results are multiplied by gamma, and for layer norm beta added. Default true. */
  readonly affine?: boolean;
  /** Who shares a row: by default a warp up to 1024 elements, else a block. */
  readonly form?: "warp" | "block";
}

export const layerNormName = "layernorm";
export const rmsNormName = "rmsnorm";

function norm(
  name: string,
  shape: NormShape,
  defaultEpsilon: number,
  vectors: readonly string[],
  options: KernelGeneratorOptions,
  centred: boolean,
): GeneratedKernel {
  const { rows = 1, hiddenSize, epsilon = defaultEpsilon, affine = true } = shape;
  checkSizes(name, { rows, hiddenSize });
  if (!(epsilon >= 0 && epsilon < Number.POSITIVE_INFINITY)) throw refusal(name, "epsilon", epsilon, "a number from 0");
  const plan = planRow(name, hiddenSize, shape.form);
  return generate({ name, grid: [ceilDiv(rows, plan.rowsPerBlock)], block: [plan.threads] }, options, (k) => {
    const [x, y] = [k.pointer("f32", "x"), k.pointer("f32", "y")];
    const given = affine ? vectors.map((vector) => k.pointer("f32", vector)) : [];
    const count = k.parameter("u32", "rows");
    const share = 1 / hiddenSize;
    eachRow(k, plan, count, x, y, (row, to) => {
      if (centred) {
        const mean = k.mul(
          row.reduce("sum", (value) => value),
          share,
        );
        row.update((value) => k.sub(value, mean));
      }
      const meanSquare = k.mul(
        row.reduce("sum", (value) => k.mul(value, value)),
        share,
      );
      const scale = k.rcp(k.sqrt(k.add(meanSquare, epsilon)));
      const loaded = new Map<object, Value<"f32">[][]>();
      row.write(to, (value, part, piece) => {
        if (!loaded.has(piece))
          loaded.set(
            piece,
            given.map((vector) => row.alike(vector, piece)),
          );
        const [gamma, beta] = loaded.get(piece)!;
        return scaled(k, k.mul(value, scale), gamma?.[part], beta?.[part]);
      });
    });
  });
}

function scaled(k: PtxKernel, value: Value<"f32">, gamma: Value<"f32"> | undefined, beta: Value<"f32"> | undefined): Value<"f32"> {
  if (gamma === undefined) return value;
  return beta === undefined ? k.mul(value, gamma) : k.fma(value, gamma, beta);
}

/**
 * y = (x - mean(x)) / sqrt(var(x) + epsilon) * gamma + beta over each row, the variance that of the
 * row (divided by its length), in binary32. Arguments: x, y, gamma and beta if affine, rows.
 * @throws ArgumentError, PtxBuildError
 */
export function layerNorm(shape: NormShape, options: KernelGeneratorOptions = {}): GeneratedKernel {
  return norm(layerNormName, shape, 1e-5, ["gamma", "beta"], options, true);
}

/**
 * y = x / sqrt(mean(x^2) + epsilon) * gamma over each row, in binary32: no mean is subtracted.
 * Arguments: x, y, gamma if affine, rows.
 * @throws ArgumentError, PtxBuildError
 */
export function rmsNorm(shape: NormShape, options: KernelGeneratorOptions = {}): GeneratedKernel {
  return norm(rmsNormName, shape, 1e-6, ["gamma"], options, false);
}
