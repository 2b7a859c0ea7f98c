// The confusion matrix of a classifier as a figure.
import { ArgumentError } from "@spillway/core/errors.js";
import { asMatrix, type MatrixLike } from "@spillway/numerics";
import { axis, colourBar, heatmap, ticksOf } from "./elements.js";
import type { Figure } from "./figure.js";
import { checkList, type TitleOptions, titleOf } from "./options.js";
import { inkOn, sequentialScale } from "./palette.js";
import { colourAt } from "./svg/heatmap.js";

/**
 * A confusion matrix: row r, column c counts the cases of class r that were taken for class c. The
 * colour is the share of the row.
 * @throws ArgumentError unless the matrix is square with one class name a row.
 */
export function plotConfusion(counts: MatrixLike, classes: readonly (string | number)[], options: TitleOptions = {}): Figure {
  const title = titleOf(options, "Confusion matrix");
  const matrix = asMatrix(counts, "counts");
  checkList(classes, "classes", "class names");
  const size = classes.length;
  if (matrix.rows !== size || matrix.cols !== size) {
    throw ArgumentError.shape(`counts is ${matrix.rows} x ${matrix.cols}; ${size} classes take ${size} x ${size}`, { field: "counts" });
  }
  const share = new Float64Array(size * size);
  const annotations: Record<string, unknown>[] = [];
  let right = 0;
  let all = 0;
  for (let r = 0; r < size; r++) {
    let total = 0;
    for (let c = 0; c < size; c++) total += matrix.at(r, c);
    all += total;
    right += matrix.at(r, r);
    for (let c = 0; c < size; c++) {
      const value = matrix.at(r, c);
      share[r * size + c] = total > 0 ? value / total : 0;
      if (value === 0 || size > 30) continue;
      const color = inkOn(colourAt(sequentialScale, share[r * size + c]!));
      annotations.push({ x: c, y: r, text: String(value), showarrow: false, font: { color, size: 12 } });
    }
  }
  const ticks = { ...ticksOf(classes.map(String)), type: "linear", showgrid: false };
  return {
    title,
    description: `${right} of ${all} cases are classified rightly; ${all - right} are not. Rows are the true classes, columns the predicted ones.`,
    data: [
      heatmap(share, [size, size], {
        ...{ customdata: matrix.toArrays(), zmin: 0, zmax: 1, xgap: 1, ygap: 1, colorscale: sequentialScale },
        colorbar: colourBar("share", { tickformat: ".0%" }),
        hovertemplate: "true %{y}, predicted %{x}: %{customdata}<extra></extra>",
      }),
    ],
    layout: {
      height: Math.min(640, 180 + 34 * size),
      annotations,
      xaxis: axis("predicted class", ticks),
      yaxis: axis("true class", { ...ticks, title: { text: "true class", standoff: 12 }, autorange: "reversed" }),
    },
  };
}
