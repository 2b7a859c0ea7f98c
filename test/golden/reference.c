// Reproduces what Spillway's engines compute, from docs/numerics.md alone, and prints SHA-256 sums of it. It shares no code with the
// package and is no engine: nothing here is made to be fast.
//
//   gcc -std=c11 -O2 -ffp-contract=off -o reference reference.c -lm
//   ./reference < descriptions        one line for each sum: NAME WHAT SHA256 (golden.json holds them; make.ts writes the descriptions)
//   ./reference known                 Philox, SHA-256 and tanh on arguments with known answers
//
// A description is text, in the order that read_case reads it. It gives the reservoir's configuration and two things this program does not
// compute: the four words of the seed and the measured spectral radius (its bits).
//
// Series are white noise of numbers with 12 bits, exact in every precision: s = 1664525 s + 1013904223 mod 2^32 from s = SEED; each value,
// row after row, is (s >> 20) / 2048 - 1 after one such step. Sequence k of a case has SEED k + 1, and the inputs of its closed loop from
// outside have SEED 100. Targets, and the teacher of a reservoir with feedback, are y_o(t) = u_o(t) - u_o(t-1), with u(-1) = 0.
//
// The sums, each over values as little-endian bytes in the model's precision unless said otherwise:
//   weights     W (all N x N values where stored densely, else the nonzeros row after row), W_in, b, W_fb, initial state
//   states      all rows of all sequences; sequence k runs from the initial state and has noise of sequence k
//   readout     weights O x F, then the intercept, in binary64; trained by ridge regression on the rows after each sequence's washout
//   prediction  steps x O of the closed loop that goes on where sequence 0 ended
#include <float.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sha256.h"
#include "portable.h"
#include "random.h"
#include "model.h"

_Static_assert(FLT_EVAL_METHOD == 0, "float and double operations must round to their own precision");

/** The top 24 bits of a word; one word a neuron. */
static float noise_uniform_float(const uint32_t key[2], uint32_t step, uint32_t neuron, uint32_t sequence) {
  uint32_t w[4];
  philox((uint32_t[]){step, neuron >> 2, sequence, 0}, key, w);
  return (float)(w[neuron & 3] >> 8) * 0x1p-24f;
}

/** 53 bits of two words; two words a neuron. */
static double noise_uniform_double(const uint32_t key[2], uint32_t step, uint32_t neuron, uint32_t sequence) {
  uint32_t w[4];
  philox((uint32_t[]){step, neuron >> 1, sequence, 0}, key, w);
  return uniform_of(w[2 * (neuron & 1)], w[2 * (neuron & 1) + 1]);
}

#define REAL float
#define NAME(name) name##_float
#include "step.inc"
#undef REAL
#undef NAME
#define REAL double
#define NAME(name) name##_double
#include "step.inc"

#include "integer.h"
#include "readout.h"
#include "ridge.h"

typedef struct {
  char name[64];
  Model model;
  Features features;
  int sequences, steps, washout, outputs, generate;
  Solver solver;
  double lambda;
} Case;

/** What a run depends on beside the model. */
typedef struct {
  double *x, *u, *y;
  uint32_t step, sequence;
} State;

static void wrong(const char *what) {
  fprintf(stderr, "the description is wrong at \"%s\"\n", what);
  exit(2);
}

static void expect(const char *key) {
  char word[64];
  if (scanf("%63s", word) != 1 || strcmp(word, key) != 0) wrong(key);
}

static double number(const char *key) {
  double value = 0;
  if (scanf("%lf", &value) != 1) wrong(key);
  return value;
}

static double field(const char *key) {
  expect(key);
  return number(key);
}

static uint64_t hexadecimal(const char *key) {
  unsigned long long value = 0;
  if (scanf("%llx", &value) != 1) wrong(key);
  return value;
}

static int choice(const char *key, const char *const *names) {
  char word[64];
  if (scanf("%63s", word) != 1) wrong(key);
  for (int i = 0; names[i]; i++)
    if (strcmp(word, names[i]) == 0) return i;
  wrong(key);
  return -1;
}

static double *numbers(const char *key, int count) {
  double *values = allocate((size_t)count, sizeof *values);
  for (int i = 0; i < count; i++) values[i] = number(key);
  return values;
}

/** KEY DISTRIBUTION DENSITY SCALING... */
static Draws read_draws(const char *key, int columns) {
  static const char *const names[] = {"uniform", "normal", "bernoulli", NULL};
  expect(key);
  Draws draws;
  draws.distribution = (Distribution)choice(key, names);
  draws.density = number(key);
  draws.scaling = numbers(key, columns);
  return draws;
}

static bool read_case(Case *c) {
  char word[64];
  if (scanf("%63s", word) != 1) return false;
  memset(c, 0, sizeof *c);
  Model *m = &c->model;
  if (strcmp(word, "case") != 0 || scanf("%63s", c->name) != 1) wrong("case");
  m->single = field("float32") != 0;
  m->size = (int)field("size");
  m->inputs = (int)field("inputs");
  m->outputs = (int)field("feedback");
  expect("seed");
  for (int i = 0; i < 2; i++) m->weight_key[i] = (uint32_t)hexadecimal("seed");
  for (int i = 0; i < 2; i++) m->noise_key[i] = (uint32_t)hexadecimal("seed");
  expect("activation");
  m->activation = (Activation)choice("activation", (const char *const[]){"tanh", "identity", "relu", "sigmoid", NULL});
  expect("storage");
  int storage = choice("storage", (const char *const[]){"dense", "sparse", "auto", NULL});
  m->sparse = storage == 1;
  m->resolve_storage = storage == 2;
  m->bfloat16 = field("bfloat16") != 0;
  m->integer_bits = (int)field("integerBits");
  m->self_connections = field("selfConnections") != 0;
  m->scaled = field("scaled") != 0;
  m->spectral_radius = field("spectralRadius");
  expect("measuredRadius");
  m->measured_radius = float64_of(hexadecimal("measuredRadius"));
  m->weight_draws = read_draws("W", 0);
  m->input_draws = read_draws("W_in", m->inputs);
  m->bias_draws = read_draws("b", 1);
  m->feedback_draws = read_draws("W_fb", m->outputs);
  m->noise_level = field("noiseLevel");
  expect("leakRate");
  m->leak_rate = numbers("leakRate", m->size);
  expect("initialState");
  m->initial_kind = (InitialState)choice("initialState", (const char *const[]){"zeros", "list", "random", NULL});
  if (m->initial_kind == LIST) m->initial_state = numbers("initialState", m->size);
  if (m->initial_kind == RANDOM) m->initial_draws = read_draws("x0", 1);
  c->sequences = (int)field("sequences");
  c->steps = (int)field("steps");
  c->outputs = (int)field("outputs");
  c->washout = (int)field("washout");
  expect("solver");
  c->solver = (Solver)choice("solver", (const char *const[]){"cholesky", "qr", "dual", NULL});
  c->lambda = field("lambda");
  c->features.square_half = field("squareHalf") != 0;
  c->features.input = field("input") != 0;
  c->features.squares = field("squares") != 0;
  c->generate = (int)field("generate");
  return true;
}

static double *series(uint32_t seed, int rows, int columns) {
  double *values = allocate((size_t)rows * columns, sizeof *values);
  for (size_t i = 0; i < (size_t)rows * columns; i++) {
    seed = 1664525 * seed + 1013904223;
    values[i] = (seed >> 20) / 2048.0 - 1;
  }
  return values;
}

static double *differences(const double *u, int rows, int inputs, int outputs) {
  double *y = allocate((size_t)rows * outputs, sizeof *y);
  for (int t = 0; t < rows; t++)
    for (int o = 0; o < outputs; o++) y[t * outputs + o] = u[t * inputs + o] - (t > 0 ? u[(t - 1) * inputs + o] : 0);
  return y;
}

static State initial_state(const Model *model, uint32_t sequence, int outputs) {
  State state = {.step = 0, .sequence = sequence};
  state.x = allocate((size_t)model->size, sizeof *state.x);
  state.u = allocate((size_t)model->inputs, sizeof *state.u);
  state.y = allocate((size_t)outputs, sizeof *state.y);
  memcpy(state.x, model->initial_state, (size_t)model->size * sizeof *state.x);
  return state;
}

/** One step with input u: x(t+1) from x(t), u(t+1) and y(t). */
static void advance(const Model *model, State *state, const double *u) {
  double *next = allocate((size_t)model->size, sizeof *next);
  memcpy(state->u, u, (size_t)model->inputs * sizeof *u);
  if (model->integer_bits > 0) advance_integer(model, state->x, u, state->y, next);
  else (model->single ? advance_float : advance_double)(model, state->x, u, state->y, state->step, state->sequence, next);
  free(state->x);
  state->x = next;
  state->step++;
}

static void hash_values(Sha256 *sha, const double *values, size_t count, bool single) {
  for (size_t i = 0; i < count; i++) {
    if (single) sha256_word(sha, bits32((float)values[i]), 4);
    else sha256_word(sha, bits64(values[i]), 8);
  }
}

static void print_hash(const Case *c, const char *what, Sha256 *sha) {
  char hex[65];
  sha256_finish(sha, hex);
  printf("%s %s %s\n", c->name, what, hex);
}

static void hash_weights(const Case *c) {
  const Model *m = &c->model;
  size_t n = (size_t)m->size;
  Sha256 sha;
  sha256_start(&sha);
  if (m->sparse) hash_values(&sha, m->values, (size_t)m->row_start[n], m->single);
  else hash_values(&sha, m->dense, n * n, m->single);
  hash_values(&sha, m->input_weights, n * (size_t)m->inputs, m->single);
  hash_values(&sha, m->bias, n, m->single);
  hash_values(&sha, m->feedback_weights, n * (size_t)m->outputs, m->single);
  hash_values(&sha, m->initial_state, n, m->single);
  print_hash(c, "weights", &sha);
}

/** Closed loop, in the order that ReservoirComputer.generate documents. */
static void generate(const Case *c, const Readout *readout, State *state) {
  const Model *m = &c->model;
  bool feedback = m->outputs > 0;
  int outside = feedback ? m->inputs : m->inputs - c->outputs;
  double *from_outside = series(100, c->generate, outside);
  double *u = allocate((size_t)m->inputs, sizeof *u);
  Sha256 sha;
  sha256_start(&sha);
  for (int t = 0; t < c->generate; t++) {
    if (!feedback) {
      evaluate_readout(m, readout, state->x, state->u, state->y);
      memcpy(u, state->y, (size_t)c->outputs * sizeof *u);
    }
    memcpy(u + (feedback ? 0 : c->outputs), from_outside + t * outside, (size_t)outside * sizeof *u);
    advance(m, state, u);
    if (feedback) evaluate_readout(m, readout, state->x, state->u, state->y);
    hash_values(&sha, state->y, (size_t)c->outputs, m->single);
  }
  print_hash(c, "prediction", &sha);
  free(from_outside);
  free(u);
}

static void run_case(Case *c) {
  Model *m = &c->model;
  draw_model(m);
  hash_weights(c);

  Training data = {.rows = 0, .features = feature_count(m, &c->features) + 1, .outputs = c->outputs};
  size_t most = c->outputs > 0 ? (size_t)c->sequences * (size_t)(c->steps - c->washout) : 0;
  data.x = allocate(most * (size_t)data.features, sizeof *data.x);
  data.y = allocate(most * (size_t)data.outputs, sizeof *data.y);
  State first = {0};
  Sha256 sha;
  sha256_start(&sha);
  for (int k = 0; k < c->sequences; k++) {
    double *u = series((uint32_t)k + 1, c->steps, m->inputs), *y = differences(u, c->steps, m->inputs, c->outputs);
    State state = initial_state(m, (uint32_t)k, c->outputs);
    for (int t = 0; t < c->steps; t++) {
      advance(m, &state, u + t * m->inputs);
      if (m->outputs > 0) memcpy(state.y, y + t * m->outputs, (size_t)m->outputs * sizeof *y);
      hash_values(&sha, state.x, (size_t)m->size, m->single);
      if (c->outputs == 0 || t < c->washout) continue;
      double *row = data.x + (size_t)data.rows * data.features;
      write_features(m, &c->features, state.x, state.u, row);
      row[data.features - 1] = 1;
      memcpy(data.y + (size_t)data.rows++ * data.outputs, y + t * c->outputs, (size_t)c->outputs * sizeof *y);
    }
    if (k == 0) first = state;
    free(u);
    free(y);
  }
  print_hash(c, "states", &sha);
  if (c->outputs == 0) return;

  Readout readout = train_readout(c->solver, c->lambda, &data, &c->features);
  sha256_start(&sha);
  hash_values(&sha, readout.weights, (size_t)readout.outputs * readout.count, false);
  hash_values(&sha, readout.intercept, (size_t)readout.outputs, false);
  print_hash(c, "readout", &sha);
  generate(c, &readout, &first);
}

static void print_philox(uint32_t c0, uint32_t c1, uint32_t c2, uint32_t c3, uint32_t k0, uint32_t k1) {
  uint32_t w[4];
  philox((uint32_t[]){c0, c1, c2, c3}, (uint32_t[]){k0, k1}, w);
  printf("philox %08x %08x %08x %08x\n", (unsigned)w[0], (unsigned)w[1], (unsigned)w[2], (unsigned)w[3]);
}

static uint32_t fnv(uint32_t h, uint32_t word) { return (h ^ word) * 0x01000193; }

/** What docs/numerics.md and the literature say the answers of: the counters and keys are those of Random123's known answer tests. */
static void print_known(void) {
  print_philox(0, 0, 0, 0, 0, 0);
  print_philox(0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff);
  print_philox(0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0);

  uint32_t h = 0x811c9dc5;
  for (uint32_t bits = 0; bits <= 0x41A00FFF; bits++) h = fnv(h, bits32(tanh_float(float32_of(bits))));
  printf("tanh32 %08x\n", (unsigned)h);
  h = 0x811c9dc5;
  for (uint64_t i = 0; i < 1 << 24; i++) {
    uint64_t result = bits64(tanh_double(float64_of(0x3E40000000000000 + i * 0x1F4041357)));
    h = fnv(fnv(h, (uint32_t)result), (uint32_t)(result >> 32));
  }
  printf("tanh64 %08x\n", (unsigned)h);
  h = 0x811c9dc5;
  for (uint64_t i = 0; i < 100000; i++) {
    uint64_t result = bits64(portable_log(float64_of(1 + i * 0x53D859C8C932)));
    h = fnv(fnv(h, (uint32_t)result), (uint32_t)(result >> 32));
  }
  printf("log %08x\n", (unsigned)h);

  Sha256 sha;
  char hex[65];
  sha256_start(&sha);
  for (const char *message = "abc"; *message; message++) sha256_byte(&sha, (uint8_t)*message);
  sha256_finish(&sha, hex);
  printf("sha256 %s\n", hex);
}

int main(int count, char **arguments) {
  if (count > 1 && strcmp(arguments[1], "known") == 0) {
    print_known();
    return 0;
  }
  Case c;
  while (read_case(&c)) run_case(&c);
  return 0;
}
