#if !INTEGER
#if ORTHOGONAL
/* Row r of the matrix of a cell times x, rule 1. */
static real orthogonal_row(const reservoir *m, int r, const real *x)
{
  const real *w = m->orthogonal + (size_t)r * (size_t)m->size;
  real partial[32] = {0};
  int k;
  for (k = 0; k < m->size; k++) partial[k & 31] = partial[k & 31] + w[k] * x[k];
  return sum_of(partial, 32);
}

#endif
#if NOISE
/* A block of Philox4x32-10 (Salmon et al. 2011). */
static void philox(const uint32_t *key, uint32_t step, uint32_t row, uint32_t *c)
{
  uint32_t k0 = key[0], k1 = key[1];
  int round;
  c[0] = step;
  c[1] = row;
  c[2] = 0;
  c[3] = 0;
  for (round = 0; round < 10; round++) {
    const uint64_t a = (uint64_t)0xd2511f53u * c[0], b = (uint64_t)0xcd9e8d57u * c[2];
    c[0] = (uint32_t)(b >> 32) ^ c[1] ^ k0;
    c[1] = (uint32_t)b;
    c[2] = (uint32_t)(a >> 32) ^ c[3] ^ k1;
    c[3] = (uint32_t)a;
    k0 += 0x9e3779b9u;
    k1 += 0xbb67ae85u;
  }
}

/* The noise of neuron r, rule 6: of each block of words four neurons in binary32, or two in binary64. */
static real noise_of(const reservoir *m, uint32_t t, int r, uint32_t *words)
{
#if DOUBLE
  const uint32_t *word = words + (r & 1) * 2;
  if ((r & 1) == 0) philox(m->noise_key, t, (uint32_t)r >> 1, words);
  return *m->noise * (2.0 * (((double)(word[0] >> 5) * 67108864.0 + (double)(word[1] >> 6)) * 0x1p-53) - 1.0);
#else
  if ((r & 3) == 0) philox(m->noise_key, t, (uint32_t)r >> 2, words);
  return (real)(*m->noise * (2.0 * ((double)(words[r & 3] >> 8) * 0x1p-24) - 1.0));
#endif
}

#endif

#endif
#if COMPOSITE
/* What a layer or group takes: the states of the layer below, which are before its own, or columns of the inputs. */
static const real *part_inputs(const reservoir *m, const neuron *x, const real *u, real *taken)
{
  int i;
  if (!m->above && !m->channels) return u;
  for (i = 0; i < m->inputs; i++) taken[i] = m->above ? STATE(x[i - m->inputs]) : u[m->channels[i]];
  return taken;
}

#endif
