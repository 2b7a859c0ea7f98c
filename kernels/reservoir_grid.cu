// target: sm_75
// Dense reservoirs that run whole chunks of steps in one launch over all multiprocessors. The loop is in include/reservoir_grid.cuh; here are the shapes
// that are shipped compiled: rows of a warp, groups of 128 columns held in registers, warps of a block, and whether more columns lie elsewhere. Some
// exist once more with the loop closed. src/engine/cuda/persistent/shapes.ts lists them too. With GRID_NAME or GRID_CLOSED_NAME, one shape is
// compiled under that name instead.
#include "closed_loop.cuh"
#include "reservoir_grid.cuh"

#define GRID_PARAMETERS(Real)                                                                                                                    \
  const Real *weights, unsigned long long *places, unsigned long long *report, const Real *leakRate, const Real *drive, const Real *feedback,    \
      Real *state, Real *states, int size, int steps, int activation, Real noiseLevel, unsigned key0, unsigned key1, unsigned firstStep,         \
      unsigned sequence, int groups, int shared, int streamed, int copies, int buffers, long long spinLimit

#define GRID_RUN(Real, Rows, Held, Warps, Mixed, fed, between)                                                                                   \
  RECURRENCE_GIVEN                                                                                                                               \
  extern __shared__ exchange::Four<double> memory[];                                                                                             \
  __shared__ int stop;                                                                                                                           \
  const recurrence::Steps<Real> run = {leakRate,   drive,      feedback, state, states,    size,     steps,                                      \
                                       activation, noiseLevel, key0,     key1,  firstStep, sequence, fed};                                       \
  const grid::Layout<Real> layout = {weights, places, (exchange::Report*)report, groups, shared, streamed, copies, buffers, spinLimit};          \
  exchange::Four<Real>* const sharedMemory = reinterpret_cast<exchange::Four<Real>*>(memory);                                                    \
  if (recurrence::bounded(run))                                                                                                                  \
    grid::run<Real, Rows, Held, Warps, Mixed, true>(run, layout, sharedMemory, &stop, between);                                                  \
  else                                                                                                                                           \
    grid::run<Real, Rows, Held, Warps, Mixed, false>(run, layout, sharedMemory, &stop, between);

#define GRID_KERNEL(name, Real, Rows, Held, Warps, Mixed)                                                                                        \
  extern "C" __global__ void __launch_bounds__(Warps * 32, 1) name(GRID_PARAMETERS(Real)) {                                                      \
    GRID_RUN(Real, Rows, Held, Warps, Mixed, feedback != nullptr, recurrence::Open())                                                            \
  }

#define GRID_CLOSED(name, Real, Rows, Held, Warps, Mixed)                                                                                        \
  extern "C" __global__ void __launch_bounds__(Warps * 32, 1) name(GRID_PARAMETERS(Real), CLOSED_PARAMETERS(Real), int closedAt) {               \
    GRID_RUN(Real, Rows, Held, Warps, Mixed, feedbackWeights != nullptr, CLOSED_LOOP(Real, reinterpret_cast<unsigned char*>(memory) + closedAt)) \
  }

#if defined GRID_CLOSED_NAME
GRID_CLOSED(GRID_CLOSED_NAME, GRID_REAL, GRID_ROWS, GRID_HELD, GRID_WARPS, GRID_MIXED)
#elif defined GRID_NAME
GRID_KERNEL(GRID_NAME, GRID_REAL, GRID_ROWS, GRID_HELD, GRID_WARPS, GRID_MIXED)
#else
GRID_KERNEL(reservoir_grid_f32_r2_h2_w4, float, 2, 2, 4, false)
GRID_KERNEL(reservoir_grid_f32_r2_h4_w4, float, 2, 4, 4, false)
GRID_KERNEL(reservoir_grid_f32_r2_h8_w4, float, 2, 8, 4, false)
GRID_KERNEL(reservoir_grid_f32_r2_h16_w8, float, 2, 16, 8, false)
GRID_KERNEL(reservoir_grid_f32_r4_h4_w8, float, 4, 4, 8, false)
GRID_KERNEL(reservoir_grid_f32_r4_h10_w8_mixed, float, 4, 10, 8, true)
GRID_KERNEL(reservoir_grid_f32_r4_h4_w12_mixed, float, 4, 4, 12, true)
GRID_KERNEL(reservoir_grid_f32_r8_h3_w8_mixed, float, 8, 3, 8, true)
GRID_KERNEL(reservoir_grid_f64_r1_h8_w8, double, 1, 8, 8, false)
GRID_KERNEL(reservoir_grid_f64_r2_h4_w8_mixed, double, 2, 4, 8, true)
GRID_KERNEL(reservoir_grid_f64_r4_h2_w8_mixed, double, 4, 2, 8, true)
GRID_CLOSED(reservoir_grid_f32_r2_h8_w4_closed, float, 2, 8, 4, false)
GRID_CLOSED(reservoir_grid_f32_r2_h16_w8_closed, float, 2, 16, 8, false)
GRID_CLOSED(reservoir_grid_f64_r1_h8_w8_closed, double, 1, 8, 8, false)
#endif
