// Arithmetic in integers (docs/numerics.md, rule 18): what the kernels of such reservoirs share.
#pragma once

namespace integer {

static __device__ __forceinline__ int low(unsigned pair) { return (int)(short)pair; }
static __device__ __forceinline__ int high(unsigned pair) { return (int)pair >> 16; }

/** u* in steps of 2^-12: the nearest whole number, halves up, within 16 bits. */
static __device__ __forceinline__ int inputSteps(float u) {
  const float v = fminf(32768.0f, fmaxf(-32768.0f, u * 4096.0f));
  const float whole = floorf(v);
  return min(32767, max(-32767, (int)whole + (v - whole >= 0.5f ? 1 : 0)));
}

/** tanh(z) in steps of 2^-15, of a z in steps of 2^-15. */
static __device__ __forceinline__ int tanhSteps(int z, const short* __restrict__ table) {
  const int size = min(abs(z), (1 << 18) - 1), i = size >> 9;
  const int from = table[i];
  const int value = from + (((table[i + 1] - from) * (size & 511) + 256) >> 9);
  return z < 0 ? -value : value;
}

/** x(t+1) of z, a and x(t), all in steps of 2^-15. */
static __device__ __forceinline__ int leakyStep(int z, int a, int x, const short* __restrict__ table) {
  return x + ((a * (tanhSteps(z, table) - x) + 16384) >> 15);
}

/** Sums of `lanes` neighbouring lanes, in each of them. */
static __device__ __forceinline__ int summed(int sum, int lanes) {
  for (int offset = lanes >> 1; offset > 0; offset >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  return sum;
}

}  // namespace integer
