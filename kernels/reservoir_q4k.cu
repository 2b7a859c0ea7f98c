// target: sm_80
// One step of a rate reservoir a launch with W in four bits (q4k.ts), on tensor
// cores: arithmetic "fast" of the streamed plan. Rows are packed by reservoir_quantize.
#include "streamed_step.cuh"

using namespace streamed;

namespace {

const int warps = 4, superblock = 256, uint4s = 9;
/** Rows that tensor cores make at a time, and such tiles a block. */
const int tileRows = 16, tiles = 2, blockRows = tiles * tileRows;
/** A superblock of each row of a block. */
const int piece = blockRows * uint4s;
/**
 * Bytes between the runs of 64 states and between planes in shared memory: what lanes read at once
 * lies in different banks.
 */
const int runBytes = 160, planeBytes = 4 * runBytes + 16, sumsAt = 3 * runBytes + 128;

struct __align__(16) Planes { unsigned char bytes[2 * planeBytes]; };

__device__ __forceinline__ unsigned pairOf(float low, float high) {
  unsigned pair;
  asm("cvt.rn.f16x2.f32 %0, %2, %1;" : "=r"(pair) : "f"(low), "f"(high));
  return pair;
}
__device__ __forceinline__ float single(unsigned short half) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(half));
  return value;
}
/** a b + c of pairs; c a number that a pair of binary16 holds. */
__device__ __forceinline__ unsigned fused(unsigned a, unsigned b, unsigned c) {
  unsigned pair;
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(pair) : "r"(a), "r"(b), "r"(c));
  return pair;
}
__device__ __forceinline__ void multiply(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ __forceinline__ void multiply(float (&sum)[4], unsigned a0, unsigned a1, unsigned b) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a0), "r"(a1), "r"(b));
}

/** Two numbers as pairs of binary16: their first 11 bits, and 2048 times what is left. */
__device__ __forceinline__ uint2 split(float x, float y) {
  const unsigned high = pairOf(x, y);
  return make_uint2(high, pairOf((x - single((unsigned short)high)) * 2048.0f, (y - single((unsigned short)(high >> 16))) * 2048.0f));
}

/** Eight neighbouring states. */
struct States { float4 low, high; };

__device__ __forceinline__ States statesOf(const float* x, int lane) { return {((const float4*)x)[2 * lane], ((const float4*)x)[2 * lane + 1]}; }

/**
 * Puts 256 states into two planes as x = (h + l / 2048) 2^e, e of the largest, and the sums of each
 * 32 of them likewise. Each four stand in the order 0, 2, 1, 3, in which nibbles come. Returns 2^e.
 */
__device__ __forceinline__ float stage(const States& x, Planes& planes, int lane) {
  float v[8] = {x.low.x, x.low.y, x.low.z, x.low.w, x.high.x, x.high.y, x.high.z, x.high.w};
  unsigned largest = 0;
#pragma unroll
  for (int i = 0; i < 8; i++) largest = max(largest, __float_as_uint(v[i]) & 0x7fffffffu);
  const unsigned exponent = min(max(__reduce_max_sync(0xffffffffu, largest) >> 23, 2u), 252u);
  const float factor = __uint_as_float((254u - exponent) << 23);
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 8; i++) sum += v[i] *= factor;
  const uint2 parts[4] = {split(v[0], v[2]), split(v[1], v[3]), split(v[4], v[6]), split(v[5], v[7])};
  unsigned char* to = planes.bytes + (lane >> 3) * runBytes + (lane & 7) * 16;
  *(uint4*)to = make_uint4(parts[0].x, parts[1].x, parts[2].x, parts[3].x);
  *(uint4*)(to + planeBytes) = make_uint4(parts[0].y, parts[1].y, parts[2].y, parts[3].y);
  sum += __shfl_xor_sync(0xffffffffu, sum, 1);
  sum += __shfl_xor_sync(0xffffffffu, sum, 2);
  if ((lane & 3) == 0) {
    const uint2 group = split(sum, 0.0f);
    unsigned short* at = (unsigned short*)(planes.bytes + sumsAt) + (lane >> 2);
    at[0] = (unsigned short)group.x;
    at[planeBytes / 2] = (unsigned short)group.y;
  }
  return __uint_as_float(exponent << 23);
}

/** A row's part of a superblock, for one lane: the header, and the 32 bytes of a run. */
struct Raw { uint4 header, words[2]; };

__device__ __forceinline__ Raw rawOf(const uint4* block, int t) { return {block[0], {block[1 + 2 * t], block[2 + 2 * t]}}; }

/** Starts a copy of a superblock of each row of the tiles; `from` is that of the first row. */
__device__ __forceinline__ void startCopy(unsigned to, const uint4* from, const int (&offsets)[uint4s]) {
#pragma unroll
  for (int i = 0; i < uint4s; i++)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + 512 * i), "l"(from + offsets[i]) : "memory");
}

/** The scales of the two groups of run t, one byte each. */
__device__ __forceinline__ unsigned scalesOf(const uint4& header, int t) {
  const int shift = (t & 1) * 16;
  const unsigned early = header.y >> shift, late = header.w >> shift;
  return t < 2 ? early & 0x3f3fu : (late & 0x0f0fu) | (early >> 2 & 0x3030u);
}

/**
 * Two bytes of `bytes`, by the indices in `choice`, as a pair of binary16: a byte beside 0x64 is
 * 1024 and the byte.
 */
__device__ __forceinline__ unsigned halves(unsigned bytes, unsigned choice) {
  return fused(__byte_perm(bytes, 0x64646464u, choice), 0x3c003c00u, 0xe400e400u);
}

/**
 * What the two rows of a lane give with 256 states of unit 2^e, added to `sums`. Columns 0 and 1 of
 * the products are those with the two planes.
 */
__device__ __forceinline__ void addProducts(const Raw (&raw)[2], const unsigned char* plane, int t, float unit, float (&sums)[2]) {
  float dots[2][4] = {}, totals[4] = {};
  unsigned scale[2][2], offset[2][2], both[2];
#pragma unroll
  for (int r = 0; r < 2; r++) {
    const unsigned bytes = scalesOf(raw[r].header, t);
    // Low nibbles come as 1024 + q and high ones as 1024 + 16 q: the second scale is a sixteenth,
    // and both sums lose 1024 scales.
    scale[r][0] = halves(bytes, 0x4040u);
    scale[r][1] = fused(halves(bytes, 0x4141u), 0x2c002c00u, 0);
    both[r] = halves(bytes, 0x4140u);
#pragma unroll
    for (int side = 0; side < 2; side++) offset[r][side] = fused(scale[r][side], 0xe400e400u, 0);
  }
  const unsigned char* run = plane + t * runBytes;
#pragma unroll
  for (int side = 0; side < 2; side++) {
    const unsigned mask = side ? 0x00f000f0u : 0x000f000fu;
#pragma unroll
    for (int pair = 0; pair < 4; pair++) {
      const uint4 x = *(const uint4*)(run + 64 * side + 16 * pair);
#pragma unroll
      for (int half = 0; half < 2; half++) {
        unsigned a[4];
#pragma unroll
        for (int r = 0; r < 2; r++) {
          const uint4 four = raw[r].words[pair >> 1];
          const unsigned word = pair & 1 ? (half ? four.w : four.z) : (half ? four.y : four.x);
          a[r] = fused((word & mask) | 0x64006400u, scale[r][side], offset[r][side]);
          a[r + 2] = fused((word >> 8 & mask) | 0x64006400u, scale[r][side], offset[r][side]);
        }
        multiply(dots[side], a, half ? x.z : x.x, half ? x.w : x.y);
      }
    }
  }
  multiply(totals, both[0], both[1], ((const unsigned*)(plane + sumsAt))[t]);
#pragma unroll
  for (int r = 0; r < 2; r++) {
    const float d = single((unsigned short)raw[r].header.x) * unit;
    const float high = dots[0][2 * r] + dots[1][2 * r] - 8.0f * totals[2 * r];
    const float low = dots[0][2 * r + 1] + dots[1][2 * r + 1] - 8.0f * totals[2 * r + 1];
    sums[r] = __fmaf_rn(d, __fmaf_rn(low, 1.0f / 2048.0f, high), sums[r]);
  }
}

}  // namespace

/**
 * Row r of W is scales[r] times superblocks whose minima are eight times their scales. Lane 4 g + t
 * has rows g and g + 8 of a tile and run t. The states have that order too, so nothing moves
 * between lanes for mma.m16n8k16. The warps of a block share its rows' superblocks.
 */
extern "C" __global__ void __launch_bounds__(32 * warps, 4)
    dense_step_f32_q4k(const unsigned char* W, const float* scales, const float* xIn, float* xOut, const Chunk* chunk, const float* leak,
                       const float* keep, int N, int stride, int activation, float noiseLevel, unsigned key0, unsigned key1, int t) {
  __shared__ uint4 copies[warps][2][piece];
  __shared__ Planes planes[warps];
  __shared__ float partial[warps][blockRows];
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, g = lane >> 2, inGroup = lane & 3;
  const int first = blockIdx.x * blockRows, mine = first + threadIdx.x;
  const bool owner = threadIdx.x < blockRows && mine < N;
  Neuron<float> neuron;
  if (owner) neuron.load(chunk, t, mine, N, leak, keep, xIn[mine]);
  const int blocks = stride / superblock;
  // Neighbouring lanes copy neighbouring parts of a row; rows past the end are the last row again.
  int offsets[uint4s];
#pragma unroll
  for (int i = 0; i < uint4s; i++) {
    const int part = lane + 32 * i;
    offsets[i] = min(part / uint4s, N - 1 - first) * blocks * uint4s + part % uint4s;
  }
  const uint4* const from = (const uint4*)W + (size_t)first * blocks * uint4s;
  const unsigned to[2] = {(unsigned)__cvta_generic_to_shared(copies[warp][0] + lane), (unsigned)__cvta_generic_to_shared(copies[warp][1] + lane)};
  const unsigned char* plane = planes[warp].bytes + (g > 0 ? planeBytes : 0);
  float sums[tiles][2] = {};
  States x = {};
  if (warp < blocks) {
    startCopy(to[0], from + warp * uint4s, offsets);
    x = statesOf(xIn + warp * superblock, lane);
  }
  // What the next round reads is on its way while this one is computed.
  for (int b = warp, half = 0; b < blocks; b += warps, half ^= 1) {
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncwarp();
    const float unit = stage(x, planes[warp], lane);
    if (b + warps < blocks) {
      startCopy(half ? to[0] : to[1], from + (b + warps) * uint4s, offsets);
      x = statesOf(xIn + (b + warps) * superblock, lane);
    }
    __syncwarp();
#pragma unroll
    for (int i = 0; i < tiles; i++) {
      const uint4* row = copies[warp][half] + (i * tileRows + g) * uint4s;
      const Raw raw[2] = {rawOf(row, inGroup), rawOf(row + 8 * uint4s, inGroup)};
      addProducts(raw, plane, inGroup, unit, sums[i]);
    }
  }
  if (inGroup == 0)
#pragma unroll
    for (int i = 0; i < tiles; i++)
#pragma unroll
      for (int r = 0; r < 2; r++) partial[warp][i * tileRows + g + 8 * r] = sums[i][r];
  __syncthreads();
  if (!owner) return;
  float dot = 0;
#pragma unroll
  for (int w = 0; w < warps; w++) dot += partial[w][threadIdx.x];
  xOut[mine] = neuron.next(portable::mul(scales[mine], dot), mine, activation, noiseLevel, key0, key1);
}
