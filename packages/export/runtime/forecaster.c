#if MEMBERS
/* y = W_out features + c, rules 9 and 10: in binary64, then rounded. Features are the state, and if they are asked
   for the window of the series, the inputs and squares of the state. */
static void answer(const member *m, const double *weights, const double *intercept, const neuron *x, const real *window,
                   const real *u, real *y)
{
  int o, i, k;
  x += m->width - m->size;
  for (o = 0; o < OUTPUTS; o++) {
    const double *row = weights + (size_t)o * (size_t)m->features;
    double partial[32] = {0};
    for (k = 0; k < m->size; k++) {
      const double value = STATE(x[k]);
#if SQUARE_HALF
      if (SQUARE_HALF && (k & 1)) {
        partial[k & 31] = partial[k & 31] + row[k] * (value * value);
        continue;
      }
#endif
      partial[k & 31] = partial[k & 31] + row[k] * value;
    }
#if INPUT_FEATURES
    if (m->input_features > 0) {
#if LAGS
      for (i = 0; i < m->lags * OUTPUTS; i++, k++) partial[k & 31] = partial[k & 31] + row[k] * (double)window[i];
#endif
      for (i = m->lags > 0 ? OUTPUTS : 0; i < INPUTS; i++, k++) partial[k & 31] = partial[k & 31] + row[k] * (double)u[i];
    }
#endif
#if SQUARES
    for (i = 0; SQUARES && i < m->size; i++, k++) {
      const double value = STATE(x[i]);
      partial[k & 31] = partial[k & 31] + row[k] * (value * value);
    }
#endif
    y[o] = (real)(sum_of_doubles(partial, 32) + intercept[o]);
  }
  (void)i;
  (void)window;
  (void)u;
}

#endif
#if MEMBERS && SEVERAL
/* The middle one of sorted values; of an even number the mean of the middle two. Sorts them. */
static double median_of(double *values, int count)
{
  int i, j;
  for (i = 1; i < count; i++) {
    const double value = values[i];
    for (j = i; j > 0 && values[j - 1] > value; j--) values[j] = values[j - 1];
    values[j] = value;
  }
  return count % 2 == 1 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2.0;
}

/* The median of each group's members, and then of the groups. */
static void medians(const double *made, double *output)
{
  double values[MEMBERS], of_groups[GROUPS];
  int o, g, k, count;
  for (o = 0; o < OUTPUTS; o++) {
    for (g = 0; g < GROUPS; g++) {
      for (k = 0, count = 0; k < MEMBERS; k++)
        if (groups[k] == g) values[count++] = made[k * OUTPUTS + o];
      of_groups[g] = median_of(values, count);
    }
    output[o] = median_of(of_groups, GROUPS);
  }
}
#endif
#if MEMBERS && !SEVERAL
/* One member. */
static void medians(const double *made, double *output)
{
  int o;
  for (o = 0; o < OUTPUTS; o++) output[o] = made[o];
}
#endif

#if MEMBERS && LAGS
/* Shifts a row into a window whose newest row comes first. */
static void push(real *window, int lags, const real *row)
{
  int i;
  for (i = lags * OUTPUTS - 1; i >= OUTPUTS; i--) window[i] = window[i - OUTPUTS];
  for (i = 0; lags > 0 && i < OUTPUTS; i++) window[i] = row[i];
}

#endif
#if FILLS || FILLS_FED || PAST && PREDICTS
static double not_a_number(void)
{
  const double nothing = 0;
  return nothing / nothing;
}
#endif

#if FILLS || FILLS_FED
/* Takes a row: a missing value (NaN) is the last one before it. 0 if there is none, and the row is not taken. */
static int fill(double *last, const double *row, int count)
{
  int i;
  for (i = 0; i < count; i++)
    if (row[i] != row[i] && last[i] != last[i]) return 0;
  for (i = 0; i < count; i++)
    if (row[i] == row[i]) last[i] = row[i];
  return 1;
}

#endif
#if MEMBERS && INPUTS
/* Inputs of the reservoir from column `first` on, in z-scores. */
static void score(const member *m, const double *row, real *u, int first)
{
  int i;
  for (i = first; i < INPUTS; i++) u[i] = (real)((row[i - first] - m->input_mean[i]) / m->input_deviation[i]);
}

#endif
#if MEMBERS
#if PAST
#define LOST_OF(m) ((m)->lost)
#else
#define LOST_OF(m) 0
#endif
/* The parts of a state that are a member's own. */
typedef struct {
  neuron *x;
  real *u, *fed, *recent;
  double *past;
} own;

static own first_of(model_state *state)
{
  own s = {0};
  s.x = state->x;
#if INPUTS
  s.u = state->u;
#endif
#if FED
  s.fed = state->fed;
#endif
#if LAGS
  s.recent = state->recent;
#endif
#if PAST
  s.past = state->past;
#endif
  return s;
}

static void move_on(const member *m, own *s)
{
  s->x += m->width;
  s->u += INPUTS;
#if FED
  s->fed += OUTPUTS;
#endif
#if LAGS
  s->recent += m->lags * OUTPUTS;
#endif
#if PAST
  s->past += PAST;
#endif
}

static void step(const member *m, model_state *state, const own *s, int k)
{
#if NOISE
  const uint32_t t = state->step[k]++;
#else
  const uint32_t t = 0;
#endif
  advance_parts(m->parts, m->count, s->x, state->next, s->u, s->fed, t);
  (void)k;
}

static void copy(real *to, const real *from, int count)
{
  int i;
  for (i = 0; i < count; i++) to[i] = from ? from[i] : 0;
}

#endif
static void count_row(model_state *state)
{
  if (state->rows < MOST_ROWS) state->rows++;
}

#if MEMBERS && PAST || FILLS || FILLS_FED || COMBINED
static void copy_doubles(double *to, const double *from, int count, double otherwise)
{
  int i;
  for (i = 0; i < count; i++) to[i] = from ? from[i] : otherwise;
}

#endif
/* Goes to where the trained model is, or to the initial state. */
static void start(model_state *state, int is_trained)
{
#if MEMBERS
  own s = first_of(state);
  int k, i;
  for (k = 0; k < MEMBERS; k++) {
    const member *m = &members[k];
    for (i = 0; i < m->width; i++) s.x[i] = is_trained ? m->state[i] : m->initial_state ? m->initial_state[i] : 0;
    copy(s.u, is_trained ? m->input : 0, INPUTS);
#if FED
    copy(s.fed, is_trained ? m->fed : 0, FED);
#endif
#if LAGS
    copy(s.recent, is_trained ? m->recent : 0, m->lags * OUTPUTS);
#endif
#if PAST
    copy_doubles(s.past, is_trained ? m->past : 0, PAST, 0);
#endif
#if NOISE
    state->step[k] = is_trained ? m->step : 0;
#endif
    move_on(m, &s);
  }
  for (i = 0; i < LARGEST; i++) state->next[i] = 0;
#endif
#if COMBINED
  copy_doubles(state->beside, first_beside, KEPT, 0);
#endif
#if FILLS
  copy_doubles(state->last, is_trained ? last_row : 0, FILLS, not_a_number());
#endif
#if FILLS_FED
  copy_doubles(state->last_fed, is_trained ? last_fed_row : 0, FILLS_FED, not_a_number());
#endif
  state->rows = is_trained ? TRAINED_ROWS : 0;
}

void model_begin(model_state *state)
{
  start(state, 1);
}

#if RESETS
void model_reset(model_state *state)
{
  start(state, 0);
}

#endif
#if MEMBERS
/* What a member says, in the units of the data. */
static void restore(const member *m, const double *mean, const double *deviation, const real *y, double *past, int moves, double *out)
{
  int o;
  for (o = 0; o < OUTPUTS; o++) out[o] = (double)y[o] * deviation[o] + mean[o];
#if TRANSFORMS
  if (m->steps > 0) undo(m, past, out, moves);
#endif
  (void)m;
  (void)past;
  (void)moves;
}

#endif
#if PREDICTS
void model_predict(model_state *state,
#if INPUTS
                   const double *input,
#endif
                   double *output)
{
#if MEMBERS
  double made[MEMBERS * OUTPUTS];
  own s = first_of(state);
  real y[OUTPUTS];
  int k;
#if TRANSFORMS && INPUTS
  double row[OUTPUTS];
#endif
#endif
  int o;
#if INPUTS && FILLS
  if (FILLS > 0) {
    if (!fill(state->last, input, INPUTS)) {
      for (o = 0; output && o < OUTPUTS; o++) output[o] = not_a_number();
      return;
    }
    input = state->last;
  }
#endif
#if MEMBERS
  for (k = 0; k < MEMBERS; k++, move_on(&members[k - 1], &s)) {
    const member *m = &members[k];
#if INPUTS
    const double *taken = input;
#if TRANSFORMS
    if (!FEEDBACK && m->steps > 0) {
      for (o = 0; o < OUTPUTS; o++) row[o] = input[o];
      forward(m, s.past, row);
      taken = row;
    }
#endif
#endif
#if PAST
    if (state->rows < m->lost) {
      for (o = 0; o < OUTPUTS; o++) made[k * OUTPUTS + o] = not_a_number();
      continue;
    }
#endif
#if INPUTS
    score(m, taken, s.u, 0);
#endif
    step(m, state, &s, k);
#if LAGS
    push(s.recent, m->lags, s.u);
#endif
    if (!output) continue;
    answer(m, m->readout, m->intercept, s.x, s.recent, s.u, y);
    restore(m, m->target_mean, m->target_deviation, y, s.past, FEEDBACK, made + k * OUTPUTS);
#if FEEDBACK
    for (o = 0; FEEDBACK && o < OUTPUTS; o++) s.fed[o] = y[o];
#endif
  }
#if PAST && SEVERAL
  for (k = 0; state->rows < MOST_LOST && k < MEMBERS * OUTPUTS; k++) made[k] = not_a_number();
#endif
#endif
  count_row(state);
#if MEMBERS
  if (output) medians(made, output);
#endif
#if COMBINED
  if (COMBINED) {
    take_row(state, input);
    if (output) combine(state, output, 0, 1, 0, output);
  }
#endif
#if FILLS_FED
  for (o = 0; output && o < FILLS_FED; o++) state->last_fed[o] = output[o];
#endif
  (void)o;
}

#endif
#if TEACHES
void model_teach(model_state *state,
#if INPUTS
                 const double *input,
#endif
                 const double *target)
{
  own s = first_of(state);
  int k, o;
#if TRANSFORMS
  double row[OUTPUTS];
#endif
#if INPUTS && FILLS
  if (FILLS > 0) {
    if (!fill(state->last, input, INPUTS)) return;
    input = state->last;
  }
#endif
#if FILLS_FED
  if (FILLS_FED > 0) {
    if (!fill(state->last_fed, target, OUTPUTS)) return;
    target = state->last_fed;
  }
#endif
  for (k = 0; k < MEMBERS; k++, move_on(&members[k - 1], &s)) {
    const member *m = &members[k];
    const double *taken = target;
#if TRANSFORMS
    if (m->steps > 0) {
      for (o = 0; o < OUTPUTS; o++) row[o] = target[o];
      forward(m, s.past, row);
      taken = row;
    }
#endif
#if PAST
    if (state->rows < m->lost) continue;
#endif
#if INPUTS
    score(m, input, s.u, 0);
#endif
    step(m, state, &s, k);
    for (o = 0; o < OUTPUTS; o++) s.fed[o] = (real)((taken[o] - m->target_mean[o]) / m->target_deviation[o]);
  }
  count_row(state);
}

#endif
#if MEMBERS && MASKS
/* What is known of a row, with the mask before the calendar: which values of the row are missing. */
static void gather_known(const double *given, const double *row, double *all)
{
  int i, k = 0;
  for (i = 0; i < KNOWN - MASKS - CALENDAR_COLUMNS; i++) all[k++] = *given++;
  for (i = 0; i < MASKS; i++) all[k++] = row && row[i] != row[i];
  for (i = 0; i < CALENDAR_COLUMNS; i++) all[k++] = *given++;
}

#endif
#if OBSERVES
#if FILLS
int
#else
void
#endif
model_observe(model_state *state, const double *row
#if GIVEN
              , const double *known
#endif
              )
{
#if MEMBERS
  own s = first_of(state);
  int k, o;
  double taken[OUTPUTS];
#endif
#if MASKS && MEMBERS
  double all[KNOWN];
#if GIVEN
  gather_known(known, row, all);
#else
  gather_known(row, row, all);
#endif
#endif
#if FILLS
  if (FILLS > 0) {
    if (!fill(state->last, row, OUTPUTS)) return 0;
    row = state->last;
  }
#endif
#if MEMBERS
  for (k = 0; k < MEMBERS; k++, move_on(&members[k - 1], &s)) {
    const member *m = &members[k];
    if (state->rows > LOST_OF(m)) {
      for (o = 0; o < OUTPUTS; o++) s.u[o] = s.fed[o];
#if MASKS
      score(m, all, s.u, OUTPUTS);
#else
      score(m, known, s.u, OUTPUTS);
#endif
      step(m, state, &s, k);
    }
    for (o = 0; o < OUTPUTS; o++) taken[o] = row[o];
#if TRANSFORMS
    if (m->steps > 0) forward(m, s.past, taken);
#endif
    for (o = 0; o < OUTPUTS; o++) s.fed[o] = (real)((taken[o] - m->input_mean[o]) / m->input_deviation[o]);
#if LAGS
    if (state->rows >= LOST_OF(m)) push(s.recent, m->lags, s.fed);
#endif
  }
#endif
#if GIVEN && !MEMBERS
  (void)known;
#endif
#if COMBINED
  if (COMBINED) take_row(state, row);
#endif
  count_row(state);
#if FILLS
  return 1;
#endif
}

#endif
#if CLOSES
#if MEMBERS && HOLDS
/* Holds an output in the range of its training. */
static void hold(const member *m, real *y)
{
  int o;
  for (o = 0; o < OUTPUTS; o++) {
    double value = y[o];
    if (value < m->lower[o]) value = m->lower[o];
    if (value > m->upper[o]) value = m->upper[o];
    y[o] = (real)value;
  }
}

#endif
#if BOUNDED
/* Moves a forecast to the nearer end of its bounds. */
static void bound(double *output)
{
  int o;
  for (o = 0; o < OUTPUTS; o++) {
    if (output[o] < lowest[o]) output[o] = lowest[o];
    if (output[o] > highest[o]) output[o] = highest[o];
  }
}

#endif
#if MEMBERS
static void say(const member *m, const own *s, real *y)
{
  answer(m, m->loop_readout, m->loop_intercept, s->x, s->recent, s->u, y);
#if HOLDS
  if (HOLDS) hold(m, y);
#endif
}

#endif
int model_forecast(model_state *state, int steps,
#if OUTSIDE
                   const double *outside,
#endif
                   double *output)
{
#if MEMBERS
  double made[MEMBERS * OUTPUTS];
  real y[OUTPUTS];
  int k, o;
#if MASKS
  double all[KNOWN];
#endif
#endif
  int t;
#if OUTSIDE && !MEMBERS
  (void)outside;
#endif
  if (state->rows < LEAST_ROWS) return 0;
  for (t = 0; t < steps; t++) {
#if MEMBERS
    own s = first_of(state);
#if OUTSIDE || MASKS
    const double *given = 0;
#endif
#if OUTSIDE
    given = outside;
#endif
#if MASKS
    if (MASKS > 0) {
      gather_known(given, 0, all);
      given = all;
    }
#endif
    for (k = 0; k < MEMBERS; k++, move_on(&members[k - 1], &s)) {
      const member *m = &members[k];
#if DRIVEN
      if (DRIVEN) {
        say(m, &s, y);
#if LAGS
        push(s.recent, m->lags, y);
#endif
        for (o = 0; o < OUTPUTS; o++) s.u[o] = y[o];
#if OUTSIDE
        score(m, given, s.u, OUTPUTS);
#endif
        step(m, state, &s, k);
      }
#endif
#if FED
      if (FED) {
#if OBSERVES
        for (o = 0; OBSERVES && o < OUTPUTS; o++) s.u[o] = s.fed[o];
#endif
#if OUTSIDE || MASKS
        score(m, given, s.u, FEEDBACK ? 0 : OUTPUTS);
#endif
        step(m, state, &s, k);
        say(m, &s, y);
        for (o = 0; o < OUTPUTS; o++) s.fed[o] = y[o];
#if LAGS
        if (OBSERVES) push(s.recent, m->lags, y);
#endif
      }
#endif
      restore(m, m->loop_mean, m->loop_deviation, y, s.past, 1, made + k * OUTPUTS);
      for (o = 0; o < OUTPUTS; o++)
        if (!(y[o] - y[o] == 0)) return t;
    }
    medians(made, output);
#endif
#if COMBINED
    if (COMBINED) combine(state, output, t, steps, 1, output);
#endif
#if BOUNDED
    if (BOUNDED) bound(output);
#endif
    output += OUTPUTS;
#if OUTSIDE
    outside += OUTSIDE;
#endif
  }
  return steps;
}

#endif
