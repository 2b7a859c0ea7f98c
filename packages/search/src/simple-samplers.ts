// Samplers that look at no trial: random, Sobol and grid.
import { checkHas } from "@spillway/core/checks.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { resolve } from "@spillway/core/options.js";
import { Draws, randomValue, type Sampler } from "./sampler.js";
import { type SamplerOptions, samplerTable } from "./sampler-options.js";
import { sobolDimensions, sobolPoint } from "./sobol.js";
import { type SearchSpace, valueOfUniform, valuesOf } from "./space.js";

/**
 * Independent uniform draws, in the logarithm if the parameter says so. Trial k is the same in any
 * batch.
 * @throws ArgumentError for an unknown option
 */
export function randomSampler(options: SamplerOptions = {}): Sampler {
  const { seed } = resolve(samplerTable, options, "randomSampler");
  const draws = new Draws(seed);
  return {
    name: "random",
    seed,
    suggest: ({ space }, numbers) => numbers.map((k) => ({ values: space.fill((index) => randomValue(space, draws, k, index)) })),
  };
}

/**
 * A Sobol sequence with a digital shift (Joe and Kuo 2008), for up to 21 parameters. Trial k is
 * the same in any batch. A trial whose parameters were given, by `enqueue` or as a retry, takes no
 * point of the sequence.
 * @throws ArgumentError for an unknown option; of `suggest`, for a space of more parameters
 */
export function sobol(options: SamplerOptions = {}): Sampler {
  const { seed } = resolve(samplerTable, options, "sobol");
  const draws = new Draws(seed);
  return {
    name: "sobol",
    seed,
    suggest: ({ space, given = 0 }, numbers) => {
      if (space.size > sobolDimensions)
        throw ArgumentError.because(`the space has ${space.size} parameters; sobol takes at most ${sobolDimensions}: take random`, {
          field: "sampler.type",
          value: "sobol",
        });
      const u = (k: number, index: number) => (((sobolPoint(k, index) ^ draws.shift(index)) >>> 0) + 0.5) * 2 ** -32;
      return numbers.map((k) => {
        const point = Math.max(0, k - given);
        return { values: space.fill((index) => valueOfUniform(space.parameters[index]!, u(point, index))) };
      });
    },
  };
}

/**
 * Every combination of the values once, the last parameter fastest; then from the first again.
 * @throws ArgumentError for an unknown option; of `suggest`, for a parameter that takes any number
 */
export function grid(options: SamplerOptions = {}): Sampler {
  const { seed } = resolve(samplerTable, options, "grid");
  return {
    name: "grid",
    seed,
    suggest: ({ space, given = 0 }, numbers) => {
      const points = gridPoints(space);
      const list = activePoints(space, points);
      // A trial whose parameters were given takes a number, and no combination.
      return numbers.map((k) => ({ values: list[Math.max(0, k - given) % list.length]!.slice() }));
    },
  };
}

/** More combinations than any budget tries. */
const mostPoints = 1_000_000;

function gridPoints(space: SearchSpace): readonly (readonly number[])[] {
  const points = space.parameters.map((parameter) => {
    const values = valuesOf(parameter);
    if (values) return values;
    throw ArgumentError.because(`space.${parameter.name} takes any number of its range; grid takes a step, a choice or whole numbers`, {
      field: `space.${parameter.name}`,
    });
  });
  const count = points.reduce((product, { length }) => product * length, 1);
  if (count > mostPoints)
    throw ArgumentError.because(
      `the grid has ${count} combinations; it takes at most ${mostPoints}: take larger steps, or another sampler`,
      {
        field: "space",
      },
    );
  return points;
}

const known = new WeakMap<SearchSpace, readonly Float64Array[]>();

/** The combinations in order, each once: those that differ only in what is not there are one. */
function activePoints(space: SearchSpace, points: readonly (readonly number[])[]): readonly Float64Array[] {
  const before = known.get(space);
  if (before) return before;
  const count = points.reduce((product, { length }) => product * length, 1);
  const names = new Set<string>();
  const list: Float64Array[] = [];
  for (let k = 0; k < count; k++) {
    let left = k;
    const digits = points.map(() => 0);
    for (let index = points.length - 1; index >= 0; index--) {
      digits[index] = left % points[index]!.length;
      left = Math.floor(left / points[index]!.length);
    }
    const values = space.fill((index) => points[index]![digits[index]!]!);
    if (space.isConditional) {
      const name = values.join();
      if (names.has(name)) continue;
      names.add(name);
    }
    list.push(values);
  }
  known.set(space, list);
  return list;
}

/** How many trials a grid has. @throws ArgumentError for a parameter that takes any number */
export function gridSize(space: SearchSpace): number {
  checkHas("space", space, "a SearchSpace", "parameters");
  return activePoints(space, gridPoints(space)).length;
}
