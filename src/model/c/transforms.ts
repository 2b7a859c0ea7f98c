// Transforms of a series in C, done row by row and undone on forecasts. Differences keep a window
// of the rows that they take; a window's first row is its oldest.
import { ArgumentError } from "../../core/errors.js";
import type { Matrix } from "../../numerics/index.js";
import { differenceOf, forwardStep, isDifference } from "../../series/transform-step.js";
import { type FittedTransforms, transformed } from "../../series/transforms.js";
import type { Constants } from "./constants.js";
import { portableExp, portableTanh } from "./functions.js";

type Step = FittedTransforms["steps"][number];

/** What a program needs of its transforms. */
export interface CTransforms {
  /** The lists of its members, each once. */
  readonly lists: readonly FittedTransforms[];
  readonly outputs: number;
}

/** Rows that the differences of any member take before the first row that it sees. */
export const mostLost = ({ lists }: CTransforms): number => Math.max(...lists.map(({ lost }) => lost));

/** Values of one member's windows, at most. */
export const pastLength = (transforms: CTransforms): number => mostLost(transforms) * transforms.outputs;

/** The name of the user's own step that a program does not hold. */
export function unheldStep(steps: readonly Step[]): string | undefined {
  return steps.flatMap((step) => (typeof step === "object" && "transform" in step ? [step.transform] : []))[0];
}

/**
 * What stands in windows of so many rows behind the last rows of a series; zeros if they are too
 * few.
 */
export function pastAfter(recent: Matrix, { steps, lost }: FittedTransforms, rowsOf = lost): Float64Array {
  const out = new Float64Array(rowsOf * recent.cols);
  if (recent.rows < lost) return out;
  let first = 0;
  for (const [i, step] of steps.entries()) {
    if (!isDifference(step)) continue;
    const before = steps.slice(0, i);
    const stage = transformed(recent, { steps: before, lost: before.reduce((sum, each) => sum + differenceOf(each), 0) });
    const rows = stage.subarray(stage.rows - step.difference);
    out.set(rows.data, first);
    first += rows.data.length;
  }
  return out;
}

/** The last rows with transforms done; none if differences take them all. */
export function seenAfter(recent: Matrix, fitted: FittedTransforms): Matrix {
  if (recent.rows <= fitted.lost) return recent.subarray(0, 0);
  return fitted.steps.reduce((here, step) => forwardStep(here, step), recent as Matrix<Float64Array>);
}

const logOf = `/* log(x) by rule 8 for finite x above 0, to some 65 bits: the part that is lost goes to \`rest\`. */
static double product_error(double a, double b, double p)
{
  const double a_shifted = a * 134217729.0, a_high = a_shifted - (a_shifted - a), a_low = a - a_high;
  const double b_shifted = b * 134217729.0, b_high = b_shifted - (b_shifted - b), b_low = b - b_high;
  return (((a_high * b_high - p) + a_high * b_low) + a_low * b_high) + a_low * b_low;
}

static double log_pair(double x, double *rest)
{
  static const double degrees[7] = {
    0x1.de362ee673b21p-4, 0x1.1120a263665c5p-3, 0x1.3b1363466b7f7p-3, 0x1.745d182fe5540p-3, 0x1.c71c71c586593p-3,
    0x1.2492492492ff8p-2, 0x1.9999999999996p-2,
  };
  union { double value; uint64_t bits; } m;
  double k = 0, f, d, d_low, s, p, s_low, z, z_low, tail = 0x1.eafc5f24eeec9p-4, w, w_low, c, c_low, b, b_low, k_high;
  double first, first_error, second, second_error, low, high;
  int i;
  m.value = x;
  if (m.value < 0x1p-1022) {
    m.value = m.value * 0x1p54;
    k = -54;
  }
  k = k + (double)((int)(m.bits >> 52) - 1023);
  m.bits = (m.bits & 0xfffffffffffffULL) | 0x3ff0000000000000ULL;
  if (m.value >= 0x1.6a09e667f3bcdp+0) {
    m.value = m.value * 0.5;
    k = k + 1;
  }
  f = m.value - 1;
  d = m.value + 1;
  d_low = m.value - (d - 1);
  s = f / d;
  p = s * d;
  s_low = (((f - p) - product_error(s, d, p)) - s * d_low) / d;
  z = s * s;
  z_low = product_error(s, s, z) + (s + s) * s_low;
  for (i = 0; i < 7; i++) tail = tail * z + degrees[i];
  tail = z * tail;
  w = 0x1.5555555555555p-1 + tail;
  w_low = ((0x1.5555555555555p-1 - w) + tail) + 0x1.5555555555555p-55;
  c = s * z;
  c_low = product_error(s, z, c) + (s * z_low + s_low * z);
  b = c * w;
  b_low = product_error(c, w, b) + (c * w_low + c_low * w);
  k_high = k * 0x1.62e42fefa3800p-1;
  first = k_high + (s + s);
  first_error = (k_high - first) + (s + s);
  second = first + b;
  second_error = (first - second) + b;
  low = ((first_error + second_error) + b_low) + ((s_low + s_low) + k * 0x1.ef35793c76730p-45);
  high = second + low;
  *rest = (second - high) + low;
  return high;
}

/* No number (NaN) if x is not above 0. */
static double log_of(double x)
{
  double rest;
  if (!(x > 0)) return (x - x) / (x - x);
  return x - x == 0 ? log_pair(x, &rest) : x;
}
`;

const powOf = `/* x^y by rule 8, for x of at least 0 and y other than 0. */
static double pow_of(double x, double y)
{
  double rest, high, product;
  if (x != x || x - x != 0) return x;
  if (x == 0) return y > 0 ? 0 : 1 / x;
  high = log_pair(x, &rest);
  product = y * high;
  if (product < 1000 && product > -1000) return exp_of_sum(product, product_error(y, high, product) + y * rest);
  return exp_of_sum(product, 0);
}
`;

const squash = `/* tanh(x - 1) in place of x, and what undoes it. */
static double squash(double x) { return tanh_of_double(x - 1); }

static double squash_undone(double x)
{
  const double least = -0x1.fffffffffffffp-1;
  const double inside = x < least ? least : x > -least ? -least : x;
  return 1 + 0.5 * log_of((1 + inside) / (1 - inside));
}
`;

/** C of one step on `row`, and of what undoes it; each in the order of the package. */
interface Written {
  readonly forward: string;
  readonly undo: string;
}

/** What a list calls. */
type Called = "exp" | "log" | "power" | "difference" | "squash";

const isStep = <Name extends string>(step: Step, name: Name): step is Extract<Step, { readonly [Field in Name]: unknown }> =>
  typeof step === "object" && name in step;

/**
 * The functions `forward` and `undo`, with what they call. @param hasTanh whether tanh in binary64
 * is written already
 */
export function transformFunctions({ lists, outputs }: CTransforms, constants: Constants, hasTanh: boolean): string {
  const called = new Set<Called>();
  const bodies = lists.map(({ steps }, k) => listFunctions(steps, lists.length > 1 ? `_${k}` : "", outputs, constants, called));
  const chosen = (name: string, more: string, given: string) => `
static void ${name}(int list, double *past, double *row${more})
{
  switch (list) {
${lists.map((_, k) => `  case ${k}: ${name}_${k}(past, row${given}); break;`).join("\n")}
  default: break;
  }
}
`;
  return [
    called.has("squash") && !hasTanh ? portableTanh.float64 : "",
    called.has("exp") ? portableExp : "",
    called.has("log") ? logOf : "",
    called.has("power") ? `${powOf}${boxCox}` : "",
    called.has("squash") ? squash : "",
    called.has("difference") ? differences : "",
    ...bodies,
    lists.length > 1 ? `${chosen("forward", "", "")}${chosen("undo", ", int moves", ", moves")}` : "",
  ]
    .filter((text) => text !== "")
    .join("\n");
}

function listFunctions(steps: readonly Step[], suffix: string, outputs: number, constants: Constants, called: Set<Called>): string {
  let first = 0;
  const each = (text: string) => `  for (o = 0; o < OUTPUTS; o++) row[o] = ${text};`;
  const array = (name: string, i: number, values: readonly number[]) => constants.add("float64", `${name}${suffix}_${i}`, values);
  const call = (...names: Called[]) => {
    for (const name of names) called.add(name);
  };
  const written = steps.map((step, i): Written => {
    if (isDifference(step)) {
      call("difference");
      const window = `past + ${first}, ${step.difference}`;
      first += step.difference * outputs;
      return { forward: `  difference(${window}, row);`, undo: `  sum_up(${window}, row, moves);` };
    }
    if (step === "squash") {
      call("squash", "log");
      return { forward: each("squash(row[o])"), undo: each("squash_undone(row[o])") };
    }
    if (isStep(step, "log")) {
      call("log", "exp");
      const added = constants.number(step.log);
      return { forward: each(`log_of(row[o] + ${added})`), undo: each(`exp_of(row[o]) - ${added}`) };
    }
    if (isStep(step, "standardise")) {
      const mean = array("mean", i, step.standardise.mean);
      const deviation = array("deviation", i, step.standardise.deviation);
      return { forward: each(`(row[o] - ${mean}[o]) / ${deviation}[o]`), undo: each(`row[o] * ${deviation}[o] + ${mean}[o]`) };
    }
    if (!isStep(step, "boxCox")) throw ArgumentError.because("the model has a transform that C does not hold", { field: "transforms" });
    call("log", "exp", "power");
    const power = array("power", i, step.boxCox);
    const ten = array(
      "ten_times",
      i,
      step.most.map((most) => 10 * most),
    );
    return { forward: each(`box_cox(row[o], ${power}[o])`), undo: each(`box_cox_undone(row[o], ${power}[o], ${ten}[o])`) };
  });
  const rows = first > 0;
  const head = steps.some((step) => !isDifference(step)) ? "  int o;\n" : "";
  const unused = `${rows ? "" : "  (void)past;\n"}${steps.length > 0 ? "" : "  (void)row;\n"}`;
  return `/* What the model sees of a row of the series, in place. */
static void forward${suffix}(double *past, double *row)
{
${head}${unused}${written.map(({ forward }) => forward).join("\n")}
}

/* The row of the series that a forecast of the model means, in place; with \`moves\` it is taken as seen. */
static void undo${suffix}(double *past, double *row, int moves)
{
${head}${unused}${rows ? "" : "  (void)moves;\n"}${written
  .map(({ undo }) => undo)
  .reverse()
  .join("\n")}
}
`;
}

const boxCox = `
/* Box and Cox's transform by a power. */
static double box_cox(double value, double power)
{
  if (value == 0 && power > 0) return -1 / power;
  if (power == 0 || !(value > 0)) return log_of(value);
  return (pow_of(value, power) - 1) / power;
}

static double box_cox_undone(double value, double power, double ten_times)
{
  double least, base;
  if (power == 0) return exp_of(value);
  least = power > 0 ? 0 : pow_of(ten_times, power);
  base = power * value + 1;
  return pow_of(base < least ? least : base, 1 / power);
}
`;

const differences = `/* Takes a row into a window of \`lag\` rows, whose oldest goes. */
static void take(double *window, int lag, const double *row)
{
  int i;
  for (i = 0; i < (lag - 1) * OUTPUTS; i++) window[i] = window[i + OUTPUTS];
  for (i = 0; i < OUTPUTS; i++) window[(lag - 1) * OUTPUTS + i] = row[i];
}

/* row - the row before it by \`lag\`. */
static void difference(double *window, int lag, double *row)
{
  double before[OUTPUTS];
  int o;
  for (o = 0; o < OUTPUTS; o++) before[o] = window[o];
  take(window, lag, row);
  for (o = 0; o < OUTPUTS; o++) row[o] = row[o] - before[o];
}

static void sum_up(double *window, int lag, double *row, int moves)
{
  int o;
  for (o = 0; o < OUTPUTS; o++) row[o] = row[o] + window[o];
  if (moves) take(window, lag, row);
}
`;
