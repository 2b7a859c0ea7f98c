// Histograms as outlines: their bins, the share of values in each, and moments. No figure of its
// own.
import { type Element, scatter } from "./elements.js";

/** Ends of bins of width 2 (q3 - q1) n^(-1/3) over all values: Freedman and Diaconis 1981. */
export function edgesOf(sorted: Float64Array, bins: number | undefined): Float64Array {
  const [low = -0.5, high = 0.5] = [sorted[0], sorted.at(-1)];
  if (!(low < high)) return Float64Array.of(low - 0.5, low + 0.5);
  const quartile = (share: number) => sorted[Math.floor(share * (sorted.length - 1))]!;
  const width = (2 * (quartile(0.75) - quartile(0.25))) / Math.cbrt(sorted.length);
  const count = Math.round(bins ?? Math.min(60, Math.max(8, width > 0 ? (high - low) / width : 60)));
  return Float64Array.from({ length: count + 1 }, (_, k) => low + ((high - low) * k) / count);
}

/** The outline of a histogram: the share of the values in each bin. */
export function histogram(name: string, values: Float64Array, edges: Float64Array, more: Element): Element {
  const bins = edges.length - 1;
  const counts = new Float64Array(bins);
  const [low, high] = [edges[0]!, edges[bins]!];
  for (const value of values) counts[Math.min(bins - 1, Math.max(0, Math.floor(((value - low) / (high - low)) * bins)))]!++;
  const x = [low];
  const y = [0];
  counts.forEach((count, k) => {
    x.push(edges[k]!, edges[k + 1]!);
    y.push(count / values.length, count / values.length);
  });
  return scatter("lines", name, { x: Float64Array.from([...x, high]), y: Float64Array.from([...y, 0]) }, more);
}

/** Mean, and standard deviation with divisor n. */
export function momentsOf(values: Float64Array): { readonly mean: number; readonly sd: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return { mean, sd: Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length) };
}
