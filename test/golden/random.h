// Philox4x32-10 (Salmon, Moraes, Dror and Shaw 2011, "Parallel random numbers: as easy as 1, 2, 3") and the draws of docs/numerics.md,
// rule 7.
#include <stdint.h>

typedef enum { UNIFORM, NORMAL, BERNOULLI } Distribution;
enum { STREAM_W, STREAM_INPUT, STREAM_BIAS, STREAM_FEEDBACK, STREAM_INITIAL };
enum { PURPOSE_VALUE, PURPOSE_POSITION };

static void philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]) {
  uint32_t c[4] = {counter[0], counter[1], counter[2], counter[3]}, k[2] = {key[0], key[1]};
  for (int round = 0; round < 10; round++) {
    uint64_t p0 = (uint64_t)0xD2511F53 * c[0], p1 = (uint64_t)0xCD9E8D57 * c[2];
    uint32_t next[4] = {(uint32_t)(p1 >> 32) ^ c[1] ^ k[0], (uint32_t)p1, (uint32_t)(p0 >> 32) ^ c[3] ^ k[1], (uint32_t)p0};
    for (int i = 0; i < 4; i++) c[i] = next[i];
    k[0] += 0x9E3779B9;
    k[1] += 0xBB67AE85;
  }
  for (int i = 0; i < 4; i++) out[i] = c[i];
}

/** 53 bits of two words, 0 <= U < 1. */
static double uniform_of(uint32_t w0, uint32_t w1) { return ((w0 >> 5) * 67108864.0 + (w1 >> 6)) * 0x1p-53; }

static double uniform_draw(const uint32_t key[2], uint32_t row, uint32_t index, uint32_t stream, uint32_t purpose) {
  uint32_t w[4];
  philox((uint32_t[]){index >> 1, row, stream, purpose}, key, w);
  return uniform_of(w[2 * (index & 1)], w[2 * (index & 1) + 1]);
}

static double normal_draw(const uint32_t key[2], uint32_t row, uint32_t index, uint32_t stream, uint32_t purpose) {
  uint32_t w[4];
  philox((uint32_t[]){index, row, stream, purpose}, key, w);
  double u0 = uniform_of(w[0], w[1]), u1 = uniform_of(w[2], w[3]);
  return sqrt(-2 * portable_log(1 - u0)) * portable_cos(6.283185307179586 * u1);
}

static double value_draw(Distribution distribution, const uint32_t key[2], uint32_t row, uint32_t index, uint32_t stream) {
  if (distribution == NORMAL) return normal_draw(key, row, index, stream, PURPOSE_VALUE);
  double u = uniform_draw(key, row, index, stream, PURPOSE_VALUE);
  if (distribution == UNIFORM) return 2 * u - 1;
  return u < .5 ? -1 : 1;
}

/** Writes the positions that a row with this density takes among `candidates`, and returns how many. */
static int draw_positions(const uint32_t key[2], uint32_t row, uint32_t stream, double density, int candidates, int *positions) {
  int count = 0;
  if (density == 0) return 0;
  if (density == 1) {
    for (; count < candidates; count++) positions[count] = count;
    return count;
  }
  double position = -1;
  for (uint32_t i = 0;; i++) {
    double u = uniform_draw(key, row, i, stream, PURPOSE_POSITION);
    position += 1 + floor(portable_log(1 - u) / portable_log(1 - density));
    if (position >= candidates) return count;
    positions[count++] = (int)position;
  }
}
