// A reservoir and how its weights are drawn: docs/numerics.md, rules 2 (storage) and 7. The seed's words and the measured radius are given.
#include <stdbool.h>
#include <stdlib.h>

typedef enum { TANH, IDENTITY, RELU, SIGMOID } Activation;
typedef enum { ZEROS, LIST, RANDOM } InitialState;

/** A random matrix as it is described: what is drawn, how many positions are taken, one factor a column. */
typedef struct {
  Distribution distribution;
  double density;
  double *scaling;
} Draws;

/** What the rules call by these names; values of the model's precision are kept as doubles. */
typedef struct {
  bool single;
  int size, inputs, outputs;
  uint32_t weight_key[2], noise_key[2];
  Activation activation;
  double noise_level;
  double *leak_rate;

  Draws weight_draws, input_draws, bias_draws, feedback_draws, initial_draws;
  bool self_connections, scaled, bfloat16, resolve_storage;
  /** Bits of a weight in integer arithmetic: 16 or 8, or 0 without it. */
  int integer_bits;
  double spectral_radius, measured_radius;
  InitialState initial_kind;

  /** W in rows as drawn, and as a square too where it is stored densely. */
  bool sparse;
  double *values, *dense;
  int *columns, *row_start;
  double *input_weights, *bias, *feedback_weights, *initial_state;
} Model;

static void *allocate(size_t count, size_t bytes) {
  void *memory = calloc(count > 0 ? count : 1, bytes);
  if (!memory) {
    fprintf(stderr, "out of memory for %zu x %zu bytes\n", count, bytes);
    exit(1);
  }
  return memory;
}

/** To the model's precision. */
static double rounded(const Model *model, double value) { return model->single ? (float)value : value; }

/** To nearest even with 8 significant bits. */
static double bfloat16_of(double value) {
  int exponent;
  double m = frexp(value, &exponent);
  return ldexp(round_whole(m * 256), exponent - 8);
}

static bool chosen_sparse(int size, int nonzeros) {
  double share = (double)nonzeros / ((double)size * size);
  return share < (size < 2000 ? .25 : size < 5000 ? .3 : .6);
}

static void draw_weights(Model *model) {
  const Draws *draws = &model->weight_draws;
  int n = model->size, count = 0;
  int *positions = allocate((size_t)n, sizeof *positions);
  model->values = allocate((size_t)n * n, sizeof *model->values);
  model->columns = allocate((size_t)n * n, sizeof *model->columns);
  model->row_start = allocate((size_t)n + 1, sizeof *model->row_start);
  double factor = model->scaled && model->measured_radius != 0 ? model->spectral_radius / model->measured_radius : 1;
  for (int r = 0; r < n; r++) {
    int candidates = model->self_connections ? n : n - 1;
    int taken = draw_positions(model->weight_key, (uint32_t)r, STREAM_W, draws->density, candidates, positions);
    for (int m = 0; m < taken; m++) {
      double draw = value_draw(draws->distribution, model->weight_key, (uint32_t)r, (uint32_t)m, STREAM_W);
      double weight = rounded(model, draw * factor);
      model->values[count] = model->bfloat16 ? bfloat16_of(weight) : weight;
      model->columns[count++] = positions[m] + (!model->self_connections && positions[m] >= r ? 1 : 0);
    }
    model->row_start[r + 1] = count;
  }
  free(positions);
  if (model->resolve_storage) model->sparse = chosen_sparse(n, count);
  if (model->sparse) return;
  model->dense = allocate((size_t)n * n, sizeof *model->dense);
  for (int r = 0; r < n; r++)
    for (int i = model->row_start[r]; i < model->row_start[r + 1]; i++) model->dense[(size_t)r * n + model->columns[i]] = model->values[i];
}

/** A full N x `columns` matrix from draws scaled by column. */
static double *draw_columns(const Model *model, const Draws *draws, uint32_t stream, int columns) {
  double *matrix = allocate((size_t)model->size * columns, sizeof *matrix);
  int *positions = allocate((size_t)columns, sizeof *positions);
  for (int r = 0; r < model->size; r++) {
    int taken = draw_positions(model->weight_key, (uint32_t)r, stream, draws->density, columns, positions);
    for (int m = 0; m < taken; m++) {
      double draw = value_draw(draws->distribution, model->weight_key, (uint32_t)r, (uint32_t)m, stream);
      matrix[r * columns + positions[m]] = rounded(model, draw * draws->scaling[positions[m]]);
    }
  }
  free(positions);
  return matrix;
}

static double nearest(double value) { return floor(value + .5); }

static double within(double least, double value, double most) { return value < least ? least : value > most ? most : value; }

/** Adds |q(w 2^e)| of some weights to a sum; whether each is at most `limit`. */
static bool magnitudes(const double *weights, int count, int exponent, double limit, double *sum) {
  for (int i = 0; i < count; i++) {
    double size = fabs(nearest(ldexp(weights[i], exponent)));
    if (size > limit) return false;
    *sum += size;
  }
  return true;
}

/** Rule 18: rounds weights, biases, leak rates and the initial state to whole numbers of steps. */
static void round_to_integers(Model *model) {
  int n = model->size;
  for (int r = 0; r < n; r++) {
    double *row = model->values + model->row_start[r];
    double *in = model->input_weights + r * model->inputs, *fed = model->feedback_weights + r * model->outputs;
    int nonzeros = model->row_start[r + 1] - model->row_start[r], e = 14;
    for (;; e--) {
      double s = 0, t = 0, b = fabs(nearest(ldexp(model->bias[r], 15)));
      if (e < 0) {
        fprintf(stderr, "the weights of neuron %d are too large for integers\n", r);
        exit(2);
      }
      if (magnitudes(row, nonzeros, e, model->integer_bits == 8 ? 127 : 32767, &s) && magnitudes(in, model->inputs, e, 32767, &t) &&
          magnitudes(fed, model->outputs, e, 32767, &t) && 32768 * (s + 8 * t) + ldexp(b, e) + ldexp(1, e) < 0x1p31)
        break;
    }
    for (int i = 0; i < nonzeros; i++) row[i] = ldexp(nearest(ldexp(row[i], e)), -e);
    for (int i = 0; i < model->inputs; i++) in[i] = ldexp(nearest(ldexp(in[i], e)), -e);
    for (int i = 0; i < model->outputs; i++) fed[i] = ldexp(nearest(ldexp(fed[i], e)), -e);
    for (int i = 0; !model->sparse && i < nonzeros; i++) model->dense[(size_t)r * n + model->columns[model->row_start[r] + i]] = row[i];
    model->bias[r] = nearest(model->bias[r] * 32768) / 32768;
    model->leak_rate[r] = within(1, nearest(model->leak_rate[r] * 32768), 32768) / 32768;
    model->initial_state[r] = within(-32767, nearest(model->initial_state[r] * 32768), 32767) / 32768;
  }
}

static void draw_model(Model *model) {
  draw_weights(model);
  model->input_weights = draw_columns(model, &model->input_draws, STREAM_INPUT, model->inputs);
  if (model->bias_draws.scaling[0] == 0) model->bias_draws.density = 0;
  model->bias = draw_columns(model, &model->bias_draws, STREAM_BIAS, 1);
  model->feedback_weights = draw_columns(model, &model->feedback_draws, STREAM_FEEDBACK, model->outputs);
  if (model->initial_kind == RANDOM) model->initial_state = draw_columns(model, &model->initial_draws, STREAM_INITIAL, 1);
  if (model->initial_kind == ZEROS) model->initial_state = allocate((size_t)model->size, sizeof *model->initial_state);
  for (int r = 0; r < model->size; r++) {
    model->leak_rate[r] = rounded(model, model->leak_rate[r]);
    model->initial_state[r] = rounded(model, model->initial_state[r]);
  }
  if (model->integer_bits > 0) round_to_integers(model);
}
