// The entries of the grid's kernels: a shape, open or with the loop closed. reservoir_grid.cu and
// reservoir_grid_streamed.cu list shapes.
#pragma once
#include "across.cuh"
#include "closed_loop.cuh"
#include "reservoir_grid.cuh"

#define GRID_PARAMETERS(Real, Weight)                                                                                                          \
  const Weight *weights, unsigned long long *slots, unsigned long long *report, const Real *leakRate, const Real *drive, const Real *feedback, \
      Real *state, Real *states, int size, int steps, int activation, Real noiseLevel, unsigned key0, unsigned key1, unsigned firstStep,       \
      unsigned sequence, int groups, int shared, int streamed, unsigned kept, int copies, int buffers, long long spinLimit REACH_PARAMETERS(Real)

#define GRID_RUN(Real, Weight, Rows, Held, Warps, Mixed, fed, between)                                                                                   \
  RECURRENCE_GIVEN                                                                                                                               \
  extern __shared__ exchange::Four<double> memory[];                                                                                             \
  __shared__ int stop;                                                                                                                           \
  const recurrence::Steps<Real> run = {leakRate,   drive,      feedback, state, states,    size,     steps,                                      \
                                       activation, noiseLevel, key0,     key1,  firstStep, sequence, fed};                                       \
  const grid::Layout<Weight> layout = {weights, slots, (exchange::Report*)report, groups, shared, streamed, kept, copies, buffers, spinLimit};  \
  exchange::Four<Real>* const sharedMemory = reinterpret_cast<exchange::Four<Real>*>(memory);                                                    \
  if (recurrence::bounded(run))                                                                                                                  \
    grid::run<Real, Weight, Rows, Held, Warps, Mixed, true>(run, layout, sharedMemory, &stop, between, REACH(Real));                                          \
  else                                                                                                                                           \
    grid::run<Real, Weight, Rows, Held, Warps, Mixed, false>(run, layout, sharedMemory, &stop, between, REACH(Real));

#define GRID_KERNEL(name, Real, Weight, Rows, Held, Warps, Mixed)                                                                                \
  extern "C" __global__ void __launch_bounds__(Warps * 32, 1) name(GRID_PARAMETERS(Real, Weight)) {                                              \
    GRID_RUN(Real, Weight, Rows, Held, Warps, Mixed, feedback != nullptr, recurrence::Open())                                                            \
  }

#define GRID_CLOSED(name, Real, Weight, Rows, Held, Warps, Mixed)                                                                                \
  extern "C" __global__ void __launch_bounds__(Warps * 32, 1) name(GRID_PARAMETERS(Real, Weight), CLOSED_PARAMETERS(Real), int closedAt) {       \
    GRID_RUN(Real, Weight, Rows, Held, Warps, Mixed, feedbackWeights != nullptr,                                                                 \
             CLOSED_LOOP(Real, reinterpret_cast<unsigned char*>(memory) + closedAt))                                                             \
  }
