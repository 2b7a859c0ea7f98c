#if SQUASH
/* tanh(x - 1) in place of x, and what undoes it. */
static double squash(double x)
{
  return tanh_of_double(x - 1);
}

static double squash_undone(double x)
{
  const double least = -0x1.fffffffffffffp-1;
  const double inside = x < least ? least : x > -least ? -least : x;
  return 1 + 0.5 * log_of((1 + inside) / (1 - inside));
}

#endif
#if BOX_COX
/* Box and Cox's transform by a power. */
static double box_cox(double value, double power)
{
  if (value == 0 && power > 0) return -1 / power;
  if (power == 0 || !(value > 0)) return log_of(value);
  return (pow_of(value, power) - 1) / power;
}

static double box_cox_undone(double value, double power, double ten_times)
{
  double least, base;
  if (power == 0) return exp_of(value);
  least = power > 0 ? 0 : pow_of(ten_times, power);
  base = power * value + 1;
  return pow_of(base < least ? least : base, 1 / power);
}

#endif
#if DIFFERENCES
/* Takes a row into a window of `lag` rows, whose oldest goes. */
static void take(double *window, int lag, const double *row)
{
  int i;
  for (i = 0; i < (lag - 1) * OUTPUTS; i++) window[i] = window[i + OUTPUTS];
  for (i = 0; i < OUTPUTS; i++) window[(lag - 1) * OUTPUTS + i] = row[i];
}

/* row - the row before it by `lag`. */
static void difference(double *window, int lag, double *row)
{
  double before[OUTPUTS];
  int o;
  for (o = 0; o < OUTPUTS; o++) before[o] = window[o];
  take(window, lag, row);
  for (o = 0; o < OUTPUTS; o++) row[o] = row[o] - before[o];
}

static void sum_up(double *window, int lag, double *row, int moves)
{
  int o;
  for (o = 0; o < OUTPUTS; o++) row[o] = row[o] + window[o];
  if (moves) take(window, lag, row);
}

#endif
/* What the model takes of a row of the series, in place. Each difference has a window of its own in `past`. */
static void forward(const member *m, double *past, double *row)
{
  const transform *step;
  int o;
  for (step = m->transforms; step < m->transforms + m->steps; step++) {
#if DIFFERENCES
    if (step->kind == 0) {
      difference(past, step->lag, row);
      past += step->lag * OUTPUTS;
    }
#endif
#if SQUASH
    if (step->kind == 1)
      for (o = 0; o < OUTPUTS; o++) row[o] = squash(row[o]);
#endif
#if LOGARITHM
    if (step->kind == 2)
      for (o = 0; o < OUTPUTS; o++) row[o] = log_of(row[o] + step->a[0]);
#endif
#if STANDARDISE
    if (step->kind == 3)
      for (o = 0; o < OUTPUTS; o++) row[o] = (row[o] - step->a[o]) / step->b[o];
#endif
#if BOX_COX
    if (step->kind == 4)
      for (o = 0; o < OUTPUTS; o++) row[o] = box_cox(row[o], step->a[o]);
#endif
  }
  (void)past;
  (void)o;
}

/* The row of the series that a forecast of the model means, in place; with `moves` it is taken as measured. */
static void undo(const member *m, double *past, double *row, int moves)
{
  const transform *step;
  int o;
#if DIFFERENCES
  past += m->lost * OUTPUTS;
#endif
  for (step = m->transforms + m->steps; step > m->transforms;) {
    step--;
#if DIFFERENCES
    if (step->kind == 0) {
      past -= step->lag * OUTPUTS;
      sum_up(past, step->lag, row, moves);
    }
#endif
#if SQUASH
    if (step->kind == 1)
      for (o = 0; o < OUTPUTS; o++) row[o] = squash_undone(row[o]);
#endif
#if LOGARITHM
    if (step->kind == 2)
      for (o = 0; o < OUTPUTS; o++) row[o] = exp_of(row[o]) - step->a[0];
#endif
#if STANDARDISE
    if (step->kind == 3)
      for (o = 0; o < OUTPUTS; o++) row[o] = row[o] * step->b[o] + step->a[o];
#endif
#if BOX_COX
    if (step->kind == 4)
      for (o = 0; o < OUTPUTS; o++) row[o] = box_cox_undone(row[o], step->a[o], step->b[o]);
#endif
  }
  (void)past;
  (void)o;
  (void)moves;
}

