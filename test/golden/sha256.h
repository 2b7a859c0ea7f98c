// SHA-256 (FIPS 180-4) of values as little-endian bytes. Not a library: one message at a time, no error cases.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct {
  uint32_t state[8];
  uint8_t block[64];
  uint64_t bytes;
} Sha256;

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4, 4.2.2).
static const uint32_t sha256_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate_right(uint32_t word, int by) { return word >> by | word << (32 - by); }

static void sha256_block(Sha256 *sha) {
  uint32_t w[64];
  for (int t = 0; t < 16; t++) {
    const uint8_t *b = sha->block + 4 * t;
    w[t] = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
  }
  for (int t = 16; t < 64; t++) {
    uint32_t s0 = rotate_right(w[t - 15], 7) ^ rotate_right(w[t - 15], 18) ^ w[t - 15] >> 3;
    uint32_t s1 = rotate_right(w[t - 2], 17) ^ rotate_right(w[t - 2], 19) ^ w[t - 2] >> 10;
    w[t] = w[t - 16] + s0 + w[t - 7] + s1;
  }
  uint32_t v[8];
  memcpy(v, sha->state, sizeof v);
  for (int t = 0; t < 64; t++) {
    uint32_t s1 = rotate_right(v[4], 6) ^ rotate_right(v[4], 11) ^ rotate_right(v[4], 25);
    uint32_t t1 = v[7] + s1 + ((v[4] & v[5]) ^ (~v[4] & v[6])) + sha256_constants[t] + w[t];
    uint32_t s0 = rotate_right(v[0], 2) ^ rotate_right(v[0], 13) ^ rotate_right(v[0], 22);
    uint32_t t2 = s0 + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
    memmove(v + 1, v, 7 * sizeof *v);
    v[4] += t1;
    v[0] = t1 + t2;
  }
  for (int i = 0; i < 8; i++) sha->state[i] += v[i];
}

static void sha256_start(Sha256 *sha) {
  // The first 32 bits of the fractional parts of the square roots of the first 8 primes (5.3.3).
  static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  memcpy(sha->state, start, sizeof start);
  sha->bytes = 0;
}

static void sha256_byte(Sha256 *sha, uint8_t byte) {
  sha->block[sha->bytes++ % 64] = byte;
  if (sha->bytes % 64 == 0) sha256_block(sha);
}

/** Adds a word of `bytes` bytes, the lowest first. */
static void sha256_word(Sha256 *sha, uint64_t word, int bytes) {
  for (int i = 0; i < bytes; i++) sha256_byte(sha, (uint8_t)(word >> 8 * i));
}

/** Writes 64 hexadecimal digits and a zero. */
static void sha256_finish(Sha256 *sha, char *hex) {
  uint64_t bits = sha->bytes * 8;
  sha256_byte(sha, 0x80);
  while (sha->bytes % 64 != 56) sha256_byte(sha, 0);
  for (int i = 7; i >= 0; i--) sha256_byte(sha, (uint8_t)(bits >> 8 * i));
  for (int i = 0; i < 8; i++) sprintf(hex + 8 * i, "%08x", (unsigned)sha->state[i]);
}
