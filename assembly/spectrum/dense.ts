// All eigenvalues of a dense matrix: balance, bring to [1, 2), reduce to Hessenberg form,
// double-shift QR.
import { balanceMatrix } from "./balance";
import { francisQr } from "./francis";
import { reduceToHessenberg } from "./hessenberg";

/**
 * The eigenvalues of the n x n matrix A, whose rows are `ld` numbers apart, zero beyond column n.
 * Real parts go to `work`, imaginary ones to `work` + 8 ld, in the order in which the QR algorithm
 * leaves them, conjugate pairs exact; `work` takes 3 ld numbers. A is destroyed. Returns 0, or the
 * number of eigenvalues that were not found.
 */
export function denseEigenvalues(n: i32, a: usize, ld: i32, work: usize): i32 {
  const imaginary = work + ((<usize>ld) << 3);
  const exponent = balanceAndScale(n, a, ld);
  reduceToHessenberg(n, a, ld, 0, work);
  const missing = francisQr(n, a, ld, 0, work, imaginary);
  scale(work, n, exponent);
  scale(imaginary, n, exponent);
  return missing;
}

/**
 * Balances A and brings its largest element to [1, 2) by a power of two: no product of the QR
 * algorithm overflows then, and nothing is rounded. Returns the exponent of the power that takes
 * its eigenvalues back.
 */
export function balanceAndScale(n: i32, a: usize, ld: i32): i32 {
  const largest = balanceMatrix(n, a, ld);
  const exponent = largest == 0 ? 0 : exponentOf(largest);
  scale(a, n * ld, -exponent);
  return exponent;
}

/** The exponent e with 2^e <= |x| < 2^(e+1). x is finite and not 0. */
function exponentOf(x: f64): i32 {
  const subnormal = abs(x) < 2.2250738585072014e-308;
  const bits = reinterpret<u64>(subnormal ? x * powerOfTwo(54) : x);
  return (<i32>(bits >> 52) & 2047) - (subnormal ? 1077 : 1023);
}

/** x[i] times 2^exponent, for any exponent; rounded only if the result leaves the normal range. */
function scale(x: usize, count: i32, exponent: i32): void {
  for (; exponent > 1023; exponent -= 1023) multiply(x, count, powerOfTwo(1023));
  for (; exponent < -1022; exponent += 1022) multiply(x, count, powerOfTwo(-1022));
  if (exponent != 0) multiply(x, count, powerOfTwo(exponent));
}

function multiply(x: usize, count: i32, factor: f64): void {
  for (const end = x + ((<usize>count) << 3); x < end; x += 8) store<f64>(x, load<f64>(x) * factor);
}

/** 2^exponent for -1022 <= exponent <= 1023. */
function powerOfTwo(exponent: i32): f64 {
  return reinterpret<f64>((<u64>(exponent + 1023)) << 52);
}
