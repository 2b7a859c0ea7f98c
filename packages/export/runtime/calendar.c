/* sin and cos of x radians by rule 8, for x from 0 to 2 pi. */
static void sine_and_cosine(double x, double *sine, double *cosine)
{
  static const double parts[3] = { 0x1.8469880000000p-48, 0x1.8cc5140000000p-72, 0x1.80dc1c0000000p-95 };
  static const double of_sine[6] = {
    0x1.6120934f53911p-33, -0x1.ae645299455a3p-26, 0x1.71de3a533a43ap-19, -0x1.a01a01a018aefp-13, 0x1.111111111110bp-7,
    -0x1.5555555555555p-3,
  };
  static const double of_cosine[6] = {
    -0x1.93933b38aac88p-37, 0x1.1eed8ca68a05cp-29, -0x1.27e4fb7600514p-22, 0x1.a01a01a018e1ap-16, -0x1.6c16c16c16c10p-10,
    0x1.5555555555555p-5,
  };
  double n = x * 0x1.45f306dc9c883p-1 + 6755399441055744.0;
  double high, low = 0, rest, z, half, w, s = -0x1.aaa58fc09dfbcp-41, c = 0x1.aac6e804cb60ap-45;
  int i, quadrant;
  n = n - 6755399441055744.0;
  quadrant = (int)n;
  high = (x - n * 0x1.921fb40000000p+0) - n * 0x1.4442d00000000p-24;
  for (i = 0; i < 3; i++) {
    const double product = n * parts[i];
    const double difference = high - product;
    const double back = difference - high;
    low = low + ((high - (difference - back)) - (product + back));
    high = difference;
  }
  low = low - n * 0x1.a252049c1114dp-120;
  rest = high;
  high = high + low;
  low = (rest - high) + low;
  z = high * high;
  for (i = 0; i < 6; i++) {
    s = s * z + of_sine[i];
    c = c * z + of_cosine[i];
  }
  half = 0.5 * z;
  w = 1.0 - half;
  s = high + ((z * high) * s + low * (1.0 - 0.5 * z));
  c = w + (((1.0 - w) - half) + ((z * z) * c - high * low));
  *sine = quadrant & 1 ? c : s;
  *cosine = quadrant & 1 ? s : c;
  if (quadrant & 2) *sine = -*sine;
  if ((quadrant + 1) & 2) *cosine = -*cosine;
  if (x < 0x1p-27) *sine = x;
}

/* sin and cos of 2 pi j at / period for j = 1 to `harmonics`. The remainders are exact. */
static double *cycle(double *known, double at, double period, int harmonics)
{
  int j;
  for (j = 1; j <= harmonics; j++) {
    double phase = (double)j * at;
    while (phase >= period) phase = phase - period;
    sine_and_cosine((0x1.921fb54442d18p+2 * phase) / period, known, known + 1);
    known += 2;
  }
  return known;
}

#if YEARS
/* Days from 1970-01-01 to the first day of a year, and the year of a day (H. Hinnant). */
static int64_t first_day(int64_t year)
{
  const int64_t y = year - 1, era = (y < 0 ? y - 399 : y) / 400, of_era = y - era * 400;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + 306 - 719468;
}

static int64_t year_of(int64_t day)
{
  const int64_t z = day + 719468, era = (z < 0 ? z - 146096 : z) / 146097, of_era = z - era * 146097;
  const int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  const int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
  return year + era * 400 + (of_year >= 306);
}

#endif
/* What the calendar says of a row, whose time stamp its own clock shows so, in milliseconds since 1970-01-01 00:00. */
void model_calendar(int64_t wall, double *known)
{
  const int64_t day = (wall < 0 ? wall - 86399999 : wall) / 86400000, in_day = wall - day * 86400000;
  int f, i;
  for (f = 0; f < CALENDAR; f++) {
    const feature *each = &calendar_features[f];
    if (each->kind == 0) known = cycle(known, (double)in_day, 86400000.0, each->harmonics);
    else if (each->kind == 1)
      known = cycle(known, (double)(((day + 3) % 7 + 7) % 7 * 24) + (double)in_day / 3600000.0, 168.0, each->harmonics);
#if YEARS
    else if (each->kind == 2) {
      const int64_t first = first_day(year_of(day)), next = first_day(year_of(day) + 1);
      known = cycle(known, (double)wall / 86400000.0 - (double)first, (double)(next - first), each->harmonics);
    }
#endif
    else {
      *known = 0;
      for (i = 0; i < each->count; i++)
        if (each->days[i] == day) *known = 1;
      known++;
    }
  }
}
