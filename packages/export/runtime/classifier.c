/* Feature f of the case, into the 32 partial sums of every class (rule 1). */
static void weigh(const head *h, work_area *w, int f, double value)
{
  int k;
  for (k = 0; k < CLASSES; k++)
    w->partial[32 * k + (f & 31)] = w->partial[32 * k + (f & 31)] + h->weights[(size_t)k * (size_t)h->features + (size_t)f] * value;
}

static void add_feature(const head *h, work_area *w, int f, double value)
{
#if FEATURES
  if (FEATURES > 0) {
    w->features[f] = value;
    return;
  }
#endif
  weigh(h, w, f, value);
}

#if FEATURES
#if LAYER_NORM
static double sum_of_features(const work_area *w, int count, int is_squared)
{
  double partial[32] = {0};
  int f;
  for (f = 0; f < count; f++) {
    const double value = w->features[f];
    partial[f & 31] = partial[f & 31] + (is_squared ? value * value : value);
  }
  return sum_of_doubles(partial, 32);
}

/* Mean 0 and deviation 1. */
static void normalise(work_area *w, int count)
{
  const double mean = sum_of_features(w, count, 0) / count;
  double deviation;
  int f;
  for (f = 0; f < count; f++) w->features[f] = w->features[f] - mean;
  deviation = root_of(sum_of_features(w, count, 1) / count + *epsilon);
  for (f = 0; f < count; f++) w->features[f] = w->features[f] / deviation;
}

#endif
/* What the readout takes of the features, once all are there. */
static void weigh_all(const head *h, work_area *w, int count)
{
  int f;
#if LAYER_NORM
  if (LAYER_NORM) normalise(w, count);
#endif
  for (f = 0; f < count; f++) {
    const double value = w->features[f], square = value * value;
    weigh(h, w, f, SQUARE_HALF && (f & 1) ? square : value);
  }
#if SQUARES
  for (f = 0; SQUARES && f < count; f++) weigh(h, w, count + f, w->features[f] * w->features[f]);
#endif
}

#endif
#if STATISTICS
/* Takes a row of values into the statistics of each, rule 10. */
static void take_statistics(work_area *w, const double *values, int count, const double *levels, int is_first)
{
  int i, q;
  for (i = 0; i < count; i++) {
    const double x = values[i];
    double change;
    if (is_first) {
      w->sum[i] = w->squares[i] = w->change[i] = 0;
      w->before[i] = w->largest[i] = w->smallest[i] = x;
    }
    change = x - w->before[i];
    w->sum[i] = w->sum[i] + x;
    w->squares[i] = w->squares[i] + x * x;
    w->change[i] = w->change[i] + (change < 0 ? -change : change);
    if (x > w->largest[i]) w->largest[i] = x;
    if (x < w->smallest[i]) w->smallest[i] = x;
#if LEVELS
    for (q = 0; q < LEVELS; q++) {
      const double level = levels[q * count + i];
      const int is = x > level, was = w->before[i] > level;
      if (is_first) w->above[q * count + i] = w->crossings[q * count + i] = 0;
      w->above[q * count + i] += is;
      w->crossings[q * count + i] += is != was;
    }
#endif
    w->before[i] = x;
  }
  (void)levels;
  (void)q;
}

/* What the readout takes of them, one statistic after the other. */
static int give_statistics(work_area *w, const head *h, int count, int rows, int f)
{
  const double n = rows;
  int i, q;
  for (i = 0; i < count; i++) add_feature(h, w, f++, w->sum[i] / n);
  for (i = 0; i < count; i++) {
    const double mean = w->sum[i] / n;
    const double variance = w->squares[i] / n - mean * mean;
    add_feature(h, w, f++, root_of(variance > 0 ? variance : 0));
  }
  for (i = 0; i < count; i++) add_feature(h, w, f++, w->largest[i]);
  for (i = 0; i < count; i++) add_feature(h, w, f++, w->smallest[i]);
  for (i = 0; i < count; i++) add_feature(h, w, f++, w->before[i]);
  for (i = 0; i < count; i++) add_feature(h, w, f++, w->change[i] / n);
#if LEVELS
  for (q = 0; q < LEVELS * count; q++) add_feature(h, w, f++, w->above[q] / n);
  for (q = 0; q < LEVELS * count; q++) add_feature(h, w, f++, w->crossings[q] / n);
#endif
  (void)q;
  return f;
}

#endif
#if LAST || MEAN
static void take_mean(work_area *w, const double *values, int count, int is_first)
{
  int i;
  for (i = 0; i < count; i++) {
    w->sum[i] = (is_first ? 0 : w->sum[i]) + values[i];
    w->before[i] = values[i];
  }
}

static int give_mean(work_area *w, const head *h, int count, int rows, int f)
{
  int i;
  for (i = 0; LAST && i < count; i++) add_feature(h, w, f++, w->before[i]);
  for (i = 0; MEAN && i < count; i++) add_feature(h, w, f++, w->sum[i] / rows);
  return f;
}

#endif
static void take(work_area *w, const double *values, int count, const double *levels, int is_first)
{
#if STATISTICS
  if (STATISTICS) take_statistics(w, values, count, levels, is_first);
#endif
#if LAST || MEAN
  if (LAST || MEAN) take_mean(w, values, count, is_first);
#endif
  (void)levels;
}

static int give(work_area *w, const head *h, int count, int rows, int f)
{
#if STATISTICS
  if (STATISTICS) return give_statistics(w, h, count, rows, f);
#endif
#if LAST || MEAN
  if (LAST || MEAN) return give_mean(w, h, count, rows, f);
#endif
  return f;
}

static int largest_of(const double *values)
{
  int k, best = 0;
  for (k = 1; k < CLASSES; k++)
    if (values[k] > values[best]) best = k;
  return best;
}

/* Row t of what a view takes, in z-scores. */
static void row_of(const view *v, const double *row, int t, double *values)
{
  int i;
  for (i = 0; i < INPUTS; i++) {
    const double z = (row[i] - views[0].mean[i]) / views[0].deviation[i];
    values[i] = z;
#if DIFFERENCES
    if (v->of == 1) {
      const double change = t == 0 ? 0 : z - (row[i - INPUTS] - views[0].mean[i]) / views[0].deviation[i];
      values[i] = (change - v->mean[i]) / v->deviation[i];
    }
#endif
  }
  (void)v;
  (void)t;
}

static void begin_view(work_area *w, const view *v)
{
  int i;
  for (i = 0; i < v->width; i++) w->x[i] = v->initial_state ? v->initial_state[i] : 0;
}

/* Step s of a view: the states (pass 0) or the inputs (pass 1) of a row into what is kept of them. */
static void look_at(work_area *w, const view *v, const double *sequence, int rows, int s, int pass)
{
  const int t = v->backward ? rows - 1 - s : s;
  double values[WIDTH];
  real u[INPUTS];
  int i;
  row_of(v, sequence + (size_t)t * (size_t)INPUTS, t, values);
  if (pass == 0) {
    for (i = 0; i < INPUTS; i++) u[i] = (real)values[i];
    advance_parts(v->parts, v->count, w->x, w->next, u, 0, (uint32_t)s);
    for (i = 0; i < v->size; i++) values[i] = STATE(w->x[v->width - v->size + i]);
  }
  if (s >= WASHOUT) take(w, values, pass == 0 ? v->size : INPUTS, pass == 0 ? v->levels : v->input_levels, s == WASHOUT);
}

/* One view of a sequence: its states, and if asked for its inputs, into the sums of the readout. */
static int look(work_area *w, const head *h, const view *v, const double *sequence, int rows, int f)
{
  int s, pass;
  begin_view(w, v);
  for (pass = 0; pass < 1 + v->inputs; pass++) {
    for (s = 0; s < rows; s++) look_at(w, v, sequence, rows, s, pass);
    f = give(w, h, pass == 0 ? v->size : INPUTS, rows - WASHOUT, f);
  }
  return f;
}

/* Shares of a readout's outputs, which it overwrites: softmax of them times a factor, or what is above 0. */
static void to_shares(const head *h, double *outputs)
{
  double sum = 0;
  int k, best = largest_of(outputs);
  if (h->is_softmax) {
    double largest;
    for (k = 0; k < CLASSES; k++) outputs[k] = outputs[k] * *h->factor;
    largest = outputs[largest_of(outputs)];
    for (k = 0; k < CLASSES; k++) {
      outputs[k] = exp_of(outputs[k] - largest);
      sum = sum + outputs[k];
    }
  } else {
    for (k = 0; k < CLASSES; k++) {
      if (!(outputs[k] > 0)) outputs[k] = 0;
      sum = sum + outputs[k];
    }
    if (!(sum > 0)) {
      outputs[best] = 1;
      return;
    }
  }
  for (k = 0; k < CLASSES; k++) outputs[k] = outputs[k] / sum;
}

static void begin_head(work_area *w)
{
  int k;
  for (k = 0; k < 32 * CLASSES; k++) w->partial[k] = 0;
}

/* What a member says once all its features are there, onto the shares and the votes of all. */
static void end_head(const head *h, work_area *w, int f, double *total, int *votes)
{
  double outputs[CLASSES];
  int k;
#if FEATURES
  if (FEATURES > 0) weigh_all(h, w, f);
#endif
  for (k = 0; k < CLASSES; k++) outputs[k] = sum_of_doubles(w->partial + 32 * k, 32) + h->intercept[k];
  to_shares(h, outputs);
  votes[largest_of(outputs)]++;
  for (k = 0; k < CLASSES; k++) total[k] = total[k] + outputs[k];
  (void)f;
}

/* The class of all members together. */
static int decide(double *total, const int *votes, double *shares)
{
  int k, most = 0;
  for (k = 0; k < CLASSES; k++) total[k] = total[k] / (double)MEMBERS;
  if (shares)
    for (k = 0; k < CLASSES; k++) shares[k] = total[k];
  if (VOTES) {
    for (k = 0; k < CLASSES; k++)
      if (votes[k] > most) most = votes[k];
    for (k = 0; k < CLASSES; k++)
      if (votes[k] != most) total[k] = -1;
  }
  return largest_of(total);
}

int model_classify(model_work *work, const double *sequence, int rows, double *shares)
{
  double total[CLASSES];
  int votes[CLASSES];
  int m, k, v;
  if (rows <= WASHOUT) return -1;
  for (k = 0; k < CLASSES; k++) {
    total[k] = 0;
    votes[k] = 0;
  }
  for (m = 0; m < MEMBERS; m++) {
    int f = 0;
    begin_head(work);
    for (v = 0; v < VIEWS; v++) f = look(work, &heads[m], &views[m * VIEWS + v], sequence, rows, f);
    end_head(&heads[m], work, f, total, votes);
  }
  return decide(total, votes, shares);
}
