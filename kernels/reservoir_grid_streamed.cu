// target: sm_80
// Shapes of the grid's kernels whose W is larger than the chip, for devices where a load may say
// what L2 is to keep: reservoir_grid.cu has the others.
#include "grid_kernels.cuh"

GRID_KERNEL(reservoir_grid_f32_r5_h6_w8_mixed, float, float, 5, 6, 8, true)
GRID_KERNEL(reservoir_grid_f32_r6_h5_w8_mixed, float, float, 6, 5, 8, true)
GRID_KERNEL(reservoir_grid_f32_bf16_r4_h5_w12_mixed, float, packing::bfloat16, 4, 5, 12, true)
