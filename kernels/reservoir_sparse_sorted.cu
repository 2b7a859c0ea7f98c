// target: sm_90
// Sparse reservoirs of many neurons that run whole chunks of steps in one launch over all
// multiprocessors. The loop is in include/reservoir_sparse_sorted.cuh; here are the shapes that are
// shipped compiled: lanes of a row, units of eight entries held in registers, warps of a block.
// src/engine/cuda/persistent/sorted-shapes.ts lists them too.
#include "reservoir_sparse_sorted.cuh"

#define SORTED_KERNEL(name, Lanes, Held, Warps)                                                                                  \
  extern "C" __global__ void __launch_bounds__(Warps * 32, 1)                                                                    \
      name(const unsigned* entries, const unsigned* warps, unsigned long long* exchanged, unsigned long long* report,                   \
           const float* leakRate, const float* drive, const float* feedback, float* state, float* states, int size, int steps,   \
           int activation, float noiseLevel, unsigned key0, unsigned key1, unsigned firstStep, unsigned sequence,                \
           int rowsOfBlock, long long spinLimit) {                                                                               \
    extern __shared__ __align__(128) uint4 memory[];                                                                             \
    __shared__ sorted::Kept kept;                                                                                         \
    const recurrence::Steps<float> run = {leakRate,   drive,      feedback, state, states,    size,     steps,                   \
                                          activation, noiseLevel, key0,     key1,  firstStep, sequence, feedback != nullptr};    \
    const sorted::Layout layout = {(const uint4*)entries, (const sorted::Warp*)warps,                                            \
                                   (sorted::Exchanged*)exchanged, (exchange::Report*)report, rowsOfBlock, spinLimit};                  \
    sorted::run<Lanes, Held, Warps>(run, layout, reinterpret_cast<unsigned char*>(memory), kept);                                \
  }

SORTED_KERNEL(reservoir_sparse_sorted_f32_l1_h7_w12, 1, 7, 12)
SORTED_KERNEL(reservoir_sparse_sorted_f32_l2_h8_w12, 2, 8, 12)
SORTED_KERNEL(reservoir_sparse_sorted_f32_l4_h8_w12, 4, 8, 12)
