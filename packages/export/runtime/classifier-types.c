/* A reservoir, and the series that it takes: 0 or its differences, in which direction, and whether its inputs are features. */
typedef struct {
  const reservoir *parts;
  int count, width, size;
  const neuron *initial_state;
  int of, backward, inputs;
  const double *mean, *deviation;
  const double *levels, *input_levels;
} view;

typedef struct {
  const double *weights, *intercept;
  int features, is_softmax;
  const double *factor;
} head;

typedef model_work work_area;

