// The minimiser behind softmax regression, on functions whose minimum is known.
import { describe, expect, it } from "vitest";
import { minimiseByNewton, NotConvergedError, type SmoothObjective } from "../../packages/numerics/src/newton.js";

/**
 * sum of sqrt(1 + (x_i - i - 3)^2): full Newton steps from 0 go to minus the cube of the distance,
 * away from the minimum.
 */
function hyperbolas(size: number): SmoothObjective {
  const at = new Float64Array(size);
  const root = (i: number): number => Math.sqrt(1 + (at[i]! - i - 3) ** 2);
  return {
    size,
    evaluate(point, gradient) {
      at.set(point);
      let value = 0;
      for (let i = 0; i < size; i++) {
        value += root(i);
        gradient[i] = (at[i]! - i - 3) / root(i);
      }
      return value;
    },
    curvature(direction, out) {
      for (let i = 0; i < size; i++) out[i] = direction[i]! / root(i) ** 3;
    },
    preconditioner(out) {
      out.fill(1);
    },
  };
}

describe("truncated Newton", () => {
  it("shortens steps that go too far", () => {
    const { point, value, gradientNorm } = minimiseByNewton(hyperbolas(4), 1e-10, 200);
    expect(gradientNorm).toBeLessThanOrEqual(1e-10);
    expect(value).toBeCloseTo(4, 12);
    point.forEach((x, i) => {
      expect(x).toBeCloseTo(i + 3, 9);
    });
  });

  it("is there at once where it starts at the minimum", () => {
    const flat: SmoothObjective = { ...hyperbolas(2), evaluate: (_, gradient) => gradient.fill(0)[0]! };
    expect(minimiseByNewton(flat, 0, 10).iterations).toBe(0);
  });

  it("says after how many steps it gave up, and how far it was", () => {
    const run = (): unknown => minimiseByNewton(hyperbolas(3), 1e-10, 2);
    expect(run).toThrow(NotConvergedError);
    expect(run).toThrow(/^the fit did not converge: after 2 Newton steps the gradient is \d\.\d\de-?\d+ and must be at most 1\.00e-10\./);
  });
});
