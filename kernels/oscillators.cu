// Coupled phase oscillators (docs/numerics.md, rule 15): all Heun steps of many inputs in one
// launch, whose blocks wait for one another after each stage. A warp takes rows of W, a lane an
// oscillator. Of a dense W, shared memory keeps as many columns as it has bytes for. The bits are
// those of src/oscillators/step.ts.
#include "elementary.cuh"
#include "exchange.cuh"
#include "philox.cuh"

namespace oscillators {

using portable::add;
using portable::div;
using portable::mul;
using portable::root;
using portable::sub;

const unsigned all = 0xffffffffu;

enum Coupling { DENSE = 0, SPARSE = 1, MEAN_FIELD = 2 };

/** The parameters that describe a model; the host's names are in src/oscillators/device.ts. */
template <typename Real> struct Model {
  const Real *omega, *bias, *biasCosine, *inputWeights, *weights;
  const unsigned *rowOffsets, *columns;
  /** 6 N values: c and s of the stage between, X, Y, the first force, the noise. */
  Real* scratch;
  /** 0 or what a stalled block reports; how often blocks have come to a barrier in this launch. */
  unsigned long long* report;
  int size, inputs, substeps, harmonics, order, field, coupling;
  double pull;
  Real h, half, gain, noise;
  unsigned key0, key1;
  long long spinLimit;
};

/** Waits until all blocks have come here `round` times. False if one did not come in time. */
template <typename Real> __device__ __forceinline__ bool meet(const Model<Real>& model, unsigned round, unsigned step) {
  __shared__ int lost;
  __syncthreads();
  if (gridDim.x == 1) return true;
  if (threadIdx.x == 0) {
    lost = 0;
    __threadfence();
    atomicAdd(model.report + 1, 1ull);
    exchange::Patience patience(model.spinLimit, model.report);
    for (;;) {
      unsigned long long now;
      asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(now) : "l"(model.report + 1) : "memory");
      if (now >= (unsigned long long)round * gridDim.x) break;
      if (patience.over()) {
        atomicCAS(model.report, 0ull, (unsigned long long)(blockIdx.x + 1) << 32 | step);
        lost = 1;
        break;
      }
    }
    __threadfence();
  }
  __syncthreads();
  return lost == 0;
}

/** Rule 1's butterfly over `lanes` partial sums side by side. */
template <int lanes, typename Real> __device__ __forceinline__ Real folded(Real sum) {
#pragma unroll
  for (int apart = lanes / 2; apart >= 1; apart /= 2) sum = add(sum, __shfl_xor_sync(all, sum, apart));
  return sum;
}

/**
 * folded<32> of eight sums: a lane gives away half of its sums, and ends with the sum of number
 * lane / 4.
 */
template <typename Real> __device__ __forceinline__ Real foldedEight(Real (&sums)[8]) {
#pragma unroll
  for (int half = 4; half >= 1; half /= 2) {
    const bool upper = (threadIdx.x & 4 * half) != 0;
#pragma unroll
    for (int j = 0; j < half; j++) {
      const Real given = upper ? sums[j] : sums[j + half], own = upper ? sums[j + half] : sums[j];
      sums[j] = add(own, __shfl_xor_sync(all, given, 4 * half));
    }
  }
  return folded<4>(sums[0]);
}

/** The sum of N values by a warp. */
template <typename Real> __device__ __forceinline__ Real total(const Real* values, int size) {
  Real sum = 0;
#pragma unroll 4
  for (int k = threadIdx.x & 31; k < size; k += 32) sum = add(sum, values[k]);
  return folded<32>(sum);
}

template <typename Real> struct Point {
  Real c, s;
};

template <typename Real> __device__ __forceinline__ Point<Real> turned(Real c, Real s, Real d) {
  const Real m = mul(mul((Real)0.5, d), add((Real)1, div(mul(d, d), (Real)12)));
  const Real square = mul(m, m), q = add((Real)1, square);
  const Real a = div(sub((Real)1, square), q), b = div(add(m, m), q);
  const Real x = sub(mul(c, a), mul(s, b)), y = add(mul(c, b), mul(s, a));
  const Real length = root(add(mul(x, x), mul(y, y)));
  return {div(x, length), div(y, length)};
}

/** Rows of a dense W that a warp takes at a time: they share what it reads of the vectors. */
const int tile = 4;

/** A dense W's rows of a block, and the vectors that they meet, in shared memory. */
template <typename Real> struct Kept {
  /** 2 N values of s and c; null if there are too many. */
  Real* vectors;
  /** The first columns of the rows of this warp, tile after tile. */
  Real* rows;
  int columns, pitch;
};

/** Shares out the dynamic shared memory, and brings the columns there. */
template <typename Real> __device__ __forceinline__ Kept<Real> keep(const Model<Real>& model) {
  extern __shared__ __align__(16) unsigned char memory[];
  Kept<Real> kept = {nullptr, nullptr, 0, 0};
  unsigned bytes;
  asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
  const int n = model.size, values = (int)(bytes / sizeof(Real));
  if (model.coupling != DENSE || values < 2 * n) return kept;
  const int warps = (int)blockDim.x / 32, warp = (int)threadIdx.x / 32, step = tile * warps * (int)gridDim.x;
  const int passes = (n + step - 1) / step, first = tile * (warps * (int)blockIdx.x + warp);
  kept.vectors = reinterpret_cast<Real*>(memory);
  kept.pitch = min((n + 31) / 32, (values - 2 * n) / (warps * passes * tile) / 32) * 32;
  kept.columns = min(n, kept.pitch);
  kept.rows = kept.vectors + 2 * n + (size_t)warp * passes * tile * kept.pitch;
#pragma unroll 1
  for (int r = 0; r < passes * tile; r++) {
    const int row = first + r / tile * step + r % tile;
    if (row < n)
      for (int k = threadIdx.x & 31; k < kept.columns; k += 32) kept.rows[(size_t)r * kept.pitch + k] = model.weights[(size_t)row * n + k];
  }
  __syncwarp();
  return kept;
}

/** Rows of a dense W times s, in lanes 0, 4, 8, ..., and times c, in lanes 16, 20, 24, .... */
template <typename Real>
__device__ __forceinline__ Real timesTile(const Model<Real>& model, const Real* kept, int columns, int pitch, int first, const Real* c,
                                          const Real* s) {
  const int n = model.size;
  // As many loads as registers take: memory would stand idle if fewer were on their way.
  constexpr int ahead = 64 / sizeof(Real);
  const Real* row[tile];
  Real sums[2 * tile];
#pragma unroll
  for (int r = 0; r < tile; r++) {
    row[r] = model.weights + (size_t)min(first + r, n - 1) * n;
    sums[r] = sums[tile + r] = 0;
  }
  int k = threadIdx.x & 31;
#pragma unroll 4
  for (; k < columns; k += 32) {
    const Real x = s[k], y = c[k];
#pragma unroll
    for (int r = 0; r < tile; r++) {
      const Real w = kept[r * pitch + k];
      sums[r] = add(sums[r], mul(w, x));
      sums[tile + r] = add(sums[tile + r], mul(w, y));
    }
  }
#pragma unroll ahead
  for (; k < n; k += 32) {
    const Real x = s[k], y = c[k];
#pragma unroll
    for (int r = 0; r < tile; r++) {
      const Real w = __ldg(row[r] + k);
      sums[r] = add(sums[r], mul(w, x));
      sums[tile + r] = add(sums[tile + r], mul(w, y));
    }
  }
  return foldedEight(sums);
}

/** Calls `each(i, p, q)` in the lane of every oscillator: row i of W times s and times c. */
template <typename Real, typename Each>
__device__ __forceinline__ void coupled(const Model<Real>& model, const Kept<Real>& kept, const Real* c, const Real* s, Each each) {
  const int n = model.size, lane = threadIdx.x & 31, warps = (int)(gridDim.x * blockDim.x) / 32;
  const int warp = (int)(blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int rows = model.coupling == DENSE ? tile : min(32, (n + warps - 1) / warps);
  if (kept.vectors != nullptr) {
    // They come from the L2: all loads of a trip are given before the first store.
    constexpr int trip = 8;
    for (int from = threadIdx.x; from < n; from += trip * (int)blockDim.x) {
      Real x[trip], y[trip];
#pragma unroll
      for (int j = 0; j < trip; j++) {
        const int k = min(from + j * (int)blockDim.x, n - 1);
        x[j] = s[k];
        y[j] = c[k];
      }
#pragma unroll
      for (int j = 0; j < trip; j++) {
        const int k = from + j * (int)blockDim.x;
        if (k < n) {
          kept.vectors[k] = x[j];
          kept.vectors[n + k] = y[j];
        }
      }
    }
    __syncthreads();
    s = kept.vectors;
    c = kept.vectors + n;
  }
  const Real* columns = kept.rows;
  Real meanP = 0, meanQ = 0;
  if (model.coupling == MEAN_FIELD) {
    __shared__ Real sums[2];
    if (threadIdx.x < 64) {
      const Real sum = total(threadIdx.x < 32 ? s : c, n);
      if (lane == 0) sums[threadIdx.x / 32] = mul(model.gain, sum);
    }
    __syncthreads();
    meanP = sums[0];
    meanQ = sums[1];
    __syncthreads();
  }
  for (int first = warp * rows; first < n; first += warps * rows) {
    Real p = meanP, q = meanQ;
    if (model.coupling == DENSE) {
      const Real sum = timesTile(model, columns, kept.columns, kept.pitch, first, c, s);
      p = __shfl_sync(all, sum, 4 * (lane & 3));
      q = __shfl_sync(all, sum, 16 + 4 * (lane & 3));
      columns += tile * kept.pitch;
    } else if (model.coupling == SPARSE) {
#pragma unroll 1
      for (int r = 0; r < rows && first + r < n; r += 4) {
        const int i = first + r + lane / 8;
        Real a = 0, b = 0;
        if (i < n)
#pragma unroll 2
          for (unsigned m = model.rowOffsets[i] + lane % 8; m < model.rowOffsets[i + 1]; m += 8) {
            const Real w = model.weights[m];
            const unsigned k = model.columns[m];
            a = add(a, mul(w, s[k]));
            b = add(b, mul(w, c[k]));
          }
        a = folded<8>(a);
        b = folded<8>(b);
        const Real ownA = __shfl_sync(all, a, (lane & 3) * 8), ownB = __shfl_sync(all, b, (lane & 3) * 8);
        if (lane / 4 == r / 4) p = ownA, q = ownB;
      }
    }
    if (lane < rows && first + lane < n) each(first + lane, p, q);
  }
}

/** Four random bytes: normal enough. */
template <typename Real>
__device__ __forceinline__ Real drawn(const Model<Real>& model, unsigned t, unsigned i, unsigned sequence, unsigned step) {
  if (model.noise == (Real)0) return 0;
  const unsigned word = philox::word(philox::block(model.key0, model.key1, t, i >> 2, sequence, step), i & 3);
  return mul(model.noise, (Real)((int)((word & 255) + (word >> 8 & 255) + (word >> 16 & 255) + (word >> 24)) - 510));
}

template <typename Real> __device__ __forceinline__ Real magnitude(Real x, Real y) { return root(add(mul(x, x), mul(y, y))); }

template <typename Real>
__device__ __forceinline__ void run(Real* x, const Real* inputs, Real* states, unsigned steps, unsigned firstStep, unsigned sequence,
                                    const Model<Real>& model) {
  const int n = model.size, width = 2 * n * model.harmonics + model.order;
  Real *const c = x, *const s = x + n, *const stageC = model.scratch, *const stageS = stageC + n;
  Real *const fieldX = stageS + n, *const fieldY = fieldX + n, *const force = fieldY + n, *const noise = force + n;
  auto setField = [&](int i, const Real* input) {
    Real sum = model.bias[i];
#pragma unroll 1
    for (int k = 0; k < model.inputs; k++) sum = add(sum, mul(model.inputWeights[(size_t)i * model.inputs + k], input[k]));
    if (model.field) {
      fieldX[i] = (Real)mul(model.pull, (double)sum);
      fieldY[i] = model.biasCosine[i];
    } else {
      const elementary::SineCosine at = elementary::sincos((double)sum);
      fieldX[i] = (Real)mul(model.pull, at.sine);
      fieldY[i] = (Real)mul(model.pull, at.cosine);
    }
  };
  const Kept<Real> kept = keep(model);
  unsigned round = 0;
  for (unsigned t = 0; t < steps; t++) {
    const Real* input = inputs + (size_t)t * model.inputs;
#pragma unroll 1
    for (unsigned stage = 0; stage < 2u * (unsigned)model.substeps; stage++) {
      const unsigned step = stage / 2;
      const bool second = stage & 1;
      const Real *const fromC = second ? stageC : c, *const fromS = second ? stageS : s;
      coupled(model, kept, fromC, fromS, [&](int i, Real p, Real q) {
        if (stage == 0) setField(i, input);
        const Real along = mul(fromC[i], add(p, fieldX[i])), across = mul(fromS[i], add(q, fieldY[i]));
        const Real k = sub(add(model.omega[i], along), across);
        const Real e = second ? noise[i] : drawn(model, firstStep + t, (unsigned)i, sequence, step);
        const Real d = second ? mul(model.half, add(force[i], k)) : mul(model.h, k);
        const Point<Real> to = turned(c[i], s[i], add(d, e));
        if (!second) {
          force[i] = k;
          noise[i] = e;
          stageC[i] = to.c;
          stageS[i] = to.s;
          return;
        }
        c[i] = to.c;
        s[i] = to.s;
        if (stage + 1 < 2u * (unsigned)model.substeps) return;
        Real* row = states + (size_t)t * width;
        Point<Real> harmonic = to;
#pragma unroll 1
        for (int m = 0;; m++) {
          row[2 * n * m + i] = harmonic.c;
          row[2 * n * m + n + i] = harmonic.s;
          x[2 * n * m + i] = harmonic.c;
          x[2 * n * m + n + i] = harmonic.s;
          if (m + 1 == model.harmonics) break;
          harmonic = {sub(mul(harmonic.c, to.c), mul(harmonic.s, to.s)), add(mul(harmonic.s, to.c), mul(harmonic.c, to.s))};
        }
      });
      if (!meet(model, ++round, firstStep + t)) return;
    }
    if (model.order && blockIdx.x == 0 && threadIdx.x < 32) {
      const Real sumC = total(c, n), sumS = total(s, n);
      if (threadIdx.x == 0) {
        const Real r = div(magnitude(sumC, sumS), (Real)n);
        states[(size_t)t * width + width - 1] = r;
        x[width - 1] = r;
      }
    }
  }
}

}  // namespace oscillators

#define ENTRY(REAL, NAME, THREADS)                                                                                                                \
  extern "C" __global__ void __launch_bounds__(THREADS, 1) oscillators_##NAME(                                                                  \
      REAL* x, const REAL* inputs, REAL* states, unsigned steps, unsigned firstStep, unsigned sequence, long long spinLimit,             \
      const REAL* __restrict__ omega, const REAL* __restrict__ bias, const REAL* __restrict__ biasCosine,                                \
      const REAL* __restrict__ inputWeights, const REAL* __restrict__ weights, const unsigned* __restrict__ rowOffsets,                  \
      const unsigned* __restrict__ columns, REAL* scratch, unsigned long long* report, int size, int inputSize, int substeps,          \
      int harmonics, int order, int field, int coupling, double pull, REAL h, REAL half, REAL gain, REAL noise, unsigned key0,           \
      unsigned key1) {                                                                                                                   \
    oscillators::run<REAL>(x, inputs, states, steps, firstStep, sequence,                                                                \
                           {omega,   bias,      biasCosine, inputWeights, weights, rowOffsets, columns,  scratch, report, size, inputSize, \
                            substeps, harmonics, order,      field,        coupling, pull,      h,        half,    gain,     noise, key0,  \
                            key1,     spinLimit});                                                                                       \
  }

ENTRY(float, f32, 384)
ENTRY(double, f64, 256)
