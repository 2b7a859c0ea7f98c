// The spectral radius that a matrix of independent elements has in the limit of many rows. An estimate, not a computation.
import type { Component } from "./components.js";
import { powerOfTwoFactors } from "./power-of-two.js";
import { summarize } from "./structure.js";

/**
 * sqrt(N var(w)) over all N^2 elements of a block, zeros included (Girko 1985: for independent elements of mean 0 and density p this is
 * sqrt(N p var)); or |N mean(w)|, the outlier that a mean brings (Tao 2013, "Outliers in the spectrum of iid matrices with
 * bounded rank perturbations"), where that is larger.
 */
export function circularLaw(component: Component): number {
  const n = component.size;
  const { count, exponent } = summarize(component);
  if (count === 0) return 0;
  const [down0, down1] = powerOfTwoFactors(-exponent);
  let sum = 0;
  let squares = 0;
  component.forEach((_row, _column, value) => {
    const w = value * down0 * down1;
    sum += w;
    squares += w * w;
  });
  const outlier = Math.abs(sum) / n;
  const bulk = Math.sqrt(Math.max(0, squares - outlier * outlier) / n);
  const [up0, up1] = powerOfTwoFactors(exponent);
  return Math.max(bulk, outlier) * up0 * up1;
}
