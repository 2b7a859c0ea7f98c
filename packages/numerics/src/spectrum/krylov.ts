// A Krylov-Schur iteration on the host, in real arithmetic from a fixed start vector: the largest
// eigenvalues of one large irreducible block. It finds a few outer eigenvalues; it is not for whole
// spectra.
import type { Component } from "./components.js";
import type { KrylovResult, KrylovTask } from "./krylov-attempts.js";
import { loadOperator } from "./krylov-operator.js";
import { ProjectedProblem } from "./projected-problem.js";
import { fixedVector } from "./structure.js";

/**
 * One attempt on a block of `count` nonzeros. @throws ArgumentError if it does not fit a
 * WebAssembly memory
 */
export function iterate(component: Component, count: number, { attempt, exponent }: KrylovTask): KrylovResult {
  const { instance, n, ld, free, multiply } = loadOperator(component, count, exponent, attempt.full);
  const { power } = attempt;
  const { exports, memory } = instance;
  const full = Math.min(attempt.full, n);
  const vector = (j: number): number => free + 8 * ld * j;
  const scratch = vector(full + 1);
  const problem = new ProjectedProblem(instance, vector(full + 2), n, attempt);
  const { work, workAt } = problem;

  new Float64Array(memory.buffer, vector(0), n).set(fixedVector(n, 0));
  exports.krylovScale(ld, vector(0), vector(0), 1 / Math.sqrt(exports.krylovSquaredNorm(ld, vector(0))));

  const expand = (): void => {
    const j = problem.size;
    const w = vector(j + 1);
    let from = vector(j);
    for (let left = power; left > 0; left--) {
      const to = left % 2 === 1 ? w : scratch;
      multiply(from, to);
      from = to;
    }
    const before = exports.krylovSquaredNorm(ld, w);
    let after = before;
    for (let pass = 0; pass < 2; pass++) {
      const last = after;
      exports.krylovProject(j + 1, ld, vector(0), w, workAt);
      problem.project(work);
      after = exports.krylovSquaredNorm(ld, w);
      if (!ProjectedProblem.again(last, after)) break;
    }
    const coupling = problem.couple(before, after);
    if (coupling !== 0) exports.krylovScale(ld, w, w, 1 / coupling);
  };

  for (let restarts = 0; ; restarts++) {
    while (!problem.complete) expand();
    const result = problem.result(restarts, exponent);
    if (result) return result;
    const size = problem.keep();
    exports.krylovChangeBasis(full, size, ld, vector(0), problem.qAt, problem.ld, workAt);
    exports.krylovScale(ld, vector(full), vector(size), 1);
  }
}
