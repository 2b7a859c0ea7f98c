#if DOUBLE
typedef double real;
#else
typedef float real;
#endif
#if INTEGER
/* States are steps of 2^-15. */
typedef int16_t neuron;
typedef int16_t driving;
#define STATE(x) ((real)(x) * 0x1p-15f)
#else
typedef real neuron;
typedef real driving;
#define STATE(x) (x)
#endif

/* One reservoir: the whole of a member, or a layer or group. What it does not have is null. */
typedef struct {
  int size, activation, inputs;
  /* 1 if each neuron has a leak rate of its own, else 0. */
  int leak_step;
  /* How W is stored, in programs that hold every way. */
  int stored;
  /* Whether it is on the layer below, and the columns of the inputs that it takes. */
  int above;
  const uint32_t *channels;
  const void *weights;
  const uint32_t *row_offsets;
  const void *columns;
  const driving *input_weights, *feedback_weights;
#if INTEGER
  const uint8_t *exponents;
  const int32_t *bias;
  const uint16_t *leak;
#else
  const real *bias, *leak, *keep, *orthogonal;
#endif
  const double *noise;
  const uint32_t *noise_key;
} reservoir;
