// target: sm_75
// Dense reservoirs that run whole chunks of steps in one launch over all multiprocessors. The loop
// is in include/reservoir_grid.cuh; here are the shapes that are shipped compiled: rows of a warp,
// tiles of 128 columns (of bfloat16 256) held in registers, warps of a block, and whether more
// columns lie elsewhere. Some exist once more with the loop closed.
// src/engine/cuda/persistent/shapes.ts lists them too. With GRID_NAME or GRID_CLOSED_NAME, one
// shape is compiled under that name instead.
#include "grid_kernels.cuh"

#if defined GRID_CLOSED_NAME
GRID_CLOSED(GRID_CLOSED_NAME, GRID_REAL, GRID_WEIGHT, GRID_ROWS, GRID_HELD, GRID_WARPS, GRID_MIXED)
#elif defined GRID_NAME
GRID_KERNEL(GRID_NAME, GRID_REAL, GRID_WEIGHT, GRID_ROWS, GRID_HELD, GRID_WARPS, GRID_MIXED)
#else
GRID_KERNEL(reservoir_grid_f32_r2_h2_w4, float, float, 2, 2, 4, false)
GRID_KERNEL(reservoir_grid_f32_r2_h4_w4, float, float, 2, 4, 4, false)
GRID_KERNEL(reservoir_grid_f32_r2_h8_w4, float, float, 2, 8, 4, false)
GRID_KERNEL(reservoir_grid_f32_r2_h16_w8, float, float, 2, 16, 8, false)
GRID_KERNEL(reservoir_grid_f32_r4_h4_w8, float, float, 4, 4, 8, false)
GRID_KERNEL(reservoir_grid_f32_r4_h10_w8_mixed, float, float, 4, 10, 8, true)
GRID_KERNEL(reservoir_grid_f32_r8_h3_w8_mixed, float, float, 8, 3, 8, true)
GRID_KERNEL(reservoir_grid_f64_r1_h8_w8, double, double, 1, 8, 8, false)
GRID_KERNEL(reservoir_grid_f64_r2_h4_w8_mixed, double, double, 2, 4, 8, true)
GRID_KERNEL(reservoir_grid_f64_r4_h2_w8_mixed, double, double, 4, 2, 8, true)
GRID_CLOSED(reservoir_grid_f32_r2_h8_w4_closed, float, float, 2, 8, 4, false)
GRID_CLOSED(reservoir_grid_f32_r2_h16_w8_closed, float, float, 2, 16, 8, false)
GRID_CLOSED(reservoir_grid_f64_r1_h8_w8_closed, double, double, 1, 8, 8, false)
#endif
