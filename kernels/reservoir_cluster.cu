// target: sm_90
// Dense reservoirs that run whole chunks of steps in one thread block cluster. The loop is in
// include/reservoir_cluster.cuh; here are the shapes that are shipped compiled: rows of a warp,
// groups of 128 columns held in registers, warps of a block. Some exist once more with the loop
// closed. src/engine/cuda/persistent/shapes.ts lists them too. With CLUSTER_NAME or
// CLUSTER_CLOSED_NAME, one shape is compiled under that name instead.
#include "closed_loop.cuh"
#include "reservoir_cluster.cuh"

#define CLUSTER_PARAMETERS(Real)                                                                                                                 \
  const Real *weights, unsigned long long *report, const Real *leakRate, const Real *drive, const Real *feedback, Real *state, Real *states,     \
      int size, int steps, int activation, Real noiseLevel, unsigned key0, unsigned key1, unsigned firstStep, unsigned sequence, int groups,     \
      int shared, long long spinLimit

#define CLUSTER_RUN(Real, Rows, Held, Warps, fed, between)                                                                                       \
  RECURRENCE_GIVEN                                                                                                                               \
  extern __shared__ exchange::Four<double> memory[];                                                                                             \
  __shared__ unsigned long long barriers[2];                                                                                                     \
  const recurrence::Steps<Real> run = {leakRate,   drive,      feedback, state, states,    size,     steps,                                      \
                                       activation, noiseLevel, key0,     key1,  firstStep, sequence, fed};                                       \
  const cluster::Layout<Real> layout = {weights, (exchange::Report*)report, groups, shared, spinLimit};                                          \
  cluster::run<Real, Rows, Held, Warps>(run, layout, reinterpret_cast<exchange::Four<Real>*>(memory), barriers, between);

#define CLUSTER_KERNEL(name, Real, Rows, Held, Warps)                                                                                            \
  extern "C" __global__ void __launch_bounds__(Warps * 32, 1) name(CLUSTER_PARAMETERS(Real)) {                                                   \
    CLUSTER_RUN(Real, Rows, Held, Warps, feedback != nullptr, recurrence::Open())                                                                \
  }

#define CLUSTER_CLOSED(name, Real, Rows, Held, Warps)                                                                                            \
  extern "C" __global__ void __launch_bounds__(Warps * 32, 1) name(CLUSTER_PARAMETERS(Real), CLOSED_PARAMETERS(Real), int closedAt) {            \
    CLUSTER_RUN(Real, Rows, Held, Warps, feedbackWeights != nullptr, CLOSED_LOOP(Real, reinterpret_cast<unsigned char*>(memory) + closedAt))     \
  }

#if defined CLUSTER_CLOSED_NAME
CLUSTER_CLOSED(CLUSTER_CLOSED_NAME, CLUSTER_REAL, CLUSTER_ROWS, CLUSTER_HELD, CLUSTER_WARPS)
#elif defined CLUSTER_NAME
CLUSTER_KERNEL(CLUSTER_NAME, CLUSTER_REAL, CLUSTER_ROWS, CLUSTER_HELD, CLUSTER_WARPS)
#else
CLUSTER_KERNEL(reservoir_cluster_f32_r4_h1_w4, float, 4, 1, 4)
CLUSTER_KERNEL(reservoir_cluster_f32_r4_h2_w4, float, 4, 2, 4)
CLUSTER_KERNEL(reservoir_cluster_f32_r4_h2_w8, float, 4, 2, 8)
CLUSTER_KERNEL(reservoir_cluster_f32_r4_h4_w8, float, 4, 4, 8)
CLUSTER_KERNEL(reservoir_cluster_f32_r8_h5_w8, float, 8, 5, 8)
CLUSTER_KERNEL(reservoir_cluster_f64_r4_h2_w4, double, 4, 2, 4)
CLUSTER_KERNEL(reservoir_cluster_f64_r4_h3_w8, double, 4, 3, 8)
CLUSTER_CLOSED(reservoir_cluster_f32_r4_h1_w4_closed, float, 4, 1, 4)
CLUSTER_CLOSED(reservoir_cluster_f32_r4_h2_w4_closed, float, 4, 2, 4)
CLUSTER_CLOSED(reservoir_cluster_f32_r4_h4_w8_closed, float, 4, 4, 8)
CLUSTER_CLOSED(reservoir_cluster_f64_r4_h2_w4_closed, double, 4, 2, 4)
#endif
