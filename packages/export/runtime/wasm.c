/* The runtime for every model as a WebAssembly module: what a model is made of is a table in its memory. The exporter
   writes `model` and what it points to, and sets the stack behind them. */
#include <stddef.h>
#include <stdint.h>

#include "arithmetic.c"
#include "types.c"
#if FORECASTER
#include "forecaster-types.c"
#include "combination-types.c"
#include "calendar-types.c"
/* The arrays of a state lie behind one another. */
typedef struct {
  neuron *x, *next;
  real *u, *fed, *recent;
  double *past, *last, *last_fed;
  double *beside;
  uint32_t *step;
  int rows;
} model_state;

typedef struct {
  int MEMBERS, INPUTS, OUTPUTS, GROUPS, LAGS, MOST_INPUTS, MOST_ROWS, LEAST_ROWS, TRAINED_ROWS, MOST_LOST, PAST, LARGEST, FILLS, FILLS_FED, FEEDBACK, FED, OBSERVES, DRIVEN, HOLDS, SQUARE_HALF, SQUARES, KNOWN, MASKS, CALENDAR_COLUMNS, CALENDAR, OUTSIDE, BOUNDED, COMBINED, ENTRIES, KEPT, LOOP_WIDTH;
  int X_AT, NEXT_AT, U_AT, FED_AT, RECENT_AT, PAST_AT, LAST_AT, LAST_FED_AT, BESIDE_AT, STEP_AT, ROWS_AT;
  const member *members;
  const unsigned char *groups;
  const double *last_row;
  const double *last_fed_row;
  const double *lowest;
  const double *highest;
  const feature *calendar_features;
  const int16_t *tanh_table;
  const entry *entries;
  const double *first_beside;
} constants;

constants model;
#define MEMBERS model.MEMBERS
#define INPUTS model.INPUTS
#define OUTPUTS model.OUTPUTS
#define GROUPS model.GROUPS
#define LAGS model.LAGS
#define MOST_INPUTS model.MOST_INPUTS
#define MOST_ROWS model.MOST_ROWS
#define LEAST_ROWS model.LEAST_ROWS
#define TRAINED_ROWS model.TRAINED_ROWS
#define MOST_LOST model.MOST_LOST
#define PAST model.PAST
#define LARGEST model.LARGEST
#define FILLS model.FILLS
#define FILLS_FED model.FILLS_FED
#define FEEDBACK model.FEEDBACK
#define FED model.FED
#define OBSERVES model.OBSERVES
#define DRIVEN model.DRIVEN
#define HOLDS model.HOLDS
#define SQUARE_HALF model.SQUARE_HALF
#define SQUARES model.SQUARES
#define KNOWN model.KNOWN
#define MASKS model.MASKS
#define CALENDAR_COLUMNS model.CALENDAR_COLUMNS
#define CALENDAR model.CALENDAR
#define OUTSIDE model.OUTSIDE
#define BOUNDED model.BOUNDED
#define COMBINED model.COMBINED
#define ENTRIES model.ENTRIES
#define KEPT model.KEPT
#define LOOP_WIDTH model.LOOP_WIDTH
#define entries model.entries
#define first_beside model.first_beside
#define members model.members
#define groups model.groups
#define last_row model.last_row
#define last_fed_row model.last_fed_row
#define lowest model.lowest
#define highest model.highest
#define calendar_features model.calendar_features
#define tanh_table model.tanh_table
#endif
#if CLASSIFIER
typedef struct {
  neuron *x, *next;
  double *sum, *squares, *change, *before, *largest, *smallest;
  int32_t *above, *crossings;
  double *partial, *features;
} model_work;

#include "classifier-types.c"

typedef struct {
  int MEMBERS, VIEWS, INPUTS, OUTPUTS, CLASSES, LEVELS, WASHOUT, MOST_INPUTS, WIDTH, FEATURES, LAYER_NORM, STATISTICS, LAST, MEAN, SQUARE_HALF, SQUARES, VOTES;
  int X_AT, NEXT_AT, SUM_AT, SQUARES_AT, CHANGE_AT, BEFORE_AT, LARGEST_AT, SMALLEST_AT, ABOVE_AT, CROSSINGS_AT, PARTIAL_AT, FEATURES_AT;
  const view *views;
  const head *heads;
  const double *epsilon;
  const int16_t *tanh_table;
} constants;

constants model;
#define MEMBERS model.MEMBERS
#define VIEWS model.VIEWS
#define INPUTS model.INPUTS
#define OUTPUTS model.OUTPUTS
#define CLASSES model.CLASSES
#define LEVELS model.LEVELS
#define WASHOUT model.WASHOUT
#define MOST_INPUTS model.MOST_INPUTS
#define WIDTH model.WIDTH
#define FEATURES model.FEATURES
#define LAYER_NORM model.LAYER_NORM
#define STATISTICS model.STATISTICS
#define LAST model.LAST
#define MEAN model.MEAN
#define SQUARE_HALF model.SQUARE_HALF
#define SQUARES model.SQUARES
#define VOTES model.VOTES
#define views model.views
#define heads model.heads
#define epsilon model.epsilon
#define tanh_table model.tanh_table
#endif

#if DETECTOR
#include "calendar-types.c"
#include "detector-types.c"
typedef struct {
  int COLUMNS, PATTERNS, SIZE, FORECAST, FEATURES, CALENDAR;
  const double *settings, *biases, *leak_rates, *input_weights, *recurrent;
  const uint32_t *recurrent_rows, *recurrent_columns;
  const feature *calendar_features;
  const double *first_state;
} constants;

constants model;
#define COLUMNS model.COLUMNS
#define PATTERNS model.PATTERNS
#define SIZE model.SIZE
#define FORECAST model.FORECAST
#define FEATURES model.FEATURES
#define CALENDAR model.CALENDAR
#define settings model.settings
#define biases model.biases
#define leak_rates model.leak_rates
#define input_weights model.input_weights
#define recurrent model.recurrent
#define recurrent_rows model.recurrent_rows
#define recurrent_columns model.recurrent_columns
#define calendar_features model.calendar_features
#define first_state model.first_state
#endif

/* Functions that a model may not need stay functions, which the exporter leaves out. */
#pragma clang attribute push(__attribute__((noinline)), apply_to = function)
#include "numbers.c"
#pragma clang attribute pop
#if CLASSIFIER || DETECTOR
#include "wasm-sound-types.c"

/* max(0, 1 + decibels log(e / reference)), at most 1. */
static void to_levels(const front *f, double *envelopes, double reference)
{
  int c;
  for (c = 0; c < f->channels; c++) {
    const double ratio = envelopes[c] / reference, level = ratio > 0 ? 1 + f->scale[0] * log_of(ratio) : 0;
    envelopes[c] = level > 1 ? 1 : level < 0 ? 0 : level;
  }
}
#endif
#if DETECTOR
static void model_calendar(int64_t wall, double *known);
#include "calendar.c"
__attribute__((export_name("model_update"))) void model_update(double *state, const double *row, double instant, double wall, double *out);
__attribute__((export_name("model_feedback"))) int model_feedback(double *state, double at, int by_time, int is_anomaly);
__attribute__((export_name("model_begin"))) void model_begin(double *state);
#include "detector.c"

/* The state and the result lie behind a sound_state. */
void sound_frame(sound_state *h, const front *f)
{
  double *state = FRAMES(h, f), *out = state + f->bytes / 8;
  to_levels(f, ENVELOPES(h, f), f->scale[1]);
  model_update(state, ENVELOPES(h, f), nothing(), nothing(), out);
  if (out[ALARM] == 0) return;
  h->said = (int)out[ALARM];
  h->score = out[SCORE];
  h->last = h->frames * f->frame * f->down / f->up;
  h->first = (h->frames - 1) * f->frame * f->down / f->up;
}
#endif
#if FORECASTER || CLASSIFIER
#include "sums.c"

#if INTEGER
int32_t row_times(const reservoir *m, int r, const neuron *x, int32_t sum);
#else
real row_times(const reservoir *m, int r, const real *x);
#endif

#pragma clang attribute push(__attribute__((noinline)), apply_to = function)
#include "extras.c"
#pragma clang attribute pop
#include "step.c"
#endif
#if FORECASTER
#pragma clang attribute push(__attribute__((noinline)), apply_to = function)
#if TRANSFORMS
#include "transforms.c"
#endif
#if COMBINED
#include "combination.c"
#endif
#pragma clang attribute pop
#define model_begin begin
#define model_reset reset
#define model_predict predict
#define model_teach teach
#define model_observe observe
#define model_forecast forecast
#include "forecaster.c"
#if CALENDAR
__attribute__((export_name("model_calendar"))) void model_calendar(int64_t wall, double *known);
#pragma clang attribute push(__attribute__((noinline)), apply_to = function)
#include "calendar.c"
#pragma clang attribute pop
#endif

static model_state opened(char *at)
{
  model_state s;
  s.x = (neuron *)(at + model.X_AT);
  s.next = (neuron *)(at + model.NEXT_AT);
  s.u = (real *)(at + model.U_AT);
#if FED
  s.fed = (real *)(at + model.FED_AT);
#endif
#if LAGS
  s.recent = (real *)(at + model.RECENT_AT);
#endif
#if PAST
  s.past = (double *)(at + model.PAST_AT);
#endif
#if FILLS
  s.last = (double *)(at + model.LAST_AT);
#endif
#if FILLS_FED
  s.last_fed = (double *)(at + model.LAST_FED_AT);
#endif
#if COMBINED
  s.beside = (double *)(at + model.BESIDE_AT);
#endif
#if NOISE
  s.step = (uint32_t *)(at + model.STEP_AT);
#endif
  s.rows = *(int *)(at + model.ROWS_AT);
  return s;
}
#endif

#if FORECASTER
#define PUBLIC(name) __attribute__((export_name("model_" #name)))
PUBLIC(begin) void model_of_begin(char *at)
{
  model_state s = opened(at);
  begin(&s);
  *(int *)(at + model.ROWS_AT) = s.rows;
}

PUBLIC(reset) void model_of_reset(char *at)
{
  model_state s = opened(at);
  reset(&s);
  *(int *)(at + model.ROWS_AT) = s.rows;
}

PUBLIC(predict) void model_of_predict(char *at, const double *input, double *output)
{
  model_state s = opened(at);
  predict(&s, input, output);
  *(int *)(at + model.ROWS_AT) = s.rows;
}

#if TEACHES
PUBLIC(teach) void model_of_teach(char *at, const double *input, const double *target)
{
  model_state s = opened(at);
  teach(&s, input, target);
  *(int *)(at + model.ROWS_AT) = s.rows;
}
#endif

#if OBSERVES
PUBLIC(observe) int model_of_observe(char *at, const double *row, const double *known)
{
  model_state s = opened(at);
  const int is_taken = observe(&s, row, known);
  *(int *)(at + model.ROWS_AT) = s.rows;
  return is_taken;
}
#endif

PUBLIC(forecast) int model_of_forecast(char *at, int steps, const double *outside, double *output)
{
  model_state s = opened(at);
#if OUTSIDE
  return forecast(&s, steps, outside, output);
#else
  (void)outside;
  return forecast(&s, steps, output);
#endif
}
#endif
#if CLASSIFIER
#define model_classify classify
#include "classifier.c"

static model_work opened(char *at)
{
  model_work w;
  w.x = (neuron *)(at + model.X_AT);
  w.next = (neuron *)(at + model.NEXT_AT);
  w.sum = (double *)(at + model.SUM_AT);
  w.squares = (double *)(at + model.SQUARES_AT);
  w.change = (double *)(at + model.CHANGE_AT);
  w.before = (double *)(at + model.BEFORE_AT);
  w.largest = (double *)(at + model.LARGEST_AT);
  w.smallest = (double *)(at + model.SMALLEST_AT);
  w.above = (int32_t *)(at + model.ABOVE_AT);
  w.crossings = (int32_t *)(at + model.CROSSINGS_AT);
  w.partial = (double *)(at + model.PARTIAL_AT);
  w.features = (double *)(at + model.FEATURES_AT);
  return w;
}

__attribute__((export_name("model_classify"))) int model_of_classify(char *at, const double *sequence, int rows, double *shares)
{
  model_work w = opened(at);
  return classify(&w, sequence, rows, shares);
}

/* ---- a word that is classified step by step: behind its shares each pass of each view has what a call works in ---- */

static model_work pass_of(sound_state *h, const front *f, int view_number, int pass)
{
  char *first = CLASSIFYING(h, f) + 8 * CLASSES;
  const model_work shared = opened(first);
  model_work w = opened(first + (2 * view_number + pass) * f->bytes);
  w.partial = shared.partial;
  w.features = shared.features;
  return w;
}

static void step_word(sound_state *h, const front *f)
{
  int k, pass;
  for (k = 0; k < MEMBERS * VIEWS; k++)
    for (pass = 0; pass < 1 + views[k].inputs; pass++) {
      model_work w = pass_of(h, f, k, pass);
      if (h->steps == 0 && pass == 0) begin_view(&w, &views[k]);
      look_at(&w, &views[k], WORD(h, f), h->rows, h->steps, pass);
    }
  h->steps++;
}

static int end_word(sound_state *h, const front *f)
{
  double total[CLASSES];
  int votes[CLASSES];
  int m, v, k, pass;
  for (k = 0; k < CLASSES; k++) {
    total[k] = 0;
    votes[k] = 0;
  }
  for (m = 0; m < MEMBERS; m++) {
    int from = 0;
    for (v = 0; v < VIEWS; v++)
      for (pass = 0; pass < 1 + views[m * VIEWS + v].inputs; pass++) {
        const view *each = &views[m * VIEWS + v];
        model_work w = pass_of(h, f, m * VIEWS + v, pass);
        if (v == 0 && pass == 0) begin_head(&w);
        from = give(&w, &heads[m], pass == 0 ? each->size : INPUTS, h->rows - WASHOUT, from);
        if (v == VIEWS - 1 && pass == each->inputs) end_head(&heads[m], &w, from, total, votes);
      }
  }
  return decide(total, votes, (double *)CLASSIFYING(h, f));
}

void sound_rows(sound_state *h, const front *f, int most)
{
  int left;
  if (h->levels < h->rows) {
    for (left = 4 * most; left > 0 && h->levels < h->rows; left--, h->levels++)
      to_levels(f, WORD(h, f) + h->levels * INPUTS, h->top);
    return;
  }
  if (h->steps < h->rows) {
    for (left = most; left > 0 && h->steps < h->rows; left--) step_word(h, f);
    return;
  }
  if (h->rows > WASHOUT) h->said = 1 + end_word(h, f);
  h->first = h->word_first;
  h->last = h->word_last;
  h->rows = 0;
}
#endif
