// Information dynamics of many reservoirs, with the bits of the host: covariances of the states of
// a moment and of the one before (sums by kernels/training.cu), and from them what each neuron
// stores and each connection transfers, by the Gaussian estimator.
#include "elementary.cuh"
#include "portable.cuh"

namespace {

using portable::add;
using portable::div;
using portable::mul;
using portable::root;
using portable::sub;

constexpr int threads = 256, gramTile = 64;

/** Shares of variance below this are taken for it: what rounding leaves of nothing. */
constexpr double leastVariance = 0x1p-52;

/** Sums of products of a reservoir, in tiles of the lower triangle. */
struct Covariances {
  const double *sums, *totals;

  __device__ __forceinline__ double at(int i, int j) const {
    const int row = max(i, j), column = min(i, j), tileRow = row / gramTile;
    const size_t index =
        ((size_t)(tileRow * (tileRow + 1) / 2 + column / gramTile) * gramTile + row % gramTile) * gramTile + column % gramTile;
    return add(totals[index], sums[index]);
  }
};

/** max(0, .5 ln(without / with)) of two shares of a variance. */
__device__ __forceinline__ double information(double without, double with) {
  const double nats = mul(0.5, elementary::log(div(fmax(without, leastVariance), fmax(with, leastVariance))));
  return nats > 0.0 ? nats : 0.0;
}

/**
 * Means over the neurons and over the connections of a reservoir: `means` has two values of each.
 * `size` neurons; variable size + i is neuron i a step before. W is dense, row-major, or in slices
 * of 32 rows (`slots` above 0). `all` has size x size values of each reservoir, a transfer at
 * (to, from).
 */
template <typename Real>
__device__ __forceinline__ void dynamics(const Real* weights, const unsigned short* columns, const int* order, const int* offsets, int slots, const Covariances& covariance, int size, double* all, double* means) {
  extern __shared__ double shared[];
  __shared__ double staged[threads];
  __shared__ int links;
  double* const scale = shared;
  double* const own = scale + 2 * size;
  auto correlation = [&](int i, int j) {
    return scale[i] > 0.0 && scale[j] > 0.0 ? div(covariance.at(i, j), mul(scale[i], scale[j])) : 0.0;
  };
  if (threadIdx.x == 0) links = 0;
  for (int i = threadIdx.x; i < 2 * size; i += threads) scale[i] = root(covariance.at(i, i));
  for (int i = threadIdx.x; i < size * size; i += threads) all[i] = 0.0;
  __syncthreads();
  for (int i = threadIdx.x; i < size; i += threads) own[i] = correlation(i, size + i);
  __syncthreads();
  auto transfer = [&](int to, int from) {
    atomicAdd(&links, 1);
    if (!(scale[to] > 0.0)) return;
    const double past = own[to], shared = correlation(size + from, size + to);
    const double rest = sub(1.0, mul(shared, shared)), left = rest > mul(leastVariance, 3.0) ? root(rest) : 0.0;
    const double cause = left > 0.0 ? div(sub(correlation(to, size + from), mul(past, shared)), left) : 0.0;
    const double without = sub(1.0, mul(past, past));
    all[to * size + from] = information(without, sub(without, mul(cause, cause)));
  };
  if (slots > 0) {
    for (int slot = threadIdx.x; slot < slots; slot += threads) {
      const int to = order[slot];
      if (to >= size) continue;
      for (int entry = offsets[slot / 32]; entry < offsets[slot / 32 + 1]; entry++) {
        const int at = entry * 32 + slot % 32;
        if (weights[at] != (Real)0 && columns[at] != to) transfer(to, columns[at]);
      }
    }
  } else {
    for (int i = threadIdx.x; i < size * size; i += threads)
      if (weights[i] != (Real)0 && i / size != i % size) transfer(i / size, i % size);
  }
  __syncthreads();
  // Sums in rising order; a pair without a connection adds 0.
  double sum = 0.0;
  for (int first = 0; first < size; first += threads) {
    const int i = first + (int)threadIdx.x;
    if (i < size) staged[threadIdx.x] = scale[i] > 0.0 ? information(1.0, sub(1.0, mul(own[i], own[i]))) : 0.0;
    __syncthreads();
    if (threadIdx.x == 0)
      for (int k = 0; k < min(threads, size - first); k++) sum = add(sum, staged[k]);
    __syncthreads();
  }
  if (threadIdx.x == 0) means[0] = div(sum, (double)size);
  sum = 0.0;
  for (int first = 0; first < size * size; first += threads) {
    const int i = first + (int)threadIdx.x;
    if (i < size * size) staged[threadIdx.x] = all[i];
    __syncthreads();
    if (threadIdx.x == 0)
      for (int k = 0; k < min(threads, size * size - first); k++) sum = add(sum, staged[k]);
    __syncthreads();
  }
  if (threadIdx.x == 0) means[1] = links > 0 ? div(sum, (double)links) : 0.0;
}

}  // namespace

#define DYNAMICS(suffix, Real)                                                                                                                        \
  /* means of the states of each reservoir, rows x size: reservoirs x size; grid: some x reservoirs */                                                \
  extern "C" __global__ void __launch_bounds__(threads) dynamics_means_##suffix(const Real* states, int rows, int size, double* means) {              \
    const Real* const own = states + (size_t)blockIdx.y * rows * size;                                                                                \
    for (int i = blockIdx.x * threads + threadIdx.x; i < size; i += gridDim.x * threads) {                                                            \
      double mean = 0.0;                                                                                                                              \
      for (int t = 0; t < rows; t++) mean = add(mean, div((double)own[(size_t)t * size + i], (double)rows));                                          \
      means[(size_t)blockIdx.y * size + i] = mean;                                                                                                    \
    }                                                                                                                                                 \
  }                                                                                                                                                   \
  /* rows [first, first + count) of centred states beside those of the step before: reservoirs x count x 2 size; grid: some x reservoirs */           \
  extern "C" __global__ void __launch_bounds__(threads)                                                                                               \
      dynamics_pairs_##suffix(const Real* states, const double* means, int rows, int first, int count, int size, double* out) {                       \
    const Real* const own = states + (size_t)blockIdx.y * rows * size;                                                                                \
    const double* const mean = means + (size_t)blockIdx.y * size;                                                                                     \
    double* const to = out + (size_t)blockIdx.y * count * 2 * size;                                                                                   \
    for (int i = blockIdx.x * threads + threadIdx.x; i < count * 2 * size; i += gridDim.x * threads) {                                                \
      const int c = i % (2 * size), t = first + i / (2 * size) - (c >= size ? 1 : 0), neuron = c % size;                                              \
      to[i] = sub((double)own[(size_t)t * size + neuron], mean[neuron]);                                                                              \
    }                                                                                                                                                 \
  }                                                                                                                                                   \
  /* shared memory: 3 size values; grid: reservoirs */                                                                                                \
  extern "C" __global__ void __launch_bounds__(threads)                                                                                               \
      dynamics_information_##suffix(const Real* weights, const int* patterns, const unsigned short* columns, const int* order, const int* offsets,    \
                                    int entries, int slots, const double* sums, const double* totals, int tiles, int size, double* all,               \
                                    double* means) {                                                                                                  \
    const size_t own = blockIdx.x, values = (size_t)tiles * gramTile * gramTile;                                                                      \
    const bool sliced = slots > 0;                                                                                                                    \
    const size_t pattern = sliced ? patterns[own] : 0;                                                                                                \
    dynamics(weights + own * (sliced ? (size_t)entries : (size_t)size * size), columns + pattern * entries,                                           \
             order + pattern * slots, offsets + pattern * (slots / 32 + 1), slots,                                                                    \
             Covariances{sums + own * values, totals + own * values}, size, all + own * size * size, means + 2 * own);                                \
  }
DYNAMICS(f32, float)
DYNAMICS(f64, double)
