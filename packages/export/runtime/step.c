#if INTEGER
/* value / 2^by, towards minus infinity. */
static int32_t shifted(int32_t value, int by)
{
  return value < 0 ? ~(~value >> by) : value >> by;
}

/* tanh by a table; z and the result in steps of 2^-15. */
static int32_t tanh_of(int32_t z)
{
  const int32_t size = z < -262143 || z > 262143 ? 262143 : z < 0 ? -z : z;
  const int32_t from = tanh_table[size >> 9], to = tanh_table[(size >> 9) + 1];
  const int32_t value = from + (((to - from) * (size & 511) + 256) >> 9);
  return z < 0 ? -value : value;
}

/* An input in steps of 2^-12, to the nearest, halves up, held within 16 bits. */
static int16_t in_steps(real value)
{
  const double steps = (double)value * 4096.0 + 0.5;
  int32_t whole;
  if (!(steps > -32767.0)) return -32767;
  if (steps >= 32767.0) return 32767;
  whole = (int32_t)steps;
  return (int16_t)((double)whole > steps ? whole - 1 : whole);
}

/* x' = x + a (tanh(b + W_in u + W x + W_fb y) - x), rule 18. No sum leaves 32 bits. */
static void advance(const reservoir *m, neuron *x, neuron *next, const real *u, const real *y)
{
  const int inputs = m->inputs;
  int r, i;
#if INPUTS
  int16_t driven[MOST_INPUTS];
#endif
#if FEEDBACK
  int16_t fed[OUTPUTS];
  for (i = 0; i < OUTPUTS; i++) fed[i] = in_steps(y[i]);
#endif
  (void)inputs;
  (void)u;
  (void)y;
#if INPUTS
  for (i = 0; i < MOST_INPUTS; i++) driven[i] = i < inputs ? in_steps(u[i]) : 0;
#endif
  for (r = 0; r < m->size; r++) {
    const int32_t before = x[r];
    int32_t sum = 0;
#if INPUTS
    for (i = 0; i < inputs; i++) sum += (int32_t)m->input_weights[r * inputs + i] * driven[i];
#endif
#if FEEDBACK
    for (i = 0; m->feedback_weights && i < OUTPUTS; i++) sum += (int32_t)m->feedback_weights[r * OUTPUTS + i] * fed[i];
#endif
    sum = row_times(m, r, x, sum * 8 + m->bias[r]);
    sum = tanh_of(shifted(sum, m->exponents[r]));
    next[r] = (int16_t)(before + shifted((int32_t)m->leak[r * m->leak_step] * (sum - before) + 16384, 15));
  }
  for (r = 0; r < m->size; r++) x[r] = next[r];
}
#else
#if DOUBLE
#define TANH tanh_of_double
#else
#define TANH tanh_of_single
#endif
/* f(z), rule 4: tanh, z, relu or a sigmoid. */
static real activate(int kind, real z)
{
#if IDENTITY
  if (kind == 1) return z;
#endif
#if RELU
  if (kind == 2) return z <= 0 ? 0 : z;
#endif
#if SIGMOID
  if (kind == 3) return (real)0.5 + (real)0.5 * TANH((real)0.5 * z);
#endif
#if TANH
  if (kind == 0) return TANH(z);
#endif
  return z;
}

/* x' = (1 - a) x + a f(b + W_in u + W x + W_fb y + noise), rules 3 to 6; with a cell k O x for (1 - a) x. */
static void advance(const reservoir *m, real *x, real *next, const real *u, const real *y, uint32_t t)
{
  const int inputs = m->inputs;
  int r, i;
#if NOISE
  uint32_t words[4] = {0};
#endif
  for (r = 0; r < m->size; r++) {
    const real a = m->leak[r * m->leak_step];
    real z = m->bias ? m->bias[r] : 0, keep = (real)1 - a, before = x[r];
    for (i = 0; i < inputs; i++) z = z + m->input_weights[r * inputs + i] * u[i];
    z = z + row_times(m, r, x);
#if FEEDBACK
    if (m->feedback_weights) {
      real fed = 0;
      for (i = 0; i < OUTPUTS; i++) fed = fed + m->feedback_weights[r * OUTPUTS + i] * y[i];
      z = z + fed;
    }
#endif
#if NOISE
    if (m->noise) z = z + noise_of(m, t, r, words);
#endif
#if CELL
    if (m->keep) {
      keep = m->keep[r];
#if ORTHOGONAL
      if (m->orthogonal) before = orthogonal_row(m, r, x);
#endif
    }
#endif
    next[r] = keep * before + a * activate(m->activation, z);
  }
  for (r = 0; r < m->size; r++) x[r] = next[r];
  (void)y;
  (void)t;
}
#endif

/* One step of the reservoirs of a member: layers, each on the one below, or groups beside one another. */
static void advance_parts(const reservoir *part, int count, neuron *x, neuron *next, const real *u, const real *y, uint32_t t)
{
#if COMPOSITE
  real taken[MOST_INPUTS];
#endif
  for (; count > 0; count--, part++) {
    const real *inputs = u;
#if COMPOSITE
    inputs = part_inputs(part, x, u, taken);
#endif
#if INTEGER
    advance(part, x, next, inputs, y);
#else
    advance(part, x, next, inputs, y, t);
#endif
    x += part->size;
  }
  (void)t;
}
