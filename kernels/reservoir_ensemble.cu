// Independent reservoirs of up to 256 neurons with dense weights in binary32, one a block
// (docs/internals/many-reservoirs.md).
#include "ensemble_dense.cuh"

ENSEMBLE_DENSE(ensemble_dense_32, 32, 4, 4, 2, 16)
ENSEMBLE_DENSE(ensemble_dense_64, 64, 4, 4, 4, 8)
ENSEMBLE_DENSE(ensemble_dense_96, 96, 4, 4, 6, 4)
ENSEMBLE_DENSE(ensemble_dense_128, 128, 4, 4, 8, 3)
ENSEMBLE_DENSE(ensemble_dense_160, 160, 4, 4, 8, 2)
ENSEMBLE_DENSE(ensemble_dense_200, 200, 4, 4, 12, 1)
ENSEMBLE_DENSE(ensemble_dense_256, 256, 4, 4, 10, 1)
