// Independent reservoirs as reservoir_ensemble and reservoir_ensemble_general have them, for
// `arithmetic: "fast"`: products and sums fused, in an order of their own, tanh in binary32 from
// the device's approximate exponential. docs/internals/many-reservoirs.md has the tolerance.
#define FAST_ARITHMETIC
#include "ensemble_dense.cuh"
#include "ensemble_general.cuh"

ENSEMBLE_DENSE(ensemble_dense_32_fast, 32, 4, 4, 2, 16)
ENSEMBLE_DENSE(ensemble_dense_64_fast, 64, 4, 4, 4, 8)
ENSEMBLE_DENSE(ensemble_dense_96_fast, 96, 4, 4, 6, 4)
ENSEMBLE_DENSE(ensemble_dense_128_fast, 128, 4, 4, 8, 3)
ENSEMBLE_DENSE(ensemble_dense_160_fast, 160, 4, 4, 8, 2)
ENSEMBLE_DENSE(ensemble_dense_200_fast, 200, 4, 4, 13, 1)
ENSEMBLE_DENSE(ensemble_dense_256_fast, 256, 4, 4, 12, 1)

ENSEMBLE_GENERAL(f32_fast, float)
ENSEMBLE_GENERAL(f64_fast, double)
