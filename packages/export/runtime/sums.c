/* A butterfly over `count` partial sums, rules 1 and 2. */
static double sum_of_doubles(double *partial, int count)
{
  int half, l;
  for (half = count / 2; half >= 1; half /= 2)
    for (l = 0; l < half; l++) partial[l] = partial[l] + partial[l + half];
  return partial[0];
}
#if !INTEGER
#if DOUBLE
#define sum_of sum_of_doubles
#else

static real sum_of(real *partial, int count)
{
  int half, l;
  for (half = count / 2; half >= 1; half /= 2)
    for (l = 0; l < half; l++) partial[l] = partial[l] + partial[l + half];
  return partial[0];
}
#endif
#if BFLOAT16

static float weight_of(uint16_t upper)
{
  union { uint32_t bits; float value; } w;
  w.bits = (uint32_t)upper << 16;
  return w.value;
}
#endif
#endif
