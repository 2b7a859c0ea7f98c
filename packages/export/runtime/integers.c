/* value / 2^by, towards minus infinity. */
static int32_t shifted(int32_t value, int by)
{
  return value < 0 ? ~(~value >> by) : value >> by;
}

static int64_t wide_shifted(int64_t value, int by)
{
  return value < 0 ? ~(~value >> by) : value >> by;
}

/* value / 2^by to the nearest, halves up, held within `most`. */
static int64_t rounded_by(int64_t value, int by, int64_t most)
{
  const int64_t out = by > 0 ? wide_shifted(value + ((int64_t)1 << (by - 1)), by) : value * ((int64_t)1 << -by);
  return out > most ? most : out < -most ? -most : out;
}

#if INPUTS
void model_scores(const int32_t *values, int16_t *input)
{
  int i;
  for (i = 0; i < INPUTS; i++)
    input[i] = (int16_t)rounded_by(((int64_t)values[i] - input_means[i]) * input_factors[i], input_shifts[i], 32767);
}

#endif
void model_values(const int64_t *output, int32_t *values)
{
  int o;
  for (o = 0; o < OUTPUTS; o++) {
    const int64_t scores = rounded_by(output[o], VALUE_SHIFT, INT32_MAX);
    values[o] = (int32_t)rounded_by(target_means[o] + rounded_by(scores * target_factors[o], target_shifts[o], INT64_MAX / 2), 0, INT32_MAX);
  }
}

/* tanh by a table; z and the result in steps of 2^-15. */
static int32_t tanh_of(int32_t z)
{
  const int32_t size = z < -262143 || z > 262143 ? 262143 : z < 0 ? -z : z;
  const int32_t from = tanh_table[size >> 9], to = tanh_table[(size >> 9) + 1];
  const int32_t value = from + (((to - from) * (size & 511) + 256) >> 9);
  return z < 0 ? -value : value;
}

/* x' = x + a (tanh(b + W_in u + W x + W_fb y) - x). No sum leaves 32 bits: weights were made so. */
static void advance(model_state *state
#if INPUTS
                    , const int16_t *u
#endif
                    )
{
  int r, i;
  uint32_t p;
  for (r = 0; r < SIZE; r++) {
    const int32_t before = state->x[r];
    int32_t sum = 0;
#if INPUTS
    for (i = 0; i < INPUTS; i++) sum += (int32_t)input_weights[r * INPUTS + i] * u[i];
#endif
#if FEEDBACK
    for (i = 0; i < OUTPUTS; i++) sum += (int32_t)feedback_weights[r * OUTPUTS + i] * state->fed[i];
#endif
#if BIAS
    sum = sum * 8 + bias[r];
#else
    sum = sum * 8 + ((1 << exponents[r]) >> 1);
#endif
#if SPARSE
    for (p = row_offsets[r]; p < row_offsets[r + 1]; p++) sum += (int32_t)weights[p] * state->x[columns[p]];
#else
    for (p = 0; p < SIZE; p++) sum += (int32_t)weights[(uint32_t)r * SIZE + p] * state->x[p];
#endif
    sum = tanh_of(shifted(sum, exponents[r]));
#if LEAK
    state->next[r] = (int16_t)(before + shifted(LEAK * (sum - before) + 16384, 15));
#else
    state->next[r] = (int16_t)(before + shifted((int32_t)leak[r] * (sum - before) + 16384, 15));
#endif
  }
  for (r = 0; r < SIZE; r++) state->x[r] = state->next[r];
  (void)i;
}

/* A sum as binary32 holds it: its first 24 bits, to nearest even. */
static int64_t in_24_bits(int64_t sum)
{
  uint64_t size = sum < 0 ? (uint64_t)-sum : (uint64_t)sum, rest, half;
  int by = 0;
  while (size >> by >> 24 != 0) by++;
  if (by == 0) return sum;
  half = (uint64_t)1 << (by - 1);
  rest = size & (half * 2 - 1);
  size = (size >> by) + (rest > half || (rest == half && (size >> by & 1) != 0));
  return sum < 0 ? -(int64_t)(size << by) : (int64_t)(size << by);
}

/* What the readout makes of the state. */
static void answer(const int16_t *x, int64_t *output)
{
  int o, k;
  for (o = 0; o < OUTPUTS; o++) {
    int64_t sum = intercept[o];
    for (k = 0; k < SIZE; k++) sum += (int64_t)readout[o * SIZE + k] * x[k];
    output[o] = in_24_bits(sum);
#if FINER
    output[o] = output[o] * ((int64_t)1 << finer[o]);
#endif
  }
}

#if HOLDS
/* Holds outputs in their range. */
static void hold(int64_t *output)
{
  int o;
  for (o = 0; o < OUTPUTS; o++) {
    if (output[o] < lower[o]) output[o] = lower[o];
    if (output[o] > upper[o]) output[o] = upper[o];
  }
}

#endif
void model_begin(model_state *state)
{
  int r;
  for (r = 0; r < SIZE; r++) state->x[r] = trained_state[r];
#if FEEDBACK
  for (r = 0; r < OUTPUTS; r++) state->fed[r] = trained_fed[r];
#endif
}

void model_reset(model_state *state)
{
  int r;
#if INITIAL
  for (r = 0; r < SIZE; r++) state->x[r] = initial_state[r];
#else
  for (r = 0; r < SIZE; r++) state->x[r] = 0;
#endif
#if FEEDBACK
  for (r = 0; r < OUTPUTS; r++) state->fed[r] = 0;
#endif
}

#if CLOSES
/* Outputs as they are fed back: in steps of 2^-12. */
static void feed(const int64_t *output, int16_t *fed)
{
  int o;
  for (o = 0; o < OUTPUTS; o++) fed[o] = (int16_t)rounded_by(output[o], FED_SHIFT, 32767);
}

#endif
void model_predict(model_state *state,
#if INPUTS
                   const int16_t *input,
#endif
                   int64_t *output)
{
#if INPUTS
  advance(state, input);
#else
  advance(state);
#endif
  if (!output) return;
  answer(state->x, output);
#if FEEDBACK
  feed(output, state->fed);
#endif
}

#if FEEDBACK
void model_teach(model_state *state,
#if INPUTS
                 const int16_t *input,
#endif
                 const int16_t *target)
{
  int o;
#if INPUTS
  advance(state, input);
#else
  advance(state);
#endif
  for (o = 0; o < OUTPUTS; o++) state->fed[o] = target[o];
}

#endif
#if CLOSES
void model_forecast(model_state *state, int steps,
#if OUTSIDE
                    const int16_t *input,
#endif
                    int64_t *output)
{
  int t;
#if FEEDBACK
  for (t = 0; t < steps; t++, output += OUTPUTS) {
#if INPUTS
    advance(state, input);
    input += INPUTS;
#else
    advance(state);
#endif
    answer(state->x, output);
#if HOLDS
    hold(output);
#endif
    feed(output, state->fed);
  }
#else
  int16_t u[INPUTS];
  int i;
  for (t = 0; t < steps; t++, output += OUTPUTS) {
    answer(state->x, output);
#if HOLDS
    hold(output);
#endif
    feed(output, u);
#if OUTSIDE
    for (i = OUTPUTS; i < INPUTS; i++) u[i] = *input++;
#endif
    advance(state, u);
  }
  (void)i;
#endif
}
#endif
