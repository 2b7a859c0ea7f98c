// target: sm_75
// What vectors are most like, of P templates: dot products or cosines in binary32 by
// docs/numerics.md rule 1, and the best of each vector. Any block of at least one warp will do. How
// patterns become vectors is not here.
#include "portable.cuh"

namespace detection {

/** Rule 1's butterfly over a warp's partial sums. */
static __device__ __forceinline__ float total(float partial) {
  for (int half = 16; half >= 1; half >>= 1) partial = portable::add(partial, __shfl_xor_sync(0xffffffffu, partial, half));
  return partial;
}

/** Partial sums of x . w, x . x and w . w; each lane of a warp has one of each. */
struct Sums {
  float dot, xx, ww;
  __device__ __forceinline__ void take(float x, float w) {
    dot = portable::add(dot, portable::mul(x, w));
    xx = portable::add(xx, portable::mul(x, x));
    ww = portable::add(ww, portable::mul(w, w));
  }
};

/** Elements of a template that a lane loads before it adds the first: many loads are under way. */
constexpr int ahead = 32;

static __device__ __forceinline__ Sums sumsOf(const float* x, const float* w, int length, int lane) {
  Sums sums = {0.0f, 0.0f, 0.0f};
  int d = lane;
  for (; d + 32 * (ahead - 1) < length; d += 32 * ahead) {
    float ws[ahead];
#pragma unroll
    for (int k = 0; k < ahead; k++) ws[k] = w[d + 32 * k];
#pragma unroll
    for (int k = 0; k < ahead; k++) sums.take(x[d + 32 * k], ws[k]);
  }
  for (; d < length; d += 32) sums.take(x[d], w[d]);
  return sums;
}

/**
 * Whether score a at index i goes before score b at index j: the first of the greatest. An index
 * below 0 stands for none.
 */
static __device__ __forceinline__ bool before(float a, int i, float b, int j) { return i >= 0 && (j < 0 || a > b || (a == b && i < j)); }

}  // namespace detection

/**
 * scores[b, p] of `count` vectors and `templates` templates of `length` numbers each: the cosine, 0
 * if a vector is all zeros, or the dot product. A warp each.
 */
extern "C" __global__ void __launch_bounds__(1024)
    pattern_detection_scores(const float* vectors, const float* templates, int count, int templateCount, int length, int isCosine, float* scores) {
  const int lane = threadIdx.x & 31, warps = blockDim.x >> 5;
  if ((int)(threadIdx.x >> 5) >= warps) return;
  const long long pairs = (long long)count * templateCount;
  for (long long pair = (long long)blockIdx.x * warps + (threadIdx.x >> 5); pair < pairs; pair += (long long)gridDim.x * warps) {
    const long long b = pair / templateCount, p = pair % templateCount;
    const detection::Sums sums = detection::sumsOf(vectors + b * length, templates + p * length, length, lane);
    const float dot = detection::total(sums.dot);
    float score = dot;
    if (isCosine) {
      const float norms = portable::mul(portable::root(detection::total(sums.xx)), portable::root(detection::total(sums.ww)));
      score = norms == 0.0f ? 0.0f : portable::div(dot, norms);
    }
    if (lane == 0) scores[pair] = score;
  }
}

/**
 * The first of the greatest scores of each vector, a block each: its index to best, and to matches
 * if it is not below the threshold, else -1.
 */
extern "C" __global__ void __launch_bounds__(1024)
    pattern_detection_best(const float* scores, int templateCount, double threshold, int* best, int* matches) {
  __shared__ float values[1024];
  __shared__ int indices[1024];
  const float* const row = scores + (long long)blockIdx.x * templateCount;
  float value = 0.0f;
  int index = -1;
  for (int p = threadIdx.x; p < templateCount; p += blockDim.x) {
    const float score = row[p];
    if (score == score && detection::before(score, p, value, index)) {
      value = score;
      index = p;
    }
  }
  values[threadIdx.x] = value;
  indices[threadIdx.x] = index;
  __syncthreads();
  for (int left = blockDim.x; left > 1;) {
    const int half = (left + 1) >> 1, other = threadIdx.x + half;
    if (other < left && detection::before(values[other], indices[other], values[threadIdx.x], indices[threadIdx.x])) {
      values[threadIdx.x] = values[other];
      indices[threadIdx.x] = indices[other];
    }
    __syncthreads();
    left = half;
  }
  if (threadIdx.x != 0) return;
  // A NaN goes before nothing, and nothing before a NaN that stands first.
  const int first = indices[0] < 0 || row[0] != row[0] ? 0 : indices[0];
  best[blockIdx.x] = first;
  matches[blockIdx.x] = (double)row[first] >= threshold ? first : -1;
}

/**
 * templates[p, d]: the mean of element d of the vectors with label p, summed in binary64 in their
 * order.
 */
extern "C" __global__ void __launch_bounds__(1024)
    pattern_detection_means(const float* vectors, const int* labels, int count, int templateCount, int length, float* templates) {
  const long long cells = (long long)templateCount * length;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < cells; i += (long long)gridDim.x * blockDim.x) {
    double sum = 0.0, members = 0.0;
    for (int b = 0; b < count; b++) {
      if (labels[b] != i / length) continue;
      sum = portable::add(sum, (double)vectors[(long long)b * length + i % length]);
      members = portable::add(members, 1.0);
    }
    templates[i] = (float)portable::div(sum, members);
  }
}
