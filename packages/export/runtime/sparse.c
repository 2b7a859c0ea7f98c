/* A row of a sparse W times the state, for one type of weights (`weight`) and of columns (`column`). */
#if INTEGER
static int32_t sparse_row(const reservoir *m, int r, const neuron *x, int32_t sum)
{
  const weight *w = (const weight *)m->weights;
  const column *columns = (const column *)m->columns;
  uint32_t p;
  for (p = m->row_offsets[r]; p < m->row_offsets[r + 1]; p++) sum += (int32_t)w[p] * x[columns[p]];
  return sum;
}
#else
/* Rule 2: 8 partial sums by position. */
static real sparse_row(const reservoir *m, int r, const real *x)
{
  const uint32_t from = m->row_offsets[r];
  const int count = (int)(m->row_offsets[r + 1] - from);
  const weight *w = (const weight *)m->weights + from;
  const column *columns = (const column *)m->columns + from;
  real partial[8] = {0};
  int p, l;
  for (p = 0; p + 8 <= count; p += 8)
    for (l = 0; l < 8; l++) partial[l] = partial[l] + WEIGHT_OF(w[p + l]) * x[columns[p + l]];
  for (l = 0; p < count; p++, l++) partial[l] = partial[l] + WEIGHT_OF(w[p]) * x[columns[p]];
  return sum_of(partial, 8);
}
#endif

