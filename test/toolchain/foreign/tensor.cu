// wmma of all element types. Each kernel is right if `bug` is 0.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <mma.h>
using namespace nvcuda;

// bug 1: the matrix begins at an address that is no multiple of 32 bytes... of two. bug 2: not all
// lanes multiply.
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

// Sums that saturate. bug 1: the distance of rows is said in bits.
extern "C" __global__ void nibbles(const void* a, const void* b, const int* c, int* d, const unsigned char* u, const unsigned char* v, int* e, int bug) {
  wmma::fragment<wmma::matrix_a, 8, 8, 32, wmma::experimental::precision::s4, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 8, 8, 32, wmma::experimental::precision::s4, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, 8, 8, 32, int> sum;
  wmma::load_matrix_sync(sum, c, 8, wmma::mem_col_major);
  wmma::load_matrix_sync(left, a, bug == 1 ? 128 : 32);  // bug nibbles: outOfBounds
  wmma::load_matrix_sync(right, b, 32);
  wmma::mma_sync(sum, left, right, sum, true);
  wmma::store_matrix_sync(d, sum, 8, wmma::mem_row_major);
  wmma::fragment<wmma::matrix_a, 32, 8, 16, unsigned char, wmma::col_major> up;
  wmma::fragment<wmma::matrix_b, 32, 8, 16, unsigned char, wmma::row_major> down;
  wmma::fragment<wmma::accumulator, 32, 8, 16, int> total;
  wmma::fill_fragment(total, 0x7fff0000);
  wmma::load_matrix_sync(up, u, 32);
  wmma::load_matrix_sync(down, v, 8);
  wmma::mma_sync(total, up, down, total, true);
  wmma::store_matrix_sync(e, total, 8, wmma::mem_row_major);
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

// bug 1: a warp stores before the other has loaded.
extern "C" __global__ void common_bits(const unsigned* a, const unsigned* b, int* d, int bug) {
  __shared__ alignas(16) unsigned box[32];
  if (threadIdx.x < 32) box[threadIdx.x] = a[threadIdx.x];
  if (bug != 1) __syncthreads();
  wmma::fragment<wmma::matrix_a, 8, 8, 128, wmma::experimental::precision::b1, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 8, 8, 128, wmma::experimental::precision::b1, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, 8, 8, 128, int> sum;
  wmma::fill_fragment(sum, (int)threadIdx.x / 32);
  wmma::load_matrix_sync(left, box, 128);  // bug common_bits: race uninitialised
  wmma::load_matrix_sync(right, b, 128);
  wmma::bmma_sync(sum, left, right, sum, wmma::experimental::bmmaBitOpAND, wmma::experimental::bmmaAccumulateOpPOPC);
  wmma::store_matrix_sync(d + threadIdx.x / 32 * 64, sum, 8, wmma::mem_row_major);
}
#endif

#if __CUDA_ARCH__ >= 890
// Products of 8-bit floats, made of numbers here. bug 1: half of the warp multiplies.
extern "C" __global__ void float_bytes(const float* a, const float* b, float* d, half* e, int bug) {
  int group = threadIdx.x / 4, member = threadIdx.x % 4;
  union { unsigned word[4]; __nv_fp8_e4m3 at[16]; } left;
  union { unsigned word[2]; __nv_fp8_e5m2 at[8]; } right;
  for (int i = 0; i < 16; i++) left.at[i] = __nv_fp8_e4m3(a[32 * (group + i / 4 % 2 * 8) + member * 4 + i % 4 + i / 8 * 16]);
  for (int i = 0; i < 8; i++) right.at[i] = __nv_fp8_e5m2(b[8 * (member * 4 + i % 4 + i / 4 * 16) + group]);
  float sum[4] = {1, 2, 3, 4};
  unsigned sums[2] = {0, 0};
  if (bug != 1 || threadIdx.x < 16)
    asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(left.word[0]), "r"(left.word[1]), "r"(left.word[2]), "r"(left.word[3]), "r"(right.word[0]), "r"(right.word[1]));  // bug float_bytes: warpDivergence
  asm volatile("mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e5m2.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
               : "+r"(sums[0]), "+r"(sums[1])
               : "r"(left.word[0]), "r"(left.word[1]), "r"(left.word[2]), "r"(left.word[3]), "r"(right.word[0]), "r"(right.word[1]));
  for (int i = 0; i < 4; i++) {
    int at = 8 * (group + i / 2 * 8) + member * 2 + i % 2;
    d[at] = sum[i];
    e[at] = __ushort_as_half(sums[i / 2] >> 16 * (i % 2));
  }
}
#endif
