// Reproduces what Spillway's engines compute for spiking reservoirs, from docs/numerics.md (rules 7, 8 and 12) alone, and prints SHA-256 sums
// of it. It shares no code with the package and is no engine: nothing here is made to be fast.
//
//   gcc -std=c11 -O2 -ffp-contract=off -o spiking spiking.c -lm
//   ./spiking < descriptions          one line for each sum: NAME WHAT SHA256 (spiking.json holds them)
//
// A description is one line of words in the order of read_case, written by spiking.ts. Inputs come from s = 1664525 s + 1013904223 mod 2^32 from s = 1, row after row,
// v = s >> 20 after one such step for each value: a current is v / 2048 - 1; as spikes, v < 205 gives 1 where v is odd and 0.75 where it is even, else 0.
//
// The sums, over values as little-endian bytes: synapses (offsets, targets, units as 32 bits, delays as 16; of neurons, then of channels, or W_in in the precision),
// states (all rows), potentials (after the last step).
#include <float.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sha256.h"
#include "portable.h"
#include "random.h"

_Static_assert(FLT_EVAL_METHOD == 0, "float and double operations must round to their own precision");

enum { STREAM_SYNAPSES = 8, STREAM_INPUTS, STREAM_GRID, STREAM_POTENTIALS };
enum { PURPOSE_SIZES, PURPOSE_POSITIONS, PURPOSE_ACCEPTANCE, PURPOSE_DELAYS, PURPOSE_SIGNS };
enum { LEAKY, ADAPTIVE, IZHIKEVICH };

/** exp of rule 8, for |x| below 700. */
static double portable_exp(double h) {
  static const double e_coefficients[] = {0x1p-1, 0x1.5555555555555p-3, 0x1.555555555555bp-5, 0x1.11111111110ecp-7, 0x1.6c16c16c14264p-10, 0x1.a01a01a02c74bp-13,
                                          0x1.a01a01b0b83c5p-16, 0x1.71de3a13da19bp-19, 0x1.27e4c662bb9c5p-22, 0x1.ae652259774bbp-26, 0x1.1f936d41de79ep-29, 0x1.607c2578ff551p-33};
  if (h < -746) return 0;
  double n = round_whole(h * 0x1.71547652b82fep+0);
  double a = h - n * 0x1.62e42fefa3800p-1, b = n * 0x1.ef35793c76730p-45 - 0;
  double r = a - b;
  double c = (r * r) * horner64(e_coefficients, 11, r) - b;
  double s = 1 + a, m = s + (((1 - s) + a) + c);
  double k = floor(n / 2);
  return ldexp(ldexp(m, (int)k), (int)(n - k));
}

static double keep_of(double tau, double dt) { return tau == 0 ? 0 : portable_exp(-dt / tau); }

/** To the nearest whole number, halves up. */
static double halves_up(double x) {
  double below = floor(x);
  return x - below >= .5 ? below + 1 : below;
}

typedef struct {
  double tau, rest, threshold, reset, refractory, adaptation_tau, adaptation_step; /* reset: the potential, or what is subtracted */
  double a, b, c, d;
} Neuron;

typedef struct {
  char name[64];
  bool single; /* binary32 */
  int size, inputs, kind, connectivity, bits, steps, distribution, input_distribution, current_mode, sides[3];
  bool subtracts;
  double dt, share, lambda, probability[4], tau_e, tau_i, weight[4], delay[4][2];
  double input_connectivity, input_weight, negative_share, input_delay, background, deviation, rate, background_weight, from, to, state_tau;
  uint32_t key[4];
  Neuron neuron[2];
} Case;

typedef struct {
  int sources, count, capacity;
  uint32_t *offsets, *targets;
  int32_t *units;
  uint32_t *delays;
} Table;

static double number(void) {
  double value;
  if (scanf("%lf", &value) != 1) exit(2);
  return value;
}

static bool read_case(Case *c) {
  if (scanf("%63s", c->name) != 1) return false;
  for (int i = 0; i < 4; i++)
    if (scanf("%x", &c->key[i]) != 1) exit(2);
  c->single = number(), c->size = number(), c->inputs = number(), c->steps = number(), c->dt = number(), c->kind = number(), c->subtracts = number();
  for (int p = 0; p < 2; p++) {
    Neuron *n = &c->neuron[p];
    if (c->kind == IZHIKEVICH) n->a = number(), n->b = number(), n->c = number(), n->d = number();
    else {
      n->tau = number(), n->rest = number(), n->threshold = number(), n->reset = number(), n->refractory = number();
      if (c->kind == ADAPTIVE) n->adaptation_tau = number(), n->adaptation_step = number();
    }
  }
  c->share = number(), c->connectivity = number(), c->lambda = number();
  for (int i = 0; i < 3; i++) c->sides[i] = number();
  for (int i = 0; i < 4; i++) c->probability[i] = number();
  c->tau_e = number(), c->tau_i = number(), c->distribution = number();
  for (int i = 0; i < 4; i++) c->weight[i] = number();
  for (int i = 0; i < 4; i++) c->delay[i][0] = number(), c->delay[i][1] = number();
  c->current_mode = number(), c->input_connectivity = number(), c->input_weight = number(), c->input_distribution = number(), c->negative_share = number(), c->input_delay = number();
  c->background = number(), c->deviation = number(), c->rate = number(), c->background_weight = number();
  c->from = number(), c->to = number(), c->state_tau = number(), c->bits = number();
  return true;
}

static void add(Table *t, uint32_t target, double weight, uint32_t delay, int bits) {
  if (t->count == t->capacity) {
    t->capacity = t->capacity ? 2 * t->capacity : 1024;
    t->targets = realloc(t->targets, 4 * t->capacity), t->units = realloc(t->units, 4 * t->capacity), t->delays = realloc(t->delays, 4 * t->capacity);
  }
  t->targets[t->count] = target, t->units[t->count] = (int32_t)halves_up(ldexp(weight, bits)), t->delays[t->count++] = delay;
}

/** Puts the synapses from `first` on in order of delay, then of target: exchanges neighbours until nothing changes place. */
static void sort_source(Table *t, int first) {
  for (bool again = true; again;) {
    again = false;
    for (int s = first + 1; s < t->count; s++) {
      if (t->delays[s - 1] < t->delays[s] || (t->delays[s - 1] == t->delays[s] && t->targets[s - 1] < t->targets[s])) continue;
      uint32_t target = t->targets[s], delay = t->delays[s];
      int32_t units = t->units[s];
      t->targets[s] = t->targets[s - 1], t->delays[s] = t->delays[s - 1], t->units[s] = t->units[s - 1];
      t->targets[s - 1] = target, t->delays[s - 1] = delay, t->units[s - 1] = units;
      again = true;
    }
  }
}

static double scatter(int distribution, const uint32_t *key, uint32_t source, uint32_t m, uint32_t stream) {
  if (distribution == 0) return 1;
  double u = uniform_draw(key, source, m, stream, PURPOSE_SIZES);
  return distribution == 1 ? 2 * u : -portable_log(1 - u);
}

static int pair(int source, int target, int excitatory) { return 2 * (source >= excitatory) + (target >= excitatory); }

/** Marks the targets of a source by the rule of random connectivity. */
static void random_targets(const Case *c, int source, int excitatory, bool *reached) {
  int *positions = malloc(sizeof(int) * c->size);
  for (int population = 0; population < 2; population++) {
    int first = population ? excitatory : 0, last = population ? c->size : excitatory;
    bool holds = source >= first && source < last;
    int count = draw_positions(c->key, 2 * source + population, STREAM_SYNAPSES, c->probability[2 * (source >= excitatory) + population], last - first - holds, positions);
    for (int m = 0; m < count; m++) {
      int target = first + positions[m];
      reached[holds && target >= source ? target + 1 : target] = true;
    }
  }
  free(positions);
}

/** The same by distance. Shells are found anew for every source: by every whole squared distance there can be. */
static void near_targets(const Case *c, int source, int excitatory, const uint32_t *points, bool *reached) {
  const int *side = c->sides;
  int kind = 2 * (source >= excitatory);
  double largest = fmax(c->probability[kind], c->probability[kind + 1]), squared_lambda = c->lambda * c->lambda;
  int longest = side[0] > side[1] ? side[0] : side[1], reach = 0;
  if (side[2] > longest) longest = side[2];
  while (reach < longest && largest * portable_exp(-((double)(reach + 1) * (reach + 1)) / squared_lambda) >= 1e-6) reach++;
  int limit[3];
  for (int i = 0; i < 3; i++) limit[i] = side[i] - 1 < reach ? side[i] - 1 : reach;
  int point = points[source], x = point % side[0], y = point / side[0] % side[1], z = point / (side[0] * side[1]);
  uint32_t draw = 0;
  for (int s = 1; s <= limit[0] * limit[0] + limit[1] * limit[1] + limit[2] * limit[2]; s++) {
    double chance = largest * portable_exp(-(double)s / squared_lambda);
    if (chance < 1e-6) break;
    int candidate = 0;
    bool exists = false;
    double position = -1;
    bool drawn = false;
    for (int dz = -limit[2]; dz <= limit[2]; dz++)
      for (int dy = -limit[1]; dy <= limit[1]; dy++)
        for (int dx = -limit[0]; dx <= limit[0]; dx++) {
          if (dx * dx + dy * dy + dz * dz != s) continue;
          exists = true;
          if (!drawn) {
            position += chance < 1 ? 1 + floor(portable_log(1 - uniform_draw(c->key, source, draw, STREAM_SYNAPSES, PURPOSE_POSITIONS)) / portable_log(1 - chance)) : 1;
            drawn = true;
          }
          if (candidate++ != position) continue;
          double accepted = uniform_draw(c->key, source, draw++, STREAM_SYNAPSES, PURPOSE_ACCEPTANCE);
          drawn = false;
          int tx = x + dx, ty = y + dy, tz = z + dz;
          if (tx < 0 || tx >= side[0] || ty < 0 || ty >= side[1] || tz < 0 || tz >= side[2]) continue;
          int there = (tz * side[1] + ty) * side[0] + tx;
          for (int target = 0; target < c->size; target++)
            if ((int)points[target] == there && accepted * largest < c->probability[kind + (target >= excitatory)]) reached[target] = true;
        }
    if (exists) draw++;
  }
}

static Table recurrent(const Case *c, int excitatory) {
  Table t = {.sources = c->size, .offsets = calloc(c->size + 1, 4)};
  uint32_t *points = malloc(4 * c->size);
  for (int p = 0; p < c->size; p++) points[p] = p;
  for (int p = c->size - 1; p > 0; p--) {
    int other = (int)floor(uniform_draw(c->key, 0, p, STREAM_GRID, 0) * (p + 1));
    uint32_t point = points[p];
    points[p] = points[other], points[other] = point;
  }
  bool *reached = malloc(c->size);
  for (int source = 0; source < c->size; source++) {
    memset(reached, 0, c->size);
    if (c->connectivity == 0) random_targets(c, source, excitatory, reached);
    else near_targets(c, source, excitatory, points, reached);
    int first = t.count;
    for (int target = 0, m = 0; target < c->size; target++) {
      if (!reached[target]) continue;
      int kind = pair(source, target, excitatory);
      double size = c->weight[kind] * scatter(c->distribution, c->key, source, m, STREAM_SYNAPSES);
      double least = c->delay[kind][0], most = c->delay[kind][1];
      double delay = least == most ? least : least + (most - least) * uniform_draw(c->key, source, m, STREAM_SYNAPSES, PURPOSE_DELAYS);
      add(&t, target, source < excitatory ? size : -size, (uint32_t)halves_up(delay / c->dt), c->bits);
      m++;
    }
    sort_source(&t, first);
    t.offsets[source + 1] = t.count;
  }
  free(points), free(reached);
  return t;
}

/** The synapses of input channels, or W_in in `dense`. */
static Table from_inputs(const Case *c, double *dense) {
  Table t = {.sources = c->inputs, .offsets = calloc(c->inputs + 1, 4)};
  int *positions = malloc(sizeof(int) * c->size);
  for (int channel = 0; channel < c->inputs; channel++) {
    int count = draw_positions(c->key, channel, STREAM_INPUTS, c->input_connectivity, c->size, positions);
    for (int m = 0; m < count; m++) {
      double weight = c->input_weight * scatter(c->input_distribution, c->key, channel, m, STREAM_INPUTS);
      if (c->negative_share > 0 && uniform_draw(c->key, channel, m, STREAM_INPUTS, PURPOSE_SIGNS) < c->negative_share) weight = -weight;
      if (c->current_mode) dense[positions[m] * c->inputs + channel] = weight;
      else add(&t, positions[m], weight, (uint32_t)halves_up(c->input_delay / c->dt), c->bits);
    }
    t.offsets[channel + 1] = t.count;
  }
  free(positions);
  return t;
}

static void sum_table(Sha256 *sha, const Table *t) {
  for (int i = 0; i <= t->sources; i++) sha256_word(sha, t->offsets[i], 4);
  for (int s = 0; s < t->count; s++) sha256_word(sha, t->targets[s], 4);
  for (int s = 0; s < t->count; s++) sha256_word(sha, (uint32_t)t->units[s], 4);
  for (int s = 0; s < t->count; s++) sha256_word(sha, t->delays[s], 2);
}

static void print_sum(const Case *c, const char *what, Sha256 *sha) {
  char hex[65];
  sha256_finish(sha, hex);
  printf("%s %s %s\n", c->name, what, hex);
}

#define REAL float
#define RINT rintf
#define NAME(name) name##_float
#define WORD(x) bits32(x)
#include "spiking.inc"
#undef REAL
#undef RINT
#undef NAME
#undef WORD
#define REAL double
#define RINT rint
#define NAME(name) name##_double
#define WORD(x) bits64(x)
#include "spiking.inc"

int main(void) {
  Case c;
  while (read_case(&c)) {
    if (c.single) run_float(&c);
    else run_double(&c);
  }
}
