/* cuBLAS and cuSOLVER in C, as far as they are called, on the memory of the mock of libcuda, which is the host's. Matrices go by columns. A handle must have
   been given a stream before it works. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

typedef struct { void *stream; } Handle;
static int open_handles;
int mock_open_handles(void) { return open_handles; }

static int create(void **handle) { *handle = calloc(1, sizeof(Handle)); open_handles++; return 0; }
static int destroy(void *handle) { free(handle); open_handles--; return 0; }

int cublasCreate_v2(void **handle) { return create(handle); }
int cublasDestroy_v2(void *handle) { return destroy(handle); }
int cublasGetVersion_v2(void *handle, int *version) { *version = 130100; return handle ? 0 : 1; }
int cublasSetStream_v2(void *handle, void *stream) { ((Handle *)handle)->stream = stream; return stream ? 0 : 7; }
int cublasSgemm_v2(void) { return 15; }

/* C = alpha A A^T + beta C of the upper triangle by columns (uplo 1), A n x k (trans 0). */
int cublasDsyrk_v2(void *handle, int uplo, int trans, int n, int k, const double *alpha, const double *a, int lda, const double *beta, double *c, int ldc) {
  if (!((Handle *)handle)->stream || uplo != 1 || trans != 0 || lda < n || ldc < n) return 7;
  for (int j = 0; j < n; j++)
    for (int i = 0; i <= j; i++) {
      double sum = 0;
      for (int p = 0; p < k; p++) sum += a[i + (size_t)p * lda] * a[j + (size_t)p * lda];
      c[i + (size_t)j * ldc] = *alpha * sum + *beta * c[i + (size_t)j * ldc];
    }
  return 0;
}

int cusolverDnCreate(void **handle) { return create(handle); }
int cusolverDnDestroy(void *handle) { return destroy(handle); }
int cusolverDnSetStream(void *handle, void *stream) { return cublasSetStream_v2(handle, stream); }
int cusolverDnDpotrf_bufferSize(void *handle, int uplo, int n, double *a, int lda, int *length) {
  (void)a;
  *length = 3 * n;
  return handle && uplo == 1 && lda >= n ? 0 : 3;
}

/* U^T U = A of the upper triangle by columns; the workspace is used to its end. */
int cusolverDnDpotrf(void *handle, int uplo, int n, double *a, int lda, double *work, int length, int *info) {
  if (!((Handle *)handle)->stream || uplo != 1 || lda < n || length < 3 * n) return 3;
  for (int i = 0; i < length; i++) work[i] = NAN;
  *info = 0;
  for (int j = 0; j < n; j++)
    for (int i = 0; i <= j; i++) {
      double sum = a[i + (size_t)j * lda];
      for (int p = 0; p < i; p++) sum -= a[p + (size_t)i * lda] * a[p + (size_t)j * lda];
      if (i == j && !(sum > 0)) { *info = j + 1; return 0; }
      a[i + (size_t)j * lda] = i == j ? sqrt(sum) : sum / a[i + (size_t)i * lda];
    }
  return 0;
}

int cusolverDnDpotrs(void *handle, int uplo, int n, int nrhs, const double *a, int lda, double *b, int ldb, int *info) {
  if (!((Handle *)handle)->stream || uplo != 1 || lda < n || ldb < n) return 3;
  *info = 0;
  for (int o = 0; o < nrhs; o++) {
    double *x = b + (size_t)o * ldb;
    for (int i = 0; i < n; i++) {
      for (int p = 0; p < i; p++) x[i] -= a[p + (size_t)i * lda] * x[p];
      x[i] /= a[i + (size_t)i * lda];
    }
    for (int i = n - 1; i >= 0; i--) {
      for (int p = i + 1; p < n; p++) x[i] -= a[i + (size_t)p * lda] * x[p];
      x[i] /= a[i + (size_t)i * lda];
    }
  }
  return 0;
}
