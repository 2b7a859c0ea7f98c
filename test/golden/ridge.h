// Ridge regression in binary64: docs/numerics.md, rules 9 (sums) and 11 (factorisations). It minimises the sum over rows of (y - w x)^2
// plus lambda w^2, where the last feature is always 1 and its weight is not penalised. One function for each solver.

typedef enum { CHOLESKY, QR, DUAL } Solver;

/** Training rows. */
typedef struct {
  int rows, features, outputs;
  /** rows x features, the last feature 1, and rows x outputs. */
  double *x, *y;
} Training;

enum { SUM_BLOCK = 1024, FACTOR_BLOCK = 256, FACTOR_GROUP = 36 };

/** Sum of a[t * width_a] b[t * width_b] over t in rising order, block by block. */
static double blocked_sum(const double *a, int width_a, const double *b, int width_b, int count) {
  double total = 0;
  for (int first = 0; first < count; first += SUM_BLOCK) {
    double block = 0;
    for (int t = first; t < count && t < first + SUM_BLOCK; t++) block = block + a[(size_t)t * width_a] * b[(size_t)t * width_b];
    total = total + block;
  }
  return total;
}

/** Replaces the lower triangle of the n x n matrix by its Cholesky factor. */
static void factor_cholesky(double *a, size_t n) {
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j <= i; j++) {
      double s = a[i * n + j];
      for (size_t k = 0; k < j; k++) s = s - a[i * n + k] * a[j * n + k];
      if (i == j && !(s > 0)) {
        fprintf(stderr, "not positive definite at row %zu\n", i);
        exit(1);
      }
      a[i * n + j] = i == j ? sqrt(s) : s / a[j * n + j];
    }
  }
}

/** Replaces c by the solution of L L^T w = c. */
static void solve_cholesky(const double *l, size_t n, double *c) {
  for (size_t i = 0; i < n; i++) {
    for (size_t k = 0; k < i; k++) c[i] = c[i] - l[i * n + k] * c[k];
    c[i] = c[i] / l[i * n + i];
  }
  for (size_t i = n; i-- > 0;) {
    for (size_t k = n; k-- > i + 1;) c[i] = c[i] - l[k * n + i] * c[k];
    c[i] = c[i] / l[i * n + i];
  }
}

/** Weights go to w, outputs x features. */
static void ridge_cholesky(const Training *data, double lambda, double *w) {
  int n = data->features;
  double *a = allocate((size_t)n * n, sizeof *a);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j <= i; j++) a[(size_t)i * n + j] = blocked_sum(data->x + i, n, data->x + j, n, data->rows);
    if (i < n - 1) a[(size_t)i * n + i] = a[(size_t)i * n + i] + lambda;
  }
  factor_cholesky(a, (size_t)n);
  for (int o = 0; o < data->outputs; o++) {
    double *c = w + (size_t)o * n;
    for (int i = 0; i < n; i++) c[i] = blocked_sum(data->x + i, n, data->y + o, data->outputs, data->rows);
    solve_cholesky(a, (size_t)n, c);
  }
  free(a);
}

/**
 * Reflects a block of rows b into the triangle r, both `width` = features + outputs wide. `v` takes a group's vectors, one row each.
 */
static void reflect_block(double *r, double *b, int rows, int features, int width, double *v) {
  double tau[FACTOR_GROUP], d[FACTOR_GROUP], s[FACTOR_GROUP][FACTOR_GROUP];
  for (int first = 0; first < features; first += FACTOR_GROUP) {
    int end = first + FACTOR_GROUP < features ? first + FACTOR_GROUP : features, members = end - first;
    for (int j = first; j < end; j++) {
      double *vj = v + (j - first) * FACTOR_BLOCK, *rj = r + (size_t)j * width, sum = 0;
      for (int t = 0; t < rows; t++) sum = sum + b[t * width + j] * b[t * width + j];
      tau[j - first] = 0;
      for (int t = 0; t < rows; t++) vj[t] = 0;
      if (sum == 0) continue;
      double pivot = rj[j], root = sqrt(pivot * pivot + sum), diagonal = pivot >= 0 ? -root : root;
      for (int t = 0; t < rows; t++) vj[t] = b[t * width + j] / (pivot - diagonal);
      tau[j - first] = (diagonal - pivot) / diagonal;
      rj[j] = diagonal;
      for (int c = j + 1; c < end; c++) {
        double dot = rj[c];
        for (int t = 0; t < rows; t++) dot = dot + b[t * width + c] * vj[t];
        dot = dot * tau[j - first];
        rj[c] = rj[c] - dot;
        for (int t = 0; t < rows; t++) b[t * width + c] = b[t * width + c] - dot * vj[t];
      }
    }
    for (int k = 0; k < members; k++) {
      for (int i = 0; i < members; i++) {
        s[k][i] = 0;
        for (int t = 0; t < rows; t++) s[k][i] = s[k][i] + v[k * FACTOR_BLOCK + t] * v[i * FACTOR_BLOCK + t];
      }
    }
    for (int c = end; c < width; c++) {
      for (int i = 0; i < members; i++) {
        double *ric = r + (size_t)(first + i) * width + c;
        d[i] = *ric;
        for (int t = 0; t < rows; t++) d[i] = d[i] + v[i * FACTOR_BLOCK + t] * b[t * width + c];
        for (int k = 0; k < i; k++) d[i] = d[i] - s[k][i] * d[k];
        d[i] = d[i] * tau[i];
        *ric = *ric - d[i];
      }
      for (int t = 0; t < rows; t++)
        for (int i = 0; i < members; i++) b[t * width + c] = b[t * width + c] - v[i * FACTOR_BLOCK + t] * d[i];
    }
  }
}

/** By Householder reflections of the rows, and then of sqrt(lambda) I, into a triangle. Weights go to w, outputs x features. */
static void ridge_qr(const Training *data, double lambda, double *w) {
  int n = data->features, width = n + data->outputs;
  double *r = allocate((size_t)n * width, sizeof *r), *b = allocate((size_t)FACTOR_BLOCK * width, sizeof *b);
  double *v = allocate((size_t)FACTOR_GROUP * FACTOR_BLOCK, sizeof *v);
  for (int first = 0; first < data->rows; first += FACTOR_BLOCK) {
    int rows = data->rows - first < FACTOR_BLOCK ? data->rows - first : FACTOR_BLOCK;
    for (int t = 0; t < rows; t++) {
      memcpy(b + (size_t)t * width, data->x + (size_t)(first + t) * n, (size_t)n * sizeof *b);
      memcpy(b + (size_t)t * width + n, data->y + (size_t)(first + t) * data->outputs, (size_t)data->outputs * sizeof *b);
    }
    reflect_block(r, b, rows, n, width, v);
  }
  for (int first = 0; first < n; first += FACTOR_BLOCK) {
    int rows = n - first < FACTOR_BLOCK ? n - first : FACTOR_BLOCK;
    memset(b, 0, (size_t)FACTOR_BLOCK * width * sizeof *b);
    for (int t = 0; t < rows && first + t < n - 1; t++) b[t * width + first + t] = sqrt(lambda);
    reflect_block(r, b, rows, n, width, v);
  }
  for (int o = 0; o < data->outputs; o++) {
    double *wo = w + (size_t)o * n;
    for (int i = n - 1; i >= 0; i--) {
      const double *ri = r + (size_t)i * width;
      wo[i] = ri[n + o];
      for (int k = n - 1; k > i; k--) wo[i] = wo[i] - ri[k] * wo[k];
      wo[i] = wo[i] / ri[i];
    }
  }
  free(r);
  free(b);
  free(v);
}

/** Subtracts its mean from each column but writes the means down. */
static void centre(double *values, int rows, int columns, int used, double *means) {
  for (int c = 0; c < used; c++) {
    double sum = 0;
    for (int t = 0; t < rows; t++) sum = sum + values[(size_t)t * columns + c];
    means[c] = sum / rows;
    for (int t = 0; t < rows; t++) values[(size_t)t * columns + c] = values[(size_t)t * columns + c] - means[c];
  }
}

/** By the rows x rows system of the centred features; the rows are changed. Weights go to w, outputs x features. */
static void ridge_dual(Training *data, double lambda, double *w) {
  int n = data->features, used = n - 1, rows = data->rows, outputs = data->outputs;
  double *x_means = allocate((size_t)n, sizeof *x_means), *y_means = allocate((size_t)outputs, sizeof *y_means);
  double *kernel = allocate((size_t)rows * rows, sizeof *kernel), *alpha = allocate((size_t)rows, sizeof *alpha);
  centre(data->x, rows, n, used, x_means);
  centre(data->y, rows, outputs, outputs, y_means);
  for (int i = 0; i < rows; i++) {
    for (int j = 0; j <= i; j++) {
      kernel[(size_t)i * rows + j] = blocked_sum(data->x + (size_t)i * n, 1, data->x + (size_t)j * n, 1, used);
    }
    kernel[(size_t)i * rows + i] = kernel[(size_t)i * rows + i] + lambda;
  }
  factor_cholesky(kernel, (size_t)rows);
  for (int o = 0; o < outputs; o++) {
    for (int t = 0; t < rows; t++) alpha[t] = data->y[(size_t)t * outputs + o];
    solve_cholesky(kernel, (size_t)rows, alpha);
    double *wo = w + (size_t)o * n, sum = 0;
    for (int f = 0; f < used; f++) {
      wo[f] = 0;
      for (int t = 0; t < rows; t++) wo[f] = wo[f] + data->x[(size_t)t * n + f] * alpha[t];
      sum = sum + wo[f] * x_means[f];
    }
    wo[used] = y_means[o] - sum;
  }
  free(x_means);
  free(y_means);
  free(kernel);
  free(alpha);
}

/** Trains a readout; the rows may be changed. */
static Readout train_readout(Solver solver, double lambda, Training *data, const Features *features) {
  int n = data->features;
  Readout readout = {.features = *features, .count = n - 1, .outputs = data->outputs};
  readout.weights = allocate((size_t)data->outputs * (n - 1), sizeof *readout.weights);
  readout.intercept = allocate((size_t)data->outputs, sizeof *readout.intercept);
  double *w = allocate((size_t)data->outputs * n, sizeof *w);
  if (solver == CHOLESKY) ridge_cholesky(data, lambda, w);
  else if (solver == QR) ridge_qr(data, lambda, w);
  else ridge_dual(data, lambda, w);
  for (int o = 0; o < data->outputs; o++) {
    memcpy(readout.weights + (size_t)o * (n - 1), w + (size_t)o * n, (size_t)(n - 1) * sizeof *w);
    readout.intercept[o] = w[(size_t)o * n + n - 1];
  }
  free(w);
  return readout;
}
