/* A column of a classical member: its season (0 none, 1 added, 2 multiplied), the rows of one, whether forecasts have a
   least value; then phi, alpha, beta, gamma and that value. */
typedef struct {
  int season, length, floored;
  const double *constants;
} smoothing;

/* A member of a combination: 0 the closed loops, 1 classical, 2 of windows, 3 polynomials; with its weight in each column. */
typedef struct {
  int kind;
  /* Where its numbers are in `beside`; rows that it keeps, rows of a season, and steps that are forecast at once. */
  int at, window, season, horizon;
  const double *weights;
  const smoothing *columns;
  const double *readout, *intercept, *numbers;
  const reservoir *parts;
  int count, width, size;
  const neuron *initial_state;
} entry;
