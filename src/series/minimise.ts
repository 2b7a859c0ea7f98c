// Minimisation without derivatives: Nelder and Mead's simplex with fixed constants. No random numbers, so
// the same function gives the same bits.

interface Vertex {
  point: Float64Array;
  value: number;
}

/**
 * The least value that Nelder and Mead's method finds (1965, Computer Journal 7: reflection 1,
 * expansion 2, contraction 1/2, shrinkage 1/2). It ends after `rounds`, or if worst - best <= 1e-10
 * |best|.
 * @param cost is never NaN. @param start the first vertex; each other one is `steps[i]` further in i
 */
export function minimise(cost: (point: Float64Array) => number, start: Float64Array, steps: Float64Array, rounds: number): Vertex {
  const size = start.length;
  const at = (point: Float64Array): Vertex => ({ point, value: cost(point) });
  const simplex = [at(start.slice())];
  for (let i = 0; i < size; i++) {
    const point = start.slice();
    point[i] = point[i]! + steps[i]!;
    simplex.push(at(point));
  }
  const centre = new Float64Array(size);
  const along = (factor: number): Vertex => at(centre.map((value, i) => value + factor * (simplex[size]!.point[i]! - value)));
  for (let round = 0; round < rounds; round++) {
    sort(simplex);
    const [best, worst, second] = [simplex[0]!, simplex[size]!, simplex[size - 1]!];
    if (worst.value - best.value <= 1e-10 * Math.abs(best.value)) break;
    centre.fill(0);
    for (let v = 0; v < size; v++) for (let i = 0; i < size; i++) centre[i] = centre[i]! + simplex[v]!.point[i]! / size;
    const reflected = along(-1);
    if (reflected.value < best.value) {
      const expanded = along(-2);
      simplex[size] = expanded.value < reflected.value ? expanded : reflected;
    } else if (reflected.value < second.value) simplex[size] = reflected;
    else {
      const contracted = along(reflected.value < worst.value ? -0.5 : 0.5);
      if (contracted.value < Math.min(reflected.value, worst.value)) simplex[size] = contracted;
      else
        for (let v = 1; v <= size; v++)
          simplex[v] = at(simplex[v]!.point.map((value, i) => best.point[i]! + 0.5 * (value - best.point[i]!)));
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
