/* A row of a dense W times the state, for one type of weights (`weight`). */
#if INTEGER
static int32_t dense_row(const reservoir *m, int r, const neuron *x, int32_t sum)
{
  const weight *w = (const weight *)m->weights + (size_t)r * (size_t)m->size;
  int k;
  for (k = 0; k < m->size; k++) sum += (int32_t)w[k] * x[k];
  return sum;
}
#else
/* Rule 1: 32 partial sums. */
static real dense_row(const reservoir *m, int r, const real *x)
{
  const weight *w = (const weight *)m->weights + (size_t)r * (size_t)m->size;
  const int size = m->size;
  real partial[32] = {0};
  int k, l;
  for (k = 0; k + 32 <= size; k += 32)
    for (l = 0; l < 32; l++) partial[l] = partial[l] + WEIGHT_OF(w[k + l]) * x[k + l];
  for (l = 0; k < size; k++, l++) partial[l] = partial[l] + WEIGHT_OF(w[k]) * x[k];
  return sum_of(partial, 32);
}
#endif

