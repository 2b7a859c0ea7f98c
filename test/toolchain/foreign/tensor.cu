// wmma of all element types. Each kernel is right if `bug` is 0.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

// bug 1: the matrix begins at an address that is no multiple of 32 bytes... of two. bug 2: not all lanes multiply.
extern "C" __global__ void halves(const half* a, const half* b, float* d, int bug) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.5f);
  wmma::load_matrix_sync(left, (const half*)((const char*)a + (bug == 1)), 16);  // bug 1 halves: misaligned
  wmma::load_matrix_sync(right, b, 16);
  if (bug != 2 || threadIdx.x < 31)
    wmma::mma_sync(sum, left, right, sum);  // bug 2 halves: warpDivergence
  for (int k = 0; k < sum.num_elements; k++) sum.x[k] *= 2;
  wmma::store_matrix_sync(d, sum, 16, wmma::mem_row_major);
}

// bug 1: the stride is one too large.
extern "C" __global__ void bytes(const signed char* a, const signed char* b, const unsigned char* u, const unsigned char* v, int* d, int* e, int bug) {
  wmma::fragment<wmma::matrix_a, 8, 32, 16, signed char, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 8, 32, 16, signed char, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, 8, 32, 16, int> sum;
  wmma::fill_fragment(sum, 1);
  wmma::load_matrix_sync(left, a, 16);
  wmma::load_matrix_sync(right, b, 16);
  wmma::mma_sync(sum, left, right, sum);
  wmma::store_matrix_sync(d, sum, bug == 1 ? 36 : 32, wmma::mem_row_major);  // bug bytes: outOfBounds
  wmma::fragment<wmma::matrix_a, 16, 16, 16, unsigned char, wmma::col_major> up;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, unsigned char, wmma::row_major> down;
  wmma::fragment<wmma::accumulator, 16, 16, 16, int> total;
  wmma::fill_fragment(total, 0);
  wmma::load_matrix_sync(up, u, 16);
  wmma::load_matrix_sync(down, v, 16);
  wmma::mma_sync(total, up, down, total);
  wmma::store_matrix_sync(e, total, 16, wmma::mem_col_major);
}

// bug 1: bits of which nothing wrote the last word.
extern "C" __global__ void bits(const unsigned* a, const unsigned* b, int* d, int bug) {
  __shared__ alignas(16) unsigned box[32];
  if (bug != 1 || threadIdx.x < 31) box[threadIdx.x] = a[threadIdx.x];
  __syncwarp();
  wmma::fragment<wmma::matrix_a, 8, 8, 128, wmma::experimental::precision::b1, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 8, 8, 128, wmma::experimental::precision::b1, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, 8, 8, 128, int> sum;
  wmma::fill_fragment(sum, 0);
  wmma::load_matrix_sync(left, box, 128);  // bug bits: uninitialised
  wmma::load_matrix_sync(right, b, 128);
  wmma::bmma_sync(sum, left, right, sum, wmma::experimental::bmmaBitOpXOR, wmma::experimental::bmmaAccumulateOpPOPC);
  wmma::store_matrix_sync(d, sum, 8, wmma::mem_row_major);
}

#if __CUDA_ARCH__ >= 800
// bug 1: warps store over one another.
extern "C" __global__ void wide(const __nv_bfloat16* a, const __nv_bfloat16* b, const float* p, const float* q, float* d, float* e, int bug) {
  __shared__ float box[2][256];
  int warp = threadIdx.x / 32;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, (float)warp);
  wmma::load_matrix_sync(left, a, 16);
  wmma::load_matrix_sync(right, b, 16);
  wmma::mma_sync(sum, left, right, sum);
  wmma::store_matrix_sync(box[bug == 1 ? 0 : warp], sum, 16, wmma::mem_row_major);  // bug wide: race
  __syncthreads();
  for (int k = threadIdx.x; k < 512; k += 64) d[k] = box[bug == 1 ? 0 : k / 256][k % 256];
  wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> first;
  wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::col_major> second;
  wmma::fragment<wmma::accumulator, 16, 16, 8, float> third;
  wmma::fill_fragment(third, 0.f);
  wmma::load_matrix_sync(first, p, 8);
  wmma::load_matrix_sync(second, q, 8);
  for (int k = 0; k < first.num_elements; k++) first.x[k] = wmma::__float_to_tf32(first.x[k]);
  for (int k = 0; k < second.num_elements; k++) second.x[k] = wmma::__float_to_tf32(second.x[k]);
  wmma::mma_sync(third, first, second, third);
  if (warp == 0) wmma::store_matrix_sync(e, third, 16, wmma::mem_row_major);
}
extern "C" __global__ void doubles(const double* a, const double* b, double* d, int bug) {
  wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, 8, 8, 4, double> sum;
  wmma::load_matrix_sync(left, a, 4);
  wmma::load_matrix_sync(right, b + (bug == 1), 4);  // bug doubles: outOfBounds
  wmma::load_matrix_sync(sum, d, 8, wmma::mem_row_major);
  wmma::mma_sync(sum, left, right, sum);
  wmma::store_matrix_sync(d, sum, 8, wmma::mem_row_major);
}
#endif
