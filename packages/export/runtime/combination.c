/* A combination: members that are no closed loops, and the weighted mean of all. Where each of them is lies in `beside`. */
#if BOUNDED
static void bound(double *output);

#endif
#if CLASSICAL
/* A column at its position. POWER and SUM are phi^k and phi + ... + phi^k while it forecasts. */
enum { LEVEL, TREND, LATEST, LOW, HIGH, POWER, SUM, NEXT, INDICES };

/* Takes a value: exponential smoothing with additive errors. */
static void smooth(const smoothing *m, double *s, double value)
{
  const double *p = m->constants;
  double *index = s + INDICES + (int)s[NEXT];
  const double base = s[LEVEL] + p[0] * s[TREND], own = m->season ? *index : 0;
  const double error = value - (m->season == 2 ? base * own : base + own);
  s[LEVEL] = base;
  s[TREND] = p[0] * s[TREND];
  if (error == error) {
    const double change = m->season == 2 ? error / own : error;
    s[LEVEL] = base + p[1] * change;
    s[TREND] = s[TREND] + p[2] * change;
    if (m->season == 1) *index = own + p[3] * error;
    if (m->season == 2 && base != 0) *index = own + (p[3] * error) / base;
  }
  s[NEXT] = s[NEXT] + 1 < m->length ? s[NEXT] + 1 : 0;
  s[LATEST] = value;
  if (value < s[LOW]) s[LOW] = value;
  if (value > s[HIGH]) s[HIGH] = value;
}

/* Step k from here, whose power and sum are those of step k - 1. */
static double smoothed(const smoothing *m, double *s, int k)
{
  double base, value;
  s[POWER] = s[POWER] * m->constants[0];
  s[SUM] = s[SUM] + s[POWER];
  base = value = s[LEVEL] + s[SUM] * s[TREND];
  if (m->season) {
    const double index = s[INDICES + ((int)s[NEXT] + k) % m->length];
    value = m->season == 2 ? base * index : base + index;
  }
  return m->floored && value < m->constants[4] ? m->constants[4] : value;
}

/* Step t of `steps`, at most three ranges of the rows from the last value; the last value if a step is not finite. The
   last step moves it there. */
static void say_smoothed(const smoothing *m, double *s, int t, int steps, int moves, double *said)
{
  int o, k;
  for (o = 0; o < OUTPUTS; o++, s += INDICES + m->length, m++) {
    const double reach = 3 * (s[HIGH] - s[LOW]);
    double value;
    if (t == 0) {
      double lost = 0;
      s[POWER] = 1;
      s[SUM] = 0;
      for (k = 0; k < steps; k++) {
        value = smoothed(m, s, k);
        if (value - value != 0) lost = value - value;
      }
      s[POWER] = 1;
      s[SUM] = lost;
    }
    value = smoothed(m, s, t);
    if (value - value != 0) value = s[LATEST];
    if (value < s[LATEST] - reach) value = s[LATEST] - reach;
    if (value > s[LATEST] + reach) value = s[LATEST] + reach;
    said[o] = value;
    if (!moves || t < steps - 1) continue;
    if (s[SUM] == s[SUM]) {
      s[LEVEL] = s[LEVEL] + s[SUM] * s[TREND];
      s[TREND] = s[POWER] * s[TREND];
    }
    if (m->season) s[NEXT] = ((int)s[NEXT] + steps) % m->length;
    s[LATEST] = value;
  }
}

#endif
#if WINDOWS || LAW
/* weights . features, rule 1 in binary64. */
static double weighed(const double *weights, const double *features, int count)
{
  double partial[32] = {0};
  int k;
  for (k = 0; k < count; k++) partial[k & 31] = partial[k & 31] + weights[k] * features[k];
  return sum_of_doubles(partial, 32);
}

/* Takes a row into `rows` rows, whose oldest goes. */
static void append(double *kept, int rows, const double *row)
{
  int i;
  for (i = 0; i < (rows - 1) * OUTPUTS; i++) kept[i] = kept[i + OUTPUTS];
  for (i = 0; i < OUTPUTS; i++) kept[(rows - 1) * OUTPUTS + i] = row[i];
}

#endif
#if WINDOWS
/* A column's last rows less their mean, over their deviation or half their mean step; gives mean and scale. */
static void scale_window(const entry *m, const double *s, int o, double *scaled, double *mean, double *scale)
{
  double sum = 0, squares = 0, changes = 0, other;
  int i;
  for (i = 0; i < m->window; i++) {
    double value = s[i * OUTPUTS + o];
#if WINDOW_LOG
    if (m->numbers[o] > 0) value = log_of(value > 0 ? value : m->numbers[o]);
#endif
    scaled[i] = value;
    sum = sum + value;
  }
  *mean = sum / m->window;
  for (i = 0; i < m->window; i++) {
    const double from = scaled[i] - *mean, change = i > 0 ? scaled[i] - scaled[i - 1] : 0;
    squares = squares + from * from;
    changes = changes + (change < 0 ? -change : change);
  }
  *scale = root_of(squares / m->window);
  other = 0.5 * changes / m->window;
  if (other > *scale) *scale = other;
  other = 1e-9 * (*mean < 0 ? -*mean : *mean);
  if (other > *scale) *scale = other;
  if (1e-12 > *scale) *scale = 1e-12;
  for (i = 0; i < m->window; i++) scaled[i] = (scaled[i] - *mean) / *scale;
}

/* All steps at once: a readout of the window, and of a reservoir that runs over it from its initial state. */
static void look_ahead(model_state *state, const entry *m, double *s, int o, int steps)
{
  double *scaled = state->beside + KEPT, *features = scaled + m->window, *block = s + m->window * OUTPUTS;
  const int count = 2 * m->size + m->window;
  neuron *x = state->x + LOOP_WIDTH;
  real *u = state->u + MEMBERS * INPUTS;
  double mean, scale, lost = 0;
  int i;
  scale_window(m, s, o, scaled, &mean, &scale);
  for (i = 0; i < m->width; i++) x[i] = m->initial_state ? m->initial_state[i] : 0;
  for (i = 0; i < m->window; i++) {
    *u = (real)scaled[i];
    advance_parts(m->parts, m->count, x, state->next, u, 0, 0);
    features[m->size + i] = *u;
  }
  for (i = 0; i < m->size; i++) {
    features[i] = STATE(x[i]);
    features[m->size + m->window + i] = features[i] * features[i];
  }
  for (i = 0; i < steps; i++) {
    const int row = o * m->horizon + i;
    const real y = (real)(weighed(m->readout + (size_t)row * (size_t)count, features, count) + m->intercept[row]);
    const double base = scaled[m->season > 1 ? m->window - m->season + i % m->season : m->window - 1];
    double value = mean + scale * (y + base);
#if WINDOW_LOG
    if (m->numbers[o] > 0) value = exp_of(value);
#endif
    if (value - value != 0) lost = 1;
    block[i * OUTPUTS + o] = value;
  }
  for (i = 0; lost > 0 && i < steps; i++) block[i * OUTPUTS + o] = s[(m->window - 1) * OUTPUTS + o];
}

/* Step t of `steps`: the readout forecasts so many at once. */
static void say_windows(model_state *state, const entry *m, double *s, int t, int steps, int moves, double *said)
{
  const int k = t % m->horizon;
  double *block = s + m->window * OUTPUTS;
  int o;
  for (o = 0; k == 0 && o < OUTPUTS; o++) look_ahead(state, m, s, o, steps - t < m->horizon ? steps - t : m->horizon);
  for (o = 0; o < OUTPUTS; o++) said[o] = block[k * OUTPUTS + o];
  if (moves) append(s, m->window, said);
}

#endif
#if LAW
/* The row that follows: its change is a polynomial of degree 2 of the last rows, all in z-scores. */
static void say_law(double *features, const entry *m, double *s, int moves, double *said)
{
  const double *mean = m->numbers, *deviation = mean + OUTPUTS, *lower = deviation + OUTPUTS, *upper = lower + OUTPUTS;
  const int variables = m->window * OUTPUTS;
  int i, j, count = variables, o;
  for (i = 0; i < variables; i++) features[i] = s[i];
  for (i = 0; i < variables; i++)
    for (j = i; j < variables; j++) features[count++] = features[i] * features[j];
  for (o = 0; o < OUTPUTS; o++) {
    double value = s[variables - OUTPUTS + o] + (weighed(m->readout + (size_t)o * (size_t)count, features, count) + m->intercept[o]);
    if (moves && !(value >= lower[o] && value <= upper[o])) value = value < lower[o] ? lower[o] : upper[o];
    said[o] = value;
  }
  if (moves) append(s, m->window, said);
  for (o = 0; o < OUTPUTS; o++) said[o] = said[o] * deviation[o] + mean[o];
}

#endif
/* A measured row for all members but the closed loops. */
static void take_row(model_state *state, const double *row)
{
  const entry *m;
  int o;
  for (m = entries; m < entries + ENTRIES; m++) {
    double *s = state->beside + m->at;
#if CLASSICAL
    const smoothing *column = m->columns;
    for (o = 0; m->kind == 1 && o < OUTPUTS; o++, s += INDICES + column->length, column++) smooth(column, s, row[o]);
#endif
#if WINDOWS
    if (m->kind == 2) append(s, m->window, row);
#endif
#if LAW
    if (m->kind == 3) {
      double scores[OUTPUTS];
      for (o = 0; o < OUTPUTS; o++) scores[o] = (row[o] - m->numbers[o]) / m->numbers[OUTPUTS + o];
      append(s, m->window, scores);
    }
#endif
    (void)s;
  }
  (void)o;
  (void)row;
}

/* The weighted mean of what the members say of step t of `steps`, each within its bounds. With `moves` the step is taken
   as a row. `output` may be what the closed loops say. */
static void combine(model_state *state, const double *loops, int t, int steps, int moves, double *output)
{
  double said[OUTPUTS], sum[OUTPUTS];
  const entry *m;
  int o;
  for (o = 0; o < OUTPUTS; o++) said[o] = sum[o] = 0;
  for (m = entries; m < entries + ENTRIES; m++) {
    double *s = state->beside + m->at;
    for (o = 0; m->kind == 0 && o < OUTPUTS; o++) said[o] = loops[o];
#if CLASSICAL
    if (m->kind == 1) say_smoothed(m->columns, s, t, steps, moves, said);
#endif
#if WINDOWS
    if (m->kind == 2) say_windows(state, m, s, t, steps, moves, said);
#endif
#if LAW
    if (m->kind == 3) say_law(state->beside + KEPT, m, s, moves, said);
#endif
#if BOUNDED
    if (BOUNDED) bound(said);
#endif
    for (o = 0; o < OUTPUTS; o++)
      if (m->weights[o] != 0) sum[o] = sum[o] + m->weights[o] * said[o];
    (void)s;
  }
  (void)t;
  (void)steps;
  (void)moves;
  for (o = 0; o < OUTPUTS; o++) output[o] = sum[o];
}
