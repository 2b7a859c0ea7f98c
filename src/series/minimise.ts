// Minimisation without derivatives: Nelder and Mead's simplex with fixed constants. No random
// numbers, so the same function gives the same bits.

interface Vertex {
  readonly point: readonly number[];
  readonly value: number;
}

/**
 * The least value that Nelder and Mead's method finds (1965, Computer Journal 7: reflection 1,
 * expansion 2, contraction 1/2, shrinkage 1/2). It ends after `rounds`, or if worst - best <= 1e-10
 * |best|.
 * @param cost is never NaN. @param start the first vertex; each other one is `steps[i]` further in
 * i
 */
export function minimise(
  cost: (point: readonly number[]) => number,
  start: readonly number[],
  steps: readonly number[],
  rounds: number,
): Vertex {
  const size = start.length;
  const at = (point: readonly number[]): Vertex => ({ point, value: cost(point) });
  const simplex = [at(start)];
  for (let i = 0; i < size; i++) simplex.push(at(start.with(i, start[i]! + steps[i]!)));
  /** from + factor (to - from), by coordinate. */
  const between = (from: readonly number[], to: readonly number[], factor: number): Vertex => {
    const point: number[] = [];
    for (let i = 0; i < size; i++) point.push(from[i]! + factor * (to[i]! - from[i]!));
    return at(point);
  };
  for (let round = 0; round < rounds; round++) {
    sort(simplex);
    const [best, worst, second] = [simplex[0]!, simplex[size]!, simplex[size - 1]!];
    if (worst.value - best.value <= 1e-10 * Math.abs(best.value)) break;
    const centre: number[] = [];
    for (let i = 0; i < size; i++) {
      let sum = 0;
      for (let v = 0; v < size; v++) sum += simplex[v]!.point[i]! / size;
      centre.push(sum);
    }
    const reflected = between(centre, worst.point, -1);
    if (reflected.value < best.value) {
      const expanded = between(centre, worst.point, -2);
      simplex[size] = expanded.value < reflected.value ? expanded : reflected;
    } else if (reflected.value < second.value) simplex[size] = reflected;
    else {
      const contracted = between(centre, worst.point, reflected.value < worst.value ? -0.5 : 0.5);
      if (contracted.value < Math.min(reflected.value, worst.value)) simplex[size] = contracted;
      else for (let v = 1; v <= size; v++) simplex[v] = between(best.point, simplex[v]!.point, 0.5);
    }
  }
  sort(simplex);
  return simplex[0]!;
}

/** By value; equal ones keep their order. */
function sort(simplex: Vertex[]): void {
  for (let i = 1; i < simplex.length; i++) {
    const vertex = simplex[i]!;
    let j = i;
    for (; j > 0 && simplex[j - 1]!.value > vertex.value; j--) simplex[j] = simplex[j - 1]!;
    simplex[j] = vertex;
  }
}
