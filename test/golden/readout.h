// A linear readout and what it sees: docs/numerics.md, rule 10.

/** The columns of a row: the state, then the input, then the squares, in binary64. */
typedef struct {
  bool square_half, input, squares;
} Features;

typedef struct {
  Features features;
  int count, outputs;
  /** O x F, and O. */
  double *weights, *intercept;
} Readout;

static int feature_count(const Model *model, const Features *features) {
  return model->size + (features->input ? model->inputs : 0) + (features->squares ? model->size : 0);
}

static void write_features(const Model *model, const Features *features, const double *x, const double *u, double *out) {
  for (int i = 0; i < model->size; i++) *out++ = features->square_half && i % 2 == 1 ? x[i] * x[i] : x[i];
  for (int i = 0; features->input && i < model->inputs; i++) *out++ = u[i];
  for (int i = 0; features->squares && i < model->size; i++) *out++ = x[i] * x[i];
}

/** y = weights . features + intercept, rounded to the model's precision. */
static void evaluate_readout(const Model *model, const Readout *readout, const double *x, const double *u, double *y) {
  double *row = allocate((size_t)readout->count, sizeof *row);
  write_features(model, &readout->features, x, u, row);
  for (int o = 0; o < readout->outputs; o++) {
    y[o] = rounded(model, dense_dot_double(readout->weights + (size_t)o * readout->count, row, readout->count) + readout->intercept[o]);
  }
  free(row);
}
