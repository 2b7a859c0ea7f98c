/* What of a time stamp is an input. */
typedef struct {
  int kind, harmonics, count;
  const int32_t *days;
} feature;

