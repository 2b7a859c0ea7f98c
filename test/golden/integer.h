// One step in integers: docs/numerics.md, rule 18. Every sum is exact in binary64.

/** The values of a row times a vector, added to a sum. */
static double row_sum(double sum, const double *row, const double *x, int count) {
  for (int i = 0; i < count; i++) sum += row[i] * x[i];
  return sum;
}

/** u* or y*. */
static double input_steps(double value) { return within(-32767, nearest(value * 4096), 32767) / 4096; }

static double table_entry(int i) {
  double value = nearest(32768 * tanh_double(i / 64.0));
  return value < 32767 ? value : 32767;
}

/** tanh of z in steps of 2^-15. */
static double integer_tanh(double z) {
  double m = within(0, fabs(z), 262143);
  int i = (int)floor(m / 512);
  double from = table_entry(i), f = from + nearest((table_entry(i + 1) - from) * (m - 512.0 * i) / 512);
  return z < 0 ? -f : f;
}

static void advance_integer(const Model *model, const double *x, const double *u, const double *y, double *next) {
  double *in = allocate((size_t)model->inputs, sizeof *in), *fed = allocate((size_t)model->outputs, sizeof *fed);
  for (int i = 0; i < model->inputs; i++) in[i] = input_steps(u[i]);
  for (int o = 0; o < model->outputs; o++) fed[o] = input_steps(y[o]);
  for (int r = 0; r < model->size; r++) {
    double sum = model->bias[r];
    for (int p = model->row_start[r]; p < model->row_start[r + 1]; p++) sum += model->values[p] * x[model->columns[p]];
    sum = row_sum(sum, model->input_weights + r * model->inputs, in, model->inputs);
    sum = row_sum(sum, model->feedback_weights + r * model->outputs, fed, model->outputs);
    double steps = x[r] * 32768, f = integer_tanh(nearest(sum * 32768));
    next[r] = (steps + nearest(model->leak_rate[r] * (f - steps))) / 32768;
  }
  free(in);
  free(fed);
}
