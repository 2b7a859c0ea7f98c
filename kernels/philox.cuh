// Philox4x32-10 (Salmon, Moraes, Dror and Shaw 2011) on the device, and the noise of
// docs/numerics.md rule 6 in both precisions.
#pragma once
#include "portable.cuh"

namespace philox {

/** The four words of the block with counter (c0, c1, c2, c3). */
static __device__ __forceinline__ uint4 block(unsigned key0, unsigned key1, unsigned c0, unsigned c1, unsigned c2, unsigned c3) {
#pragma unroll
  for (int round = 0; round < 10; round++) {
    const unsigned high0 = __umulhi(0xd2511f53u, c0), low0 = 0xd2511f53u * c0;
    const unsigned high1 = __umulhi(0xcd9e8d57u, c2), low1 = 0xcd9e8d57u * c2;
    c0 = high1 ^ c1 ^ key0;
    c1 = low1;
    c2 = high0 ^ c3 ^ key1;
    c3 = low0;
    key0 += 0x9e3779b9u;
    key1 += 0xbb67ae85u;
  }
  return make_uint4(c0, c1, c2, c3);
}

/** Word 0 to 3 of a block. */
static __device__ __forceinline__ unsigned word(uint4 words, unsigned index) {
  const unsigned low = index & 1 ? words.y : words.x, high = index & 1 ? words.w : words.z;
  return index & 2 ? high : low;
}

/** 53 bits of two words: 0 <= U < 1, exact. */
static __device__ __forceinline__ double uniform(unsigned w0, unsigned w1) {
  return portable::mul(portable::add(portable::mul((double)(w0 >> 5), 67108864.0), (double)(w1 >> 6)), 0x1p-53);
}

/** 2U - 1 of one word of a noise block, exact, in binary32. */
static __device__ __forceinline__ float centred(unsigned w) {
  return portable::sub(portable::mul(2.0f, portable::mul((float)(w >> 8), 0x1p-24f)), 1.0f);
}

/** 2U - 1 of two words of a noise block, exact, in binary64. */
static __device__ __forceinline__ double centred(unsigned w0, unsigned w1) {
  return portable::sub(portable::mul(2.0, uniform(w0, w1)), 1.0);
}

/**
 * noiseLevel (2U - 1) of one neuron at one step. A block serves four neurons in binary32 and two in
 * binary64.
 */
static __device__ __forceinline__ float noise(float level, unsigned key0, unsigned key1, unsigned step, unsigned neuron, unsigned sequence) {
  return portable::mul(level, centred(word(block(key0, key1, step, neuron >> 2, sequence, 0), neuron & 3)));
}

static __device__ __forceinline__ double noise(double level, unsigned key0, unsigned key1, unsigned step, unsigned neuron, unsigned sequence) {
  const uint4 words = block(key0, key1, step, neuron >> 1, sequence, 0);
  return portable::mul(level, neuron & 1 ? centred(words.z, words.w) : centred(words.x, words.y));
}

}  // namespace philox
