// One step of a rate reservoir a launch, as reservoir_step has it, with fused products and sums:
// arithmetic "fast" of the streamed plan, and weights of eight bits, which portable arithmetic has
// no order for. Those of four bits are in reservoir_q4k.
#include "streamed_step.cuh"

using namespace streamed;

#define DENSE_STEP(NAME, WEIGHT, ROWS, BATCH)                                                                                                \
  extern "C" __global__ void __launch_bounds__(128, 4)                                                                                       \
      NAME(const WEIGHT* W, const float* xIn, float* xOut, const Chunk* chunk, const float* leak, const float* keep, int N, int stride,      \
           int activation, float noiseLevel, unsigned key0, unsigned key1, int t, int from, const unsigned long long* others, int count) {    \
    denseStep<float, WEIGHT, ROWS, BATCH, true>(W, xIn, xOut, chunk, leak, keep, N, stride, activation, noiseLevel, key0, key1, t, from,     \
                                                Others{others, count});                                                                      \
  }
DENSE_STEP(dense_step_f32_fast, float, 1, 8)
DENSE_STEP(dense_step_f32_bf16_fast, bfloat16, 4, 2)

/** Row r of W is scales[r] times whole numbers. */
extern "C" __global__ void __launch_bounds__(128, 4)
    dense_step_f32_int8(const int8* W, const float* scales, const float* xIn, float* xOut, const Chunk* chunk, const float* leak,
                        const float* keep, int N, int stride, int activation, float noiseLevel, unsigned key0, unsigned key1, int t) {
  denseStep<float, int8, 4, 2, true>(W, xIn, xOut, chunk, leak, keep, N, stride, activation, noiseLevel, key0, key1, t, 0, Others{nullptr, 0}, scales);
}

#define SPARSE_STEP(NAME, WEIGHT, COLUMN, V, STAGED)                                                                                         \
  extern "C" __global__ void __launch_bounds__(1024)                                                                                         \
      NAME(const WEIGHT* values, const COLUMN* columns, const unsigned* offsets, const int* rows, int slices, const float* xIn, float* xOut, \
           const Chunk* chunk, const float* leak, const float* keep, int N, int activation, float noiseLevel, unsigned key0, unsigned key1,  \
           int t, const unsigned long long* others, int count) {                                                                             \
    sparseStep<float, WEIGHT, COLUMN, V, STAGED, true>(values, columns, offsets, rows, slices, xIn, xOut, chunk, leak, keep, N, activation,  \
                                                       noiseLevel, key0, key1, t, Others{others, count});                                    \
  }
#define SPARSE_STEPS(NAME, WEIGHT)                                                                                                           \
  SPARSE_STEP(sparse_step_##NAME##_u16_staged_fast, WEIGHT, unsigned short, 4, true)                                                         \
  SPARSE_STEP(sparse_step_##NAME##_u16_long_fast, WEIGHT, unsigned short, 4, false)                                                          \
  SPARSE_STEP(sparse_step_##NAME##_u16_short_fast, WEIGHT, unsigned short, 1, false)                                                         \
  SPARSE_STEP(sparse_step_##NAME##_u32_long_fast, WEIGHT, unsigned, 4, false)                                                                \
  SPARSE_STEP(sparse_step_##NAME##_u32_short_fast, WEIGHT, unsigned, 1, false)
SPARSE_STEPS(f32, float)
SPARSE_STEPS(f32_bf16, bfloat16)
