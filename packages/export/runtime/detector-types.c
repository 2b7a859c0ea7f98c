/* What a detector remembers, all in doubles. What depends on its shape follows in detector.c. */
enum { SCALES = 8, BANKS = 3, COUNTERS = 640, PAST_STEPS = 15, PAST_ALARMS = 32, LAGS = 4, CYCLES = 6 };

/* Why an alarm is raised. */
enum { BY_NOVELTY = 1, BY_STUCK, BY_SURPRISE, BY_MISSING };

/* Numbers of `settings`. FALL and RISE are factors of the limit R after a row without and with an alarm by novelty;
   COMMON_FALL and COMMON_GAIN are of the limits of all columns, 1 and 0 if each is for itself. */
enum {
  SURPRISE_SHARE, BAND_SHARE, FALL, RISE, LEAST_LIMIT, MEMORY, WARM_UP, MERGE_ROWS, FIND_NOVELTY, FIND_STUCK, FIND_SURPRISE,
  FIND_MISSING, COMMON_FALL, COMMON_GAIN, SQUASH, RATIO, RADIUS
};

typedef struct {
  double mean, scale, count;
  /* Of the errors of the forecast. */
  double sigma, errors, band;
  /* The limit R of novelty, and the rows of the last alarms. */
  double limit, novel_at, alarm_at;
  double run, longest, changes, previous, gone;
  /* The tail of the errors: decayed number of rows, what a row adds, and the distribution above an edge. */
  double total, step, edge, excess, shape, above, fitted, taken;
  double trace[SCALES];
  double counters[COUNTERS];
} column;

typedef struct {
  /* Rows that were given, the same with missing rows of gaps, and rows with a value. */
  double row, clock, learned;
  double solved, since;
  /* The last incident: its row, its column, its number. */
  double alarm_at, alarm_column, incidents;
  double timed, instant, wall, unordered, refused;
  double steps, next_step, past_steps[PAST_STEPS];
  double next_alarm, alarm_rows[PAST_ALARMS], alarm_clocks[PAST_ALARMS], alarm_times[PAST_ALARMS], alarm_columns[PAST_ALARMS];
  double alarm_numbers[PAST_ALARMS];
} shared;

/* What `update` gives: of the row, then of each column. */
enum { SCORE, P_VALUE, ALARM, CAUSE_COLUMN, CAUSE_ROWS, ONGOING, OF_ROW };
enum { COLUMN_SCORE, COLUMN_P_VALUE, COLUMN_ALARM, EXPECTED, LOWER, UPPER, OF_COLUMN };
