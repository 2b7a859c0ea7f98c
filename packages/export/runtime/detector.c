static double clip(double v, double c)
{
  return v > c ? c : v < -c ? -c : v;
}

static double size_of(double v)
{
  return v < 0 ? -v : v;
}

static double larger(double a, double b)
{
  return a > b ? a : b;
}

/* No number. */
static double nothing(void)
{
  union { uint64_t bits; double value; } none;
  none.bits = 0x7ff8000000000000ULL;
  return none.value;
}

/* asinh(x) = log(x + sqrt(x x + 1)), odd. */
static double asinh_of(double x)
{
  const double v = size_of(x), g = log_of(v + root_of(v * v + 1));
  return x < 0 ? -g : g;
}

/* Behind `shared`: columns, each with its banks (a count, then patterns, rows of last use and of birth); then of the
   forecast the sums A (lower triangle) and B, the weights W, the features f; then what a row works in, which is not kept. */
#define BANK_WIDTH (1 + PATTERNS * (SCALES + 2))
#define COLUMN_WIDTH ((int)(sizeof(column) / sizeof(double)) + BANKS * BANK_WIDTH)
#define SUMS_AT ((int)(sizeof(shared) / sizeof(double)) + COLUMNS * COLUMN_WIDTH)
#define CROSS_AT (SUMS_AT + FEATURES * (FEATURES + 1) / 2)
#define WEIGHTS_AT (CROSS_AT + COLUMNS * FEATURES)
#define FEATURES_AT (WEIGHTS_AT + COLUMNS * FEATURES)
#define WORK_AT (FEATURES_AT + FEATURES)

static column *column_of(double *state, int c)
{
  return (column *)(state + sizeof(shared) / sizeof(double) + (size_t)c * (size_t)COLUMN_WIDTH);
}

/* ---- banks of patterns ---- */

/* The distance of a trace to the nearest pattern of a bank, 0 if it has none. The pattern is marked as used; a trace that
   is not within the radius is stored, in place of the pattern that was used longest ago if the bank is full. */
static double bank_step(double *bank, double radius, const double *trace, double clock, int *scale)
{
  double *patterns = bank + 1, *used = patterns + PATTERNS * SCALES, *born = used + PATTERNS;
  const int count = (int)bank[0];
  double best = 0;
  int nearest = -1, k, i;
  for (k = 0; k < count; k++) {
    const double *pattern = patterns + k * SCALES;
    double d = 0;
    int at = 0;
    for (i = 0; i < SCALES && (nearest < 0 || d < best); i++) {
      const double e = size_of(trace[i] - pattern[i]);
      if (e > d) {
        d = e;
        at = i;
      }
    }
    if (nearest < 0 || d < best) {
      best = d;
      nearest = k;
      *scale = at;
    }
  }
  if (nearest >= 0 && best < radius) {
    used[nearest] = clock;
    return best;
  }
  k = count;
  if (count < PATTERNS) bank[0] = count + 1;
  else
    for (k = 0, i = 1; i < PATTERNS; i++)
      if (used[i] < used[k]) k = i;
  for (i = 0; i < SCALES; i++) patterns[k * SCALES + i] = trace[i];
  used[k] = born[k] = clock;
  return best;
}

/* Removes the patterns that were stored from one row to another. */
static void forget(double *bank, double from, double to)
{
  double *patterns = bank + 1, *used = patterns + PATTERNS * SCALES, *born = used + PATTERNS;
  int count = (int)bank[0], k = 0, i;
  while (k < count) {
    if (born[k] >= from && born[k] <= to) {
      count--;
      for (i = 0; i < SCALES; i++) patterns[k * SCALES + i] = patterns[count * SCALES + i];
      used[k] = used[count];
      born[k] = born[count];
    } else k++;
  }
  bank[0] = count;
}

/* ---- novelty, stuck values ---- */

/* The kind of alarm of a column, which has a value in this row. */
static int novelty(column *s, double z, double clock, double *score, int *scale)
{
  const double g = asinh_of(z / settings[SQUASH]);
  double *banks = (double *)(s + 1), sum = 0, part = 1;
  int b, k, other, novel;
  for (k = 0; k < SCALES; k++, part = part / settings[RATIO]) s->trace[k] = s->trace[k] + part * (g - s->trace[k]);
  for (b = 0; b < BANKS; b++) {
    const double radius = settings[RADIUS + b];
    sum = sum + bank_step(banks + b * BANK_WIDTH, radius, s->trace, clock, b == 1 ? scale : &other) / radius;
  }
  *score = sum / BANKS / s->limit;
  if (s->count < settings[WARM_UP]) return 0;
  novel = *score >= 1 && clock - s->novel_at > settings[MERGE_ROWS];
  if (novel) s->novel_at = clock;
  s->limit = larger(settings[LEAST_LIMIT], s->limit * (novel ? settings[RISE] : settings[FALL]));
  if (!novel || settings[FIND_NOVELTY] == 0) return 0;
  s->alarm_at = clock;
  return BY_NOVELTY;
}

static int stuck(column *s, double value, double clock)
{
  double most;
  if (s->changes > 0 && value == s->previous) s->run = s->run + 1;
  else {
    if (s->changes > 0) s->longest = larger(s->longest, s->run);
    s->run = 0;
    s->changes = s->changes + 1;
  }
  s->previous = value;
  most = larger(50, 3 * s->longest);
  if (settings[FIND_STUCK] == 0 || s->changes <= 100 || s->run < most || s->run - 1 >= most) return 0;
  if (clock - s->alarm_at <= settings[MERGE_ROWS]) return 0;
  s->alarm_at = clock;
  return BY_STUCK;
}

/* ---- the tail of the errors: a histogram that forgets, and a generalised Pareto distribution above a quantile ---- */

#if FORECAST
static int counter_of(double r)
{
  double at;
  if (!(r > 1e-5)) return 0;
  at = log_of(r / 1e-5) * 0x1.bcb7b1526e50ep-2 * 64;
  return at >= COUNTERS - 2 ? COUNTERS - 1 : 1 + (int)at;
}

static double low_of(int b)
{
  return b == 0 ? 0 : 1e-5 * exp_of((b - 1) / 64.0 * 0x1.26bb1bbb55516p+1);
}

static double high_of(int b)
{
  return low_of(b + 1 < COUNTERS ? b + 1 : b);
}

static void tail_fit(column *s)
{
  double acc = 0, a0 = 0, a1 = 0, rest, d, shape;
  int b = COUNTERS - 1, k;
  s->fitted = 0;
  if (s->total / s->step * .1 < 10) return;
  while (b > 0 && acc + s->counters[b] <= .1 * s->total) acc = acc + s->counters[b--];
  b++;
  if (b >= COUNTERS || !(acc > 0)) return;
  s->edge = low_of(b);
  rest = acc;
  for (k = b; k < COUNTERS; k++) {
    if (s->counters[k] > 0) {
      const double y = .5 * (low_of(k) + high_of(k)) - s->edge, w = s->counters[k] / acc;
      a0 = a0 + w * y;
      a1 = a1 + w * y * (rest - .5 * s->counters[k]) / acc;
      rest = rest - s->counters[k];
    }
  }
  if (!(a0 > 1e-12)) return;
  d = a0 - 2 * a1;
  shape = d > 1e-9 * a0 ? 2 - a0 / d : .5;
  s->shape = shape < 0 ? 0 : shape > .5 ? .5 : shape;
  s->excess = a0 * (1 - s->shape);
  s->above = (acc + .5 * s->step) / (s->total + s->step);
  s->fitted = 1;
}

/* The share of earlier errors of at least r, from how many lie above r's counter. */
static double share_of(const column *s, double r, int b, double above)
{
  const double part = b == 0 || b == COUNTERS - 1 ? 1 : (high_of(b) - r) / (high_of(b) - low_of(b));
  const double c = above + s->counters[b] * part;
  double p;
  if (s->fitted == 0 || !(r > s->edge)) {
    p = (c + s->step) / (s->total + s->step);
    return p < 1 ? p : 1;
  }
  p = (r - s->edge) / s->excess;
  p = s->above * (s->shape < 1e-6 ? exp_of(-p) : exp_of(-log_of(1 + s->shape * p) / s->shape));
  return larger(larger(p, c / (s->total + s->step)), 1e-30);
}

static double tail_share(const column *s, double r)
{
  const int b = counter_of(r);
  double above = 0;
  int k;
  if (s->total / s->step < 30) return 1;
  for (k = COUNTERS - 1; k > b; k--) above = above + s->counters[k];
  return share_of(s, r, b, above);
}

/* The smallest r whose share is at most p, by bisection of its logarithm; -1 before the fit. */
static double tail_quantile(const column *s, double p)
{
  double a = -12, b = 12;
  int i;
  if (s->fitted == 0) return -1;
  for (i = 0; i < 40; i++) {
    const double m = .5 * (a + b);
    if (tail_share(s, exp_of(m)) > p) a = m;
    else b = m;
  }
  return exp_of(b);
}

static void tail_add(column *s, double r)
{
  const int b = counter_of(r);
  int k;
  s->step = s->step * (1 / (1 - 1 / 8000.0));
  s->counters[b] = s->counters[b] + s->step;
  s->total = s->total + s->step;
  if (s->step > 1e200) {
    const double scale = 1 / s->step;
    for (k = 0; k < COUNTERS; k++) s->counters[k] = s->counters[k] * scale;
    s->total = s->total * scale;
    s->step = 1;
  }
  s->taken = s->taken + 1;
  k = (int)(s->taken - (double)(int64_t)(s->taken / 32) * 32);
  if (s->taken < 256 ? (k & 7) == 0 : k == 0) tail_fit(s);
}

/* ---- the forecast: ridge regression with forgetting on lags, calendar and a reservoir ---- */

static void add_row(double *state, const double *z)
{
  const double keep = 1 - 1 / settings[MEMORY];
  double *sums = state + SUMS_AT, *cross = state + CROSS_AT;
  const double *f = state + FEATURES_AT;
  int i, j, c;
  for (i = 0; i < FEATURES; i++) {
    const double v = f[i];
    for (j = 0; j <= i; j++) sums[j] = keep * sums[j] + v * f[j];
    sums += i + 1;
  }
  for (c = 0; c < COLUMNS; c++)
    for (i = 0; i < FEATURES; i++) cross[c * FEATURES + i] = keep * cross[c * FEATURES + i] + f[i] * z[c];
}

/* W of (A + I) W = B, by Cholesky; column after column of L is taken from the rows below. 0 if A is not definite. */
static int solve(double *state)
{
  double *l = state + WORK_AT, *below = l + FEATURES * (FEATURES + 1) / 2;
  const double *sums = state + SUMS_AT;
  int i, j, k, c;
  for (i = 0; i < FEATURES * (FEATURES + 1) / 2; i++) l[i] = sums[i];
  for (i = 0; i < FEATURES; i++) l[i * (i + 1) / 2 + i] = l[i * (i + 1) / 2 + i] + (i == 0 ? .01 : 1);
  for (j = 0; j < FEATURES; j++) {
    const double left = l[j * (j + 1) / 2 + j];
    double pivot;
    if (!(left > 0)) return 0;
    pivot = root_of(left);
    l[j * (j + 1) / 2 + j] = pivot;
    for (i = j + 1; i < FEATURES; i++) below[i] = l[i * (i + 1) / 2 + j] / pivot;
    for (i = j + 1; i < FEATURES; i++) {
      double *row = l + i * (i + 1) / 2;
      const double v = below[i];
      row[j] = v;
      for (k = j + 1; k <= i; k++) row[k] = row[k] - v * below[k];
    }
  }
  for (c = 0; c < COLUMNS; c++) {
    double *w = state + WEIGHTS_AT + c * FEATURES;
    const double *b = state + CROSS_AT + c * FEATURES;
    for (i = 0; i < FEATURES; i++) {
      double sum = b[i];
      for (k = 0; k < i; k++) sum = sum - l[i * (i + 1) / 2 + k] * w[k];
      w[i] = sum / l[i * (i + 1) / 2 + i];
    }
    for (i = FEATURES - 1; i >= 0; i--) {
      double sum = w[i];
      for (k = i + 1; k < FEATURES; k++) sum = sum - l[k * (k + 1) / 2 + i] * w[k];
      w[i] = sum / l[i * (i + 1) / 2 + i];
    }
  }
  return 1;
}

/* The features of a row: 1, the last values of each column, the calendar, the reservoir's state. */
static void next_features(double *state, const double *z, const double *calendar)
{
  double *f = state + FEATURES_AT, *cycles = f + 1 + LAGS * COLUMNS;
  int c, k;
#if SIZE
  double *h = cycles + CYCLES, *next = state + WORK_AT;
  int i;
  for (i = 0; i < SIZE; i++) {
    const double *w = input_weights + i * (COLUMNS + 2);
    double sum = biases[i];
    for (c = 0; c < COLUMNS; c++) sum = sum + w[c] * z[c];
    sum = sum + w[COLUMNS] * calendar[0];
    sum = sum + w[COLUMNS + 1] * calendar[1];
    for (k = (int)recurrent_rows[i]; k < (int)recurrent_rows[i + 1]; k++) sum = sum + recurrent[k] * h[recurrent_columns[k]];
    next[i] = (1 - leak_rates[i]) * h[i] + leak_rates[i] * tanh_of_double(sum);
  }
  for (i = 0; i < SIZE; i++) h[i] = next[i];
#endif
  f[0] = 1;
  for (c = 0; c < COLUMNS; c++) {
    double *lags = f + 1 + LAGS * c;
    for (k = LAGS - 1; k > 0; k--) lags[k] = lags[k - 1];
    lags[0] = z[c];
  }
  for (k = 0; k < CYCLES; k++) cycles[k] = calendar[k];
}
#endif

/* ---- a row ---- */

#if JOINT
/* Moves the limits of the P columns that have a value, by whether a row begins an incident by novelty. Where N of them are
   odd, `novelty` moved the mean of their logarithms by GAIN (N / P - rate / COLUMNS); in all it is GAIN (begins - rate). */
static void move_limits(double *state, int begins)
{
  const shared *s = (const shared *)state;
  double factor = settings[COMMON_FALL];
  int c, present = 0, odd = 0;
  for (c = 0; c < COLUMNS; c++) {
    const column *own = column_of(state, c);
    if (own->gone > 0 || own->count < settings[WARM_UP]) continue;
    present++;
    if (own->novel_at == s->clock) odd++;
  }
  if (odd > 0) factor = factor * exp_of(settings[COMMON_GAIN] * (begins - odd / (double)present));
  for (c = 0; c < COLUMNS; c++) {
    column *own = column_of(state, c);
    if (own->gone == 0 && own->count >= settings[WARM_UP]) own->limit = own->limit * factor;
  }
}
#endif

static void note_alarm(shared *s, int c, int is_new)
{
  const int at = (int)s->next_alarm;
  if (is_new) {
    s->alarm_at = s->clock;
    s->alarm_column = c;
    s->incidents = s->incidents + 1;
  }
  s->alarm_rows[at] = s->row;
  s->alarm_clocks[at] = s->clock;
  s->alarm_times[at] = s->instant;
  s->alarm_columns[at] = c;
  s->alarm_numbers[at] = s->incidents;
  s->next_alarm = (at + 1) % PAST_ALARMS;
}

/* What a column says of its value before it learns it: of the row `z` and the error of its forecast. The kind of alarm. */
static int look(double *state, int c, double value, double z, double error, double *of, int *scale)
{
  shared *s = (shared *)state;
  column *own = column_of(state, c);
  int alarm = own->count >= 21 ? novelty(own, z, s->clock, &of[COLUMN_SCORE], scale) : 0;
  const int is_stuck = stuck(own, value, s->clock);
  if (alarm == 0) alarm = is_stuck;
#if FORECAST
  if (FORECAST) of[COLUMN_P_VALUE] = 1;
  if (own->count >= 100 && s->solved > 0) {
    const double r = size_of(error) / larger(own->sigma, 1e-9);
    const double p = tail_share(own, r);
    of[COLUMN_P_VALUE] = p;
    tail_add(own, r);
    if (own->errors / 8 == (double)(int64_t)(own->errors / 8)) own->band = tail_quantile(own, settings[BAND_SHARE]);
    if (settings[FIND_SURPRISE] != 0 && alarm == 0 && own->count >= settings[WARM_UP] && p <= settings[SURPRISE_SHARE] &&
        s->clock - own->alarm_at > settings[MERGE_ROWS]) {
      alarm = BY_SURPRISE;
      own->alarm_at = s->clock;
    }
  }
#endif
  (void)error;
  return alarm;
}

/* A column learns a value: the size of the forecast's errors, then location and scale. */
static void learn(column *own, double value, double error, int is_solved)
{
  double d, share;
#if FORECAST
  if (is_solved) {
    double a = size_of(error);
    own->errors = own->errors + 1;
    /* Errors that were all 0 so far say nothing of what is large. */
    if (own->errors > 30 && own->sigma > 0 && a > 6 * own->sigma) a = 6 * own->sigma;
    own->sigma = own->sigma + (a - own->sigma) / (own->errors < 300 ? own->errors : 300);
  }
#endif
  own->count = own->count + 1;
  share = 1 / (own->count + 1 < settings[MEMORY] ? own->count + 1 : settings[MEMORY]);
  d = value - own->mean;
  if (own->count > 30 && own->scale > 0) d = clip(d, 6 * own->scale);
  own->mean = own->mean + share * d;
  own->scale = own->scale + share * (1.2533 * size_of(d) - own->scale);
  if (own->scale > 0 && own->count > 3) own->scale = larger(own->scale, 1e-9 * size_of(own->mean));
  (void)error;
  (void)is_solved;
}

/* Takes a row; `row` is null for a missing row of a gap. */
static void take(double *state, const double *row, double *out)
{
  shared *s = (shared *)state;
  double z[COLUMNS], errors[COLUMNS], values[COLUMNS];
  int c, some = 0, is_first = 1;
  out[SCORE] = 0;
  out[P_VALUE] = 2;
  out[ALARM] = 0;
  out[CAUSE_COLUMN] = out[CAUSE_ROWS] = -1;
  out[ONGOING] = s->clock - s->alarm_at <= settings[MERGE_ROWS];
  for (c = 0; c < COLUMNS; c++) {
    column *own = column_of(state, c);
    double *of = out + OF_ROW + c * OF_COLUMN, predicted = 0, value = row ? row[c] : 0, half;
    const int is_missing = !row || !(size_of(value) <= 1e300);
    int alarm = 0, scale = -1;
#if FORECAST
    const double *f = state + FEATURES_AT, *w = state + WEIGHTS_AT + c * FEATURES;
    int i;
    for (i = 0; s->solved > 0 && i < FEATURES; i++) predicted = predicted + w[i] * f[i];
    predicted = clip(predicted, 8);
#endif
    half = clip(own->scale * (own->sigma * own->band), 7e307);
    of[EXPECTED] = clip(own->mean + own->scale * predicted, 1e308);
    of[LOWER] = own->band < 0 ? nothing() : of[EXPECTED] - half;
    of[UPPER] = own->band < 0 ? nothing() : of[EXPECTED] + half;
    of[COLUMN_SCORE] = 0;
    of[COLUMN_P_VALUE] = nothing();
    if (is_missing) {
      if (row && value == value) s->refused = s->refused + 1;
      value = of[EXPECTED];
    } else if (own->count == 0) own->mean = value;
    z[c] = own->scale > 0 ? clip((value - own->mean) / own->scale, 1e100) : value == own->mean ? 0 : value > own->mean ? 8 : -8;
    errors[c] = z[c] - predicted;
    values[c] = value;
    own->gone = is_missing ? own->gone + 1 : 0;
    if (!is_missing) {
      alarm = look(state, c, value, z[c], errors[c], of, &scale);
      some = 1;
    } else if (row && own->gone == settings[MERGE_ROWS] + 1 && settings[FIND_MISSING] != 0) alarm = BY_MISSING;
    if (!FORECAST || own->count == 0) of[EXPECTED] = nothing();
    of[COLUMN_ALARM] = alarm;
    if (is_first && scale >= 0 && (out[CAUSE_COLUMN] < 0 || of[COLUMN_SCORE] > out[SCORE])) {
      out[CAUSE_COLUMN] = c;
      out[CAUSE_ROWS] = 1 << scale;
    }
    out[SCORE] = larger(out[SCORE], of[COLUMN_SCORE]);
    if (of[COLUMN_P_VALUE] < out[P_VALUE]) out[P_VALUE] = of[COLUMN_P_VALUE];
    if (alarm != 0) {
      /* An alarm of another column within an incident belongs to it. */
      const int is_new = is_first && (s->clock - s->alarm_at > settings[MERGE_ROWS] || c == (int)s->alarm_column);
      note_alarm(s, c, is_new);
      if (is_new) {
        out[ALARM] = alarm;
        out[CAUSE_COLUMN] = c;
        out[CAUSE_ROWS] = alarm == BY_NOVELTY ? 1 << scale : alarm == BY_SURPRISE ? 1 : alarm == BY_STUCK ? own->run : own->gone;
        out[ONGOING] = 0;
        is_first = 0;
      }
    }
  }
#if JOINT
  if (settings[COMMON_GAIN] > 0) move_limits(state, out[ALARM] == BY_NOVELTY);
#endif
  out[P_VALUE] = out[P_VALUE] > 1 ? nothing() : out[P_VALUE] * COLUMNS < 1 ? out[P_VALUE] * COLUMNS : 1;
#if FORECAST
  if (FORECAST && some) {
    double cut[COLUMNS];
    for (c = 0; c < COLUMNS; c++) cut[c] = clip(z[c], 8);
    if (s->learned > 10) {
      add_row(state, cut);
      s->since = s->since + 1;
      if (s->since >= (s->learned < 200 ? 8 : 32) && s->learned >= 20) {
        s->since = 0;
        if (solve(state)) s->solved = 1;
      }
    }
    s->learned = s->learned + 1;
  }
#endif
  for (c = 0; c < COLUMNS; c++)
    if (column_of(state, c)->gone == 0) learn(column_of(state, c), values[c], errors[c], s->solved > 0);
#if FORECAST
  if (FORECAST) {
    double calendar[CYCLES];
    for (c = 0; c < CYCLES; c++) calendar[c] = 0;
    if (s->timed > 0) model_calendar((int64_t)s->wall, calendar);
    for (c = 0; c < COLUMNS; c++) z[c] = clip(z[c], 8);
    next_features(state, z, calendar);
  }
#endif
  (void)some;
  s->clock = s->clock + 1;
}

/* ---- time ---- */

/* The median of the last steps, 0 if there are too few. */
static double usual_step(const shared *s)
{
  double sorted[PAST_STEPS];
  int i, k;
  if (s->steps < PAST_STEPS) return 0;
  for (i = 0; i < PAST_STEPS; i++) {
    for (k = i; k > 0 && sorted[k - 1] > s->past_steps[i]; k--) sorted[k] = sorted[k - 1];
    sorted[k] = s->past_steps[i];
  }
  return sorted[PAST_STEPS / 2];
}

/* The rows that are missing before this one; -1 if they are more than 1000. */
static int gap_before(shared *s, double instant)
{
  const double passed = instant - s->instant;
  double least = passed, rows = 0;
  int i, at = (int)s->next_step;
  if (!(passed > 0)) {
    s->unordered = s->unordered + 1;
    return 0;
  }
  for (i = 0; i < (int)s->steps; i++)
    if (s->past_steps[i] < least) least = s->past_steps[i];
  if (passed > 3 * least) {
    const double step = usual_step(s);
    if (step > 0 && passed > 3 * step) rows = passed / step - .5;
  }
  s->past_steps[at] = passed;
  s->next_step = (at + 1) % PAST_STEPS;
  if (s->steps < PAST_STEPS) s->steps = s->steps + 1;
  return rows >= 1001 ? -1 : (int)rows;
}

static void begin_anew(double *state)
{
  shared *s = (shared *)state;
  int c, k;
  for (c = 0; c < COLUMNS; c++)
    for (k = 0; k < SCALES; k++) column_of(state, c)->trace[k] = 0;
  for (k = 1; k < FEATURES; k++) state[FEATURES_AT + k] = 0;
  s->clock = s->clock + 1000;
}

/* Takes the next row. A value that is no number (NaN), infinite or beyond 1e300 is missing. `instant` and `wall` are its
   time stamp in milliseconds since 1970, in UTC and as its own clock shows it; NaN for none. */
void model_update(double *state, const double *row, double instant, double wall, double *out)
{
  shared *s = (shared *)state;
  const int is_timed = instant == instant && wall == wall;
  if (is_timed && s->timed > 0) {
    const int gap = gap_before(s, instant);
    const double from = s->wall;
    int k;
    if (gap < 0) begin_anew(state);
    for (k = 1; k <= gap; k++) {
      s->wall = from + (wall - from) / (gap + 1) * k;
      take(state, 0, out);
    }
  }
  s->timed = is_timed;
  if (is_timed) {
    s->instant = instant;
    s->wall = wall;
  }
  take(state, row, out);
  s->row = s->row + 1;
}

/* What a person says of the incident that holds a row or, with `by_time`, an instant. Normal: its patterns stay, and the
   limit rises once more. An anomaly: patterns stored in it go, so that it alarms again. Gives how many alarms it had, 0 if
   there is none in the last 32. */
int model_feedback(double *state, double at, int by_time, int is_anomaly)
{
  shared *s = (shared *)state;
  const double length = settings[MERGE_ROWS] * (by_time ? usual_step(s) : 1);
  const double *starts = by_time ? s->alarm_times : s->alarm_rows;
  double number = 0;
  int k, b, found = 0;
  for (k = 0; k < PAST_ALARMS; k++)
    if (starts[k] <= at && at - starts[k] <= length && s->alarm_numbers[k] > number) number = s->alarm_numbers[k];
  for (k = 0; number > 0 && k < PAST_ALARMS; k++) {
    column *own = column_of(state, (int)s->alarm_columns[k]);
    if (s->alarm_numbers[k] != number) continue;
    found++;
    if (!is_anomaly) own->limit = own->limit * settings[RISE];
    for (b = 0; is_anomaly && b < BANKS; b++)
      forget((double *)(own + 1) + b * BANK_WIDTH, s->alarm_clocks[k], s->alarm_clocks[k] + settings[MERGE_ROWS]);
  }
  return found;
}

#if BEGINS
/* Goes to where the detector was when it was exported. */
void model_begin(double *state)
{
  int i;
  for (i = 0; i < WORK_AT; i++) state[i] = first_state[i];
}
#endif
