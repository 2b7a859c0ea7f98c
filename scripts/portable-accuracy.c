// The measuring half of portable-accuracy.mjs: reads triples (x, y, value) of binary64 from standard input, compares the values
// with the long double of the C library (64 bits of mantissa), and prints the largest error. It knows nothing of how the values were made.
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#if LDBL_MANT_DIG < 64
#error "long double has fewer than 64 bits here, too few to measure binary64 against"
#endif

typedef long double (*unary)(long double);

static const struct {
  const char *name;
  unary function;
} functions[] = {{"exp", expl}, {"log", logl}, {"sin", sinl}, {"cos", cosl}, {"tanh", tanhl}, {"tanh32", tanhl}};

// One unit in the last place of a number of `digits` bits whose smallest exponent is `lowest`.
static long double unit(long double value, int digits, int lowest) {
  int exponent;
  frexpl(value, &exponent);
  exponent -= digits;
  return ldexpl(1, exponent < lowest ? lowest : exponent);
}

int main(int count, char **arguments) {
  const char *name = count > 1 ? arguments[1] : "";
  const int power = strcmp(name, "pow") == 0;
  const int single = strcmp(name, "tanh32") == 0;
  unary function = NULL;
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
    if (strcmp(name, functions[i].name) == 0) function = functions[i].function;
  if (!power && !function) {
    fprintf(stderr, "unknown function \"%s\"; it takes exp, log, sin, cos, pow, tanh or tanh32\n", name);
    return 2;
  }

  double record[3], previous = NAN, previousValue = NAN, worstX = 0, worstY = 0;
  long double worst = 0;
  long samples = 0, rounded = 0, falling = 0, beyondOne = 0;
  while (fread(record, sizeof(double), 3, stdin) == 3) {
    const double value = record[2];
    const long double exact = power ? powl(record[0], record[1]) : function(record[0]);
    const long double difference = fabsl(value - exact) / unit(exact, single ? 24 : 53, single ? -149 : -1074);
    const long double error = isnan(difference) ? INFINITY : difference;
    if (error > worst) {
      worst = error;
      worstX = record[0];
      worstY = record[1];
    }
    if (error <= 0.5L) rounded++;
    if (fabs(value) > 1) beyondOne++;
    if (record[0] > previous && value < previousValue) falling++;
    previous = record[0];
    previousValue = value;
    samples++;
  }
  printf("{\"samples\": %ld, \"maxUlp\": %.4Lf, \"at\": [\"%a\"", samples, worst, worstX);
  if (power) printf(", \"%a\"", worstY);
  printf("], \"correctlyRounded\": %.6f, \"falling\": %ld, \"beyondOne\": %ld}\n", samples ? (double)rounded / samples : 0, falling, beyondOne);
  return 0;
}
