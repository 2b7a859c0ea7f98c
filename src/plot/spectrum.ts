// Eigenvalues in the complex plane with the unit circle; they are computed by `analysis`.

import { ArgumentError } from "@spillway/core/errors.js";
import { resolve } from "@spillway/core/options.js";
import type { Spectrum } from "../analysis/index.js";
import { axis, scatter } from "./elements.js";
import type { Figure } from "./figure.js";
import { formatNumber } from "./format.js";
import { isArrayLike, titleTable } from "./options.js";
import { baselineColour, seriesColour } from "./palette.js";

const table = titleTable("Eigenvalues");

/** Eigenvalues re[i] + i im[i]. */
export interface PlottedEigenvalues {
  readonly re: ArrayLike<number>;
  readonly im: ArrayLike<number>;
}

/**
 * The eigenvalues of one or two matrices (such as `weights` and `effective` of `spectrum()`), with
 * the unit circle, on axes of one scale.
 * @throws ArgumentError if real and imaginary parts differ in number, or there are none.
 */
export function plotSpectrum(
  spectra: Spectrum | Readonly<Record<string, PlottedEigenvalues>> | PlottedEigenvalues,
  options: { readonly title?: string | undefined } = {},
): Figure {
  const { title } = resolve(table, options);
  if (typeof spectra !== "object" || spectra === null)
    throw new ArgumentError("spectra", spectra, "what spectrum() gives, or lists re and im of eigenvalues");
  const named: Record<string, PlottedEigenvalues> = isOne(spectra) ? { W: spectra } : { ...spectra };
  const entries = Object.entries(named);
  if (entries.length === 0) throw ArgumentError.because("there are no eigenvalues to draw; it takes at least one spectrum");
  const radii = entries.map(([name, eigenvalues]) => {
    if (!isArrayLike(eigenvalues?.re) || !isArrayLike(eigenvalues.im))
      throw new ArgumentError(name, eigenvalues, "lists re and im of eigenvalues, such as spectrum() gives");
    const { re, im } = eigenvalues;
    if (re.length !== im.length)
      throw ArgumentError.shape(`${name} has ${re.length} real and ${im.length} imaginary parts; it takes as many of both`, {
        field: name,
      });
    let radius = 0;
    for (let i = 0; i < re.length; i++) radius = Math.max(radius, Math.hypot(re[i]!, im[i]!));
    return radius;
  });
  const reach = 1.08 * Math.max(1, ...radii);
  return {
    title,
    description: `Eigenvalues in the complex plane with the unit circle: ${entries.map(([name, { re }], k) => `${re.length} of ${name}, the largest of modulus ${formatNumber(radii[k]!)}`).join("; ")}.`,
    data: entries.map(([name, { re, im }], k) =>
      scatter(
        "markers",
        name,
        { x: Float64Array.from(re), y: Float64Array.from(im) },
        {
          marker: { color: seriesColour(k), size: 5, symbol: k === 0 ? "circle" : "circle-open", opacity: 0.8 },
          hovertemplate: "%{x:.4f} + %{y:.4f}i<extra></extra>",
        },
      ),
    ),
    layout: {
      height: 460,
      shapes: [
        { type: "circle", xref: "x", yref: "y", x0: -1, y0: -1, x1: 1, y1: 1, line: { color: baselineColour, width: 1, dash: "dash" } },
      ],
      xaxis: axis("real part", { range: [-reach, reach] }),
      yaxis: axis("imaginary part", { range: [-reach, reach], scaleanchor: "x" }),
    },
  };
}

function isOne(spectra: Spectrum | Readonly<Record<string, PlottedEigenvalues>> | PlottedEigenvalues): spectra is PlottedEigenvalues {
  return "re" in spectra && "im" in spectra && isArrayLike(spectra.re);
}
