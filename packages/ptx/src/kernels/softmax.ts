// Softmax of rows, with the largest element subtracted first.
import { ceilDiv, type GeneratedKernel, generate, type KernelGeneratorOptions, readShape } from "./generated-kernel.js";
import { eachRow, planRow } from "./row.js";
import type { Shapes } from "./shapes.js";

export const softmaxName = ({ dim, form }: Shapes["softmax"]): string => `softmax_${planRow(dim, form).form}`;

/**
 * y[r, i] = exp(x[r, i] - max_j x[r, j]) / sum_j exp(x[r, j] - max_j x[r, j]) in binary32 for
 * `rows` x dim; a row whose largest element is infinite gives NaN. Arguments: x, y, rows (which may
 * differ from the shape's, with a grid to match).
 * @throws ArgumentError, PtxBuildError
 */
export function rowSoftmax(shape: Shapes["softmax"], options: KernelGeneratorOptions = {}): GeneratedKernel {
  const { rows = 1, dim } = readShape("softmax", "softmax", shape);
  const name = softmaxName(shape);
  const plan = planRow(dim, shape.form);
  return generate({ name, grid: [ceilDiv(rows, plan.rowsPerBlock)], block: [plan.threads] }, options, (k) => {
    const [x, y, count] = [k.pointer("f32", "x"), k.pointer("f32", "y"), k.parameter("u32", "rows")];
    eachRow(k, plan, count, x, y, (row, to) => {
      const largest = row.reduce("max", (value) => value);
      row.update((value) => k.approximate("ex2", k.mul(k.sub(value, largest), Math.LOG2E)));
      const scale = k.rcp(row.reduce("sum", (value) => value));
      row.write(to, (value) => k.mul(value, scale));
    });
  });
}
