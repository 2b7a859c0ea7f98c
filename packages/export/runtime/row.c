#if INTEGER
/* sum + row r of W times x. */
static int32_t row_times(const reservoir *m, int r, const neuron *x, int32_t sum)
{
#if DENSE && SPARSE
  return m->row_offsets ? sparse_row(m, r, x, sum) : dense_row(m, r, x, sum);
#endif
#if DENSE && !SPARSE
  return dense_row(m, r, x, sum);
#endif
#if SPARSE && !DENSE
  return sparse_row(m, r, x, sum);
#endif
}
#else
/* Row r of W times x. */
static real row_times(const reservoir *m, int r, const real *x)
{
#if DENSE && SPARSE
  return m->row_offsets ? sparse_row(m, r, x) : dense_row(m, r, x);
#endif
#if DENSE && !SPARSE
  return dense_row(m, r, x);
#endif
#if SPARSE && !DENSE
  return sparse_row(m, r, x);
#endif
}
#endif

