/* Rows of W for every way of storing it, compiled for speed and not for size. */
#include <stddef.h>
#include <stdint.h>

#include "arithmetic.c"
#include "types.c"
#include "sums.c"
#if INTEGER
#include <wasm_simd128.h>
#endif

#pragma clang attribute push(__attribute__((noinline)), apply_to = function)
#if INTEGER
/* Rows of a dense W: sums of whole numbers, in any order. */
static int32_t total_of(v128_t sums, const reservoir *m, int k, const int16_t *w, const neuron *x, int32_t sum)
{
  for (; k < m->size; k++) sum += (int32_t)w[k] * x[k];
  return sum + wasm_i32x4_extract_lane(sums, 0) + wasm_i32x4_extract_lane(sums, 1) + wasm_i32x4_extract_lane(sums, 2) +
         wasm_i32x4_extract_lane(sums, 3);
}

static int32_t dense_row_16(const reservoir *m, int r, const neuron *x, int32_t sum)
{
  const int16_t *w = (const int16_t *)m->weights + (size_t)r * (size_t)m->size;
  v128_t sums = wasm_i32x4_splat(0);
  int k;
  for (k = 0; k + 8 <= m->size; k += 8)
    sums = wasm_i32x4_add(sums, wasm_i32x4_dot_i16x8(wasm_v128_load(w + k), wasm_v128_load(x + k)));
  return total_of(sums, m, k, w, x, sum);
}

static int32_t dense_row_8(const reservoir *m, int r, const neuron *x, int32_t sum)
{
  const int8_t *w = (const int8_t *)m->weights + (size_t)r * (size_t)m->size;
  v128_t sums = wasm_i32x4_splat(0);
  int k;
  for (k = 0; k + 8 <= m->size; k += 8)
    sums = wasm_i32x4_add(sums, wasm_i32x4_dot_i16x8(wasm_i16x8_load8x8(w + k), wasm_v128_load(x + k)));
  for (; k < m->size; k++) sum += (int32_t)w[k] * x[k];
  return total_of(sums, m, m->size, 0, x, sum);
}

#define weight int16_t
#define column uint8_t
#define sparse_row sparse_row_16_8
#include "sparse.c"
#undef column
#undef sparse_row
#define column uint16_t
#define sparse_row sparse_row_16_16
#include "sparse.c"
#undef column
#undef sparse_row
#define column uint32_t
#define sparse_row sparse_row_16_32
#include "sparse.c"
#undef column
#undef sparse_row
#undef weight
#define weight int8_t
#define column uint8_t
#define sparse_row sparse_row_8_8
#include "sparse.c"
#undef column
#undef sparse_row
#define column uint16_t
#define sparse_row sparse_row_8_16
#include "sparse.c"
#undef column
#undef sparse_row
#define column uint32_t
#define sparse_row sparse_row_8_32
#include "sparse.c"
#undef column
#undef sparse_row
#undef weight
#else
#define WEIGHT_OF(w) (w)
#define weight real
#define dense_row dense_row_full
#include "dense.c"
#undef dense_row
#define column uint8_t
#define sparse_row sparse_row_full_8
#include "sparse.c"
#undef column
#undef sparse_row
#define column uint16_t
#define sparse_row sparse_row_full_16
#include "sparse.c"
#undef column
#undef sparse_row
#define column uint32_t
#define sparse_row sparse_row_full_32
#include "sparse.c"
#undef column
#undef sparse_row
#undef weight
#undef WEIGHT_OF
#define WEIGHT_OF(w) weight_of(w)
#define weight uint16_t
#define dense_row dense_row_half
#include "dense.c"
#undef dense_row
#define column uint8_t
#define sparse_row sparse_row_half_8
#include "sparse.c"
#undef column
#undef sparse_row
#define column uint16_t
#define sparse_row sparse_row_half_16
#include "sparse.c"
#undef column
#undef sparse_row
#define column uint32_t
#define sparse_row sparse_row_half_32
#include "sparse.c"
#undef column
#undef sparse_row
#endif
#pragma clang attribute pop

#if INTEGER
int32_t row_times(const reservoir *m, int r, const neuron *x, int32_t sum)
{
  switch (m->stored) {
  case 0: return dense_row_16(m, r, x, sum);
  case 1: return sparse_row_16_8(m, r, x, sum);
  case 2: return sparse_row_16_16(m, r, x, sum);
  case 3: return sparse_row_16_32(m, r, x, sum);
  case 4: return dense_row_8(m, r, x, sum);
  case 5: return sparse_row_8_8(m, r, x, sum);
  case 6: return sparse_row_8_16(m, r, x, sum);
  default: return sparse_row_8_32(m, r, x, sum);
  }
}
#else
real row_times(const reservoir *m, int r, const real *x)
{
  switch (m->stored) {
  case 0: return dense_row_full(m, r, x);
  case 1: return sparse_row_full_8(m, r, x);
  case 2: return sparse_row_full_16(m, r, x);
  case 3: return sparse_row_full_32(m, r, x);
  case 4: return dense_row_half(m, r, x);
  case 5: return sparse_row_half_8(m, r, x);
  case 6: return sparse_row_half_16(m, r, x);
  default: return sparse_row_half_32(m, r, x);
  }
}
#endif
