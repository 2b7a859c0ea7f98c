// Numbers of about 106 bits as sums of two binary64 (double-double.ts): the same
// operations in the same order, and so the same bits, also where a splitting overflows.
#pragma once
#include "portable.cuh"

namespace double_double {

using portable::add;
using portable::div;
using portable::mul;
using portable::root;
using portable::sub;

struct Number {
  double high, low;
};

static __device__ __forceinline__ double finiteOrZero(double low) { return portable::finite(low) ? low : 0.0; }

/** a + b without loss (TwoSum). */
static __device__ __forceinline__ Number exactSum(double a, double b) {
  const double high = add(a, b), part = sub(high, a);
  return {high, finiteOrZero(add(sub(a, sub(high, part)), sub(b, part)))};
}

/** a + b without loss if |a| >= |b|. */
static __device__ __forceinline__ Number fastSum(double a, double b) {
  const double high = add(a, b);
  return {high, finiteOrZero(sub(b, sub(high, a)))};
}

/** The two halves of a number. */
static __device__ __forceinline__ Number halves(double a) {
  const double t = mul(a, 134217729.0), high = sub(t, sub(t, a));
  return {high, sub(a, high)};
}

/** What rounding took from p = a b. */
static __device__ __forceinline__ double productError(double a, double b, double p) {
  const Number x = halves(a), y = halves(b);
  return add(add(add(sub(mul(x.high, y.high), p), mul(x.high, y.low)), mul(x.low, y.high)), mul(x.low, y.low));
}

static __device__ __forceinline__ Number exactProduct(double a, double b) {
  const double high = mul(a, b);
  return {high, finiteOrZero(productError(a, b, high))};
}

static __device__ __forceinline__ Number operator-(Number a) { return {-a.high, -a.low}; }

static __device__ __forceinline__ Number operator+(Number a, Number b) {
  const Number s = exactSum(a.high, b.high), t = exactSum(a.low, b.low), v = fastSum(s.high, add(s.low, t.high));
  return fastSum(v.high, add(t.low, v.low));
}

static __device__ __forceinline__ Number operator-(Number a, Number b) { return a + -b; }

static __device__ __forceinline__ Number operator*(Number a, Number b) {
  const Number c = exactProduct(a.high, b.high);
  return fastSum(c.high, add(c.low, finiteOrZero(add(mul(a.high, b.low), mul(a.low, b.high)))));
}

static __device__ __forceinline__ Number operator/(Number a, Number b) {
  const double first = div(a.high, b.high);
  if (!portable::finite(first) || first == 0.0) return {first, 0.0};
  const Number rest = a - b * Number{first, 0.0};
  const double second = div(rest.high, b.high);
  const Number left = rest - b * Number{second, 0.0};
  return exactSum(first, second) + Number{div(left.high, b.high), 0.0};
}

static __device__ __forceinline__ Number squareRoot(Number a) {
  if (!(a.high > 0.0 && portable::finite(a.high))) return {root(a.high), 0.0};
  const double first = root(a.high);
  const Number rest = a - exactProduct(first, first);
  return fastSum(first, div(rest.high, mul(2.0, first)));
}

/** a b, as sums over rows take it: unchecked. */
static __device__ __forceinline__ Number term(Number a, Number b) {
  const double p = mul(a.high, b.high);
  const double e = add(productError(a.high, b.high, p), add(mul(a.high, b.low), mul(a.low, b.high)));
  const double high = add(p, e);
  return {high, sub(e, sub(high, p))};
}

/** sum + a, likewise. */
static __device__ __forceinline__ Number plus(Number sum, Number a) {
  const double s = add(sum.high, a.high), sPart = sub(s, sum.high);
  const double sLow = add(sub(sum.high, sub(s, sPart)), sub(a.high, sPart));
  const double r = add(sum.low, a.low), rPart = sub(r, sum.low);
  const double rLow = add(sub(sum.low, sub(r, rPart)), sub(a.low, rPart));
  const double c = add(sLow, r), v = add(s, c), w = add(rLow, sub(c, sub(v, s)));
  const double high = add(v, w);
  return {high, sub(w, sub(high, v))};
}

}  // namespace double_double
