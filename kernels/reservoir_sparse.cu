// target: sm_75
// Sparse reservoirs that run whole chunks of steps in one launch over all multiprocessors. The loop
// is in include/reservoir_sparse.cuh; here are the shapes that are shipped compiled: rows that
// eight lanes take one after another, units of eight entries held in registers, warps of a block,
// and whether more entries lie elsewhere. Some exist once more with the loop closed.
// src/engine/cuda/persistent/shapes.ts lists them too. With SPARSE_NAME or SPARSE_CLOSED_NAME, one
// shape is compiled under that name instead.
#include "across.cuh"
#include "closed_loop.cuh"
#include "reservoir_sparse.cuh"

#define SPARSE_PARAMETERS(Real)                                                                                                            \
  const unsigned *entries, unsigned long long *slots, unsigned long long *report, const Real *leakRate, const Real *drive,                 \
      const Real *feedback, Real *state, Real *states, int size, int steps, int activation, Real noiseLevel, unsigned key0, unsigned key1, \
      unsigned firstStep, unsigned sequence, int count, int held, int shared, int streamed, int copies, long long spinLimit REACH_PARAMETERS(Real)

#define SPARSE_RUN(Real, Rounds, Held, Warps, Mixed, fed, between)                                                                               \
  RECURRENCE_GIVEN                                                                                                                               \
  extern __shared__ exchange::Four<double> memory[];                                                                                             \
  __shared__ int stop;                                                                                                                           \
  const recurrence::Steps<Real> run = {leakRate,   drive,      feedback, state, states,    size,     steps,                                      \
                                       activation, noiseLevel, key0,     key1,  firstStep, sequence, fed};                                       \
  const sparse::Layout<Real> layout = {(const uint4*)entries, slots, (exchange::Report*)report, count, held, shared, streamed, copies,          \
                                       spinLimit};                                                                                               \
  unsigned char* const bytes = reinterpret_cast<unsigned char*>(memory);                                                                         \
  if (recurrence::bounded(run))                                                                                                                  \
    sparse::run<Real, Rounds, Held, Warps, Mixed, true>(run, layout, bytes, &stop, between, REACH(Real));                                                     \
  else                                                                                                                                           \
    sparse::run<Real, Rounds, Held, Warps, Mixed, false>(run, layout, bytes, &stop, between, REACH(Real));

#define SPARSE_KERNEL(name, Real, Rounds, Held, Warps, Mixed)                                                                                    \
  extern "C" __global__ void __launch_bounds__(Warps * 32, 1) name(SPARSE_PARAMETERS(Real)) {                                                    \
    SPARSE_RUN(Real, Rounds, Held, Warps, Mixed, feedback != nullptr, recurrence::Open())                                                        \
  }

#define SPARSE_CLOSED(name, Real, Rounds, Held, Warps, Mixed)                                                                                    \
  extern "C" __global__ void __launch_bounds__(Warps * 32, 1) name(SPARSE_PARAMETERS(Real), CLOSED_PARAMETERS(Real), int closedAt) {             \
    SPARSE_RUN(Real, Rounds, Held, Warps, Mixed, feedbackWeights != nullptr, CLOSED_LOOP(Real, reinterpret_cast<unsigned char*>(memory) + closedAt)) \
  }

#if defined SPARSE_CLOSED_NAME
SPARSE_CLOSED(SPARSE_CLOSED_NAME, SPARSE_REAL, SPARSE_ROUNDS, SPARSE_HELD, SPARSE_WARPS, SPARSE_MIXED)
#elif defined SPARSE_NAME
SPARSE_KERNEL(SPARSE_NAME, SPARSE_REAL, SPARSE_ROUNDS, SPARSE_HELD, SPARSE_WARPS, SPARSE_MIXED)
#else
SPARSE_KERNEL(reservoir_sparse_f32_r1_h3_w4, float, 1, 3, 4, false)
SPARSE_KERNEL(reservoir_sparse_f32_r1_h3_w19_mixed, float, 1, 3, 19, true)
SPARSE_KERNEL(reservoir_sparse_f32_r2_h1_w19_mixed, float, 2, 1, 19, true)
SPARSE_KERNEL(reservoir_sparse_f32_r4_h1_w16_mixed, float, 4, 1, 16, true)
SPARSE_KERNEL(reservoir_sparse_f64_r1_h2_w4, double, 1, 2, 4, false)
SPARSE_KERNEL(reservoir_sparse_f64_r1_h1_w16_mixed, double, 1, 1, 16, true)
SPARSE_KERNEL(reservoir_sparse_f64_r2_h1_w16_mixed, double, 2, 1, 16, true)
SPARSE_CLOSED(reservoir_sparse_f32_r1_h3_w4_closed, float, 1, 3, 4, false)
SPARSE_CLOSED(reservoir_sparse_f64_r1_h2_w4_closed, double, 1, 2, 4, false)
#endif
