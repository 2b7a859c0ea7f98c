/* A transform of the series: a difference, a squash, a logarithm, z-scores or a power, with its numbers. */
typedef struct {
  int kind, lag;
  const double *a, *b;
} transform;

typedef struct {
  const reservoir *parts;
  /* Reservoirs; the neurons of all, and of those that are read. */
  int count, width, size;
  const neuron *initial_state;
  /* Features of the readout, those beside the state, and rows of the series among them. */
  int features, input_features, lags;
  const double *readout, *intercept, *loop_readout, *loop_intercept;
  const double *input_mean, *input_deviation;
  const double *target_mean, *target_deviation, *loop_mean, *loop_deviation, *lower, *upper;
  /* Its transforms, and the rows that their differences take first. */
  const transform *transforms;
  int steps, lost;
  /* Where the model is. */
  const double *past;
  const neuron *state;
  const real *input, *fed, *recent;
  uint32_t step;
} member;

