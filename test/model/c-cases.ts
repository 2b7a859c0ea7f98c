// Forecasters of every shape that C holds, each with what a program does with it and what this
// package says then.

import { Matrix, RandomStream, seedKeys } from "../../packages/numerics/src/index.js";
import { decodeForecaster } from "../../src/model/forecaster/file.js";
import {
  AnomalyDetector,
  type AnomalyOptions,
  Classifier,
  type ClassifierOptions,
  Forecaster,
  type ForecasterOptions,
  toC,
} from "../../src/model/index.js";
import { decodeModelFile } from "../../src/model/model-file.js";
import { columnsOf, type Standardisation, standardised } from "../../src/model/standardisation.js";
import { ReservoirComputer, type ReservoirModel } from "../../src/reservoir/index.js";
import { inputSteps } from "../../src/reservoir/integer/step.js";
import { type Combination, combinations } from "./c-combinations.js";

/** A model as C, a main function over it, and the numbers that the program has to print. */
export interface CCase {
  readonly name: string;
  make(): Promise<CExpected>;
}

export interface CExpected {
  readonly source: string;
  readonly header: string;
  readonly main: string;
  readonly numbers: Float64Array;
}

const rows = 300;

/** Two waves with noise, shifted by case. */
export function waves(cols: number, seed: number, length = rows): Matrix<Float64Array> {
  const draws = new RandomStream(seedKeys(seed).weights, 40);
  const out = Matrix.zeros(length, cols);
  for (let t = 0; t < length; t++)
    for (let c = 0; c < cols; c++)
      out.data[t * cols + c] = 20 + 3 * c + 5 * Math.sin(0.21 * t + c) + 2 * Math.sin(0.047 * t) + draws.uniform(t, c);
  return out;
}

const steps = 25;
const taken = 40;

const array = (name: string, { data }: Matrix) =>
  `static const double ${name}[${Math.max(1, data.length)}] = { ${[...data].join(", ") || "0"} };`;

/**
 * A program over a forecaster's state: the calls of `body`, which prints by `show(values, count)`.
 */
function mainOf(arrays: readonly string[], body: string, outputs: number): string {
  return programOf([...arrays, "static model_state state;"], `  model_begin(&state);\n${body}`, outputs);
}

/** A program with its own declarations. */
function programOf(declarations: readonly string[], body: string, outputs: number): string {
  return `#include <stdint.h>
#include "model.h"
void print_bits(uint32_t high, uint32_t low);
${declarations.join("\n")}
static double out[${steps * outputs}];
static void show(const double *values, int count)
{
  int i;
  for (i = 0; i < count; i++) {
    union { double value; uint64_t bits; } each;
    each.value = values[i];
    print_bits((uint32_t)(each.bits >> 32), (uint32_t)each.bits);
  }
}
int main(void)
{
  int t;
${body}  return 0;
}
`;
}

const values = (...matrices: readonly Matrix[]) => Float64Array.from(matrices.flatMap(({ data }) => [...data]));

type Options = ForecasterOptions;

/**
 * The series drives it: forecast where it stands, predict over rows after a reset, forecast again.
 */
function ofSeries(name: string, cols: number, options: Options): CCase {
  return {
    name,
    async make() {
      await using model = await Forecaster.create(options);
      const series = waves(cols, 1);
      await model.fit(series);
      const files = await toC(model);
      const first = await model.forecast(steps);
      model.reset();
      const next = Matrix.from(series.subarray(0, taken), "float64");
      if (options.missing) for (let i = cols; i < next.data.length; i++) if (i % 5 > 2) next.data[i] = Number.NaN;
      const predicted = await model.predict(next);
      const second = await model.forecast(steps);
      const main = mainOf(
        [array("next", next).replaceAll("NaN", "(0.0 / 0.0)")],
        `  if (model_forecast(&state, ${steps}, out) != ${steps}) return 1;
  show(out, ${steps * cols});
  model_reset(&state);
  for (t = 0; t < ${taken}; t++) { model_predict(&state, next + t * ${cols}, out); show(out, ${cols}); }
  if (model_forecast(&state, ${steps}, out) != ${steps}) return 1;
  show(out, ${steps * cols});
`,
        cols,
      );
      return { ...files, main, numbers: values(first, predicted, second) };
    },
  };
}

/** A series that is transformed: rows after those that differences take, and closed loops. */
function ofTransformed(name: string, cols: number, options: Options): CCase {
  return {
    name,
    async make() {
      await using model = await Forecaster.create(options);
      const series = waves(cols, 1);
      await model.fit(series);
      const files = await toC(model);
      const first = await model.forecast(steps);
      await model.warmUp(series.subarray(0, taken));
      const predicted = await model.predict(series.subarray(taken, 2 * taken));
      const second = await model.forecast(steps);
      const main = mainOf(
        [array("next", series.subarray(0, 2 * taken))],
        `  if (model_forecast(&state, ${steps}, out) != ${steps}) return 1;
  show(out, ${steps * cols});
  model_reset(&state);
  if (model_forecast(&state, 1, out) != 0) return 2;
  model_predict(&state, next, out);
  if (out[0] == out[0]) return 3;
  model_reset(&state);
  for (t = 0; t < ${taken}; t++) model_predict(&state, next + t * ${cols}, 0);
  for (; t < ${2 * taken}; t++) { model_predict(&state, next + t * ${cols}, out); show(out, ${cols}); }
  if (model_forecast(&state, ${steps}, out) != ${steps}) return 1;
  show(out, ${steps * cols});
`,
        cols,
      );
      return { ...files, main, numbers: values(first, predicted, second) };
    },
  };
}

/** The series drives it beside what is known beforehand. */
function withKnown(name: string, options: Options): CCase {
  return {
    name,
    async make() {
      await using model = await Forecaster.create(options);
      const all = waves(3, 2, rows + steps);
      const series = new Matrix(
        rows,
        1,
        Float64Array.from({ length: rows }, (_, t) => all.data[3 * t]!),
      );
      const known = new Matrix(
        rows + steps,
        2,
        Float64Array.from({ length: 2 * (rows + steps) }, (_, i) => all.data[3 * (i >> 1) + 1 + (i & 1)]!),
      );
      await model.fit({ series, known: known.subarray(0, rows) });
      const files = await toC(model);
      const ahead = known.subarray(rows, rows + steps);
      const first = await model.forecast(steps, { known: ahead });
      await model.warmUp({ series: series.subarray(0, taken), known: known.subarray(0, taken) });
      const second = await model.forecast(steps, { known: ahead });
      const main = mainOf(
        [array("series", series.subarray(0, taken)), array("known", known.subarray(0, taken)), array("ahead", ahead)],
        `  if (model_forecast(&state, ${steps}, ahead, out) != ${steps}) return 1;
  show(out, ${steps});
  model_reset(&state);
  if (model_forecast(&state, 1, ahead, out) != 0) return 1;
  for (t = 0; t < ${taken}; t++) model_observe(&state, series + t, known + 2 * t);
  if (model_forecast(&state, ${steps}, ahead, out) != ${steps}) return 1;
  show(out, ${steps});
`,
        1,
      );
      return { ...files, main, numbers: values(first, second) };
    },
  };
}

/** A series with time stamps, of whose rows the calendar is known, beside a column of one's own. */
function withCalendar(name: string, first: number, stepMs: number, options: Options): CCase {
  return {
    name,
    async make() {
      await using model = await Forecaster.create(options);
      const all = waves(2, 2, rows + steps);
      const column = (c: number, from: number, to: number) =>
        new Matrix(
          to - from,
          1,
          Float64Array.from({ length: to - from }, (_, t) => all.data[2 * (from + t) + c]!),
        );
      const stamps = (from: number, to: number) =>
        Array.from({ length: to - from }, (_, t) => new Date(first + (from + t) * stepMs).toISOString().slice(0, 19));
      await model.fit({ series: column(0, 0, rows), known: column(1, 0, rows), times: stamps(0, rows) });
      const files = await toC(model);
      const ahead = column(1, rows, rows + steps);
      const closed = await model.forecast(steps, { known: ahead });
      await model.warmUp({ series: column(0, 0, taken), known: column(1, 0, taken), times: stamps(0, taken) });
      const again = await model.forecast(steps, { known: column(1, taken, taken + steps) });
      const columns = files.header.match(/the last (\d+) of its known values/)![1]!;
      const known = `const double *const own, int from, int count)
{
  int t;
  for (t = 0; t < count; t++) {
    known[t * (1 + ${columns})] = own[t];
    model_calendar(INT64_C(${first}) + (from + t) * INT64_C(${stepMs}), known + t * (1 + ${columns}) + 1);
  }
}`;
      const main = mainOf(
        [
          array("series", column(0, 0, taken)),
          array("own", column(1, 0, taken + steps)),
          array("ahead", ahead),
          `static double known[${Math.max(taken, steps)} * (1 + ${columns})];`,
          `static void fill(${known}`,
        ],
        `  fill(ahead, ${rows}, ${steps});
  if (model_forecast(&state, ${steps}, known, out) != ${steps}) return 1;
  show(out, ${steps});
  model_reset(&state);
  fill(own, 0, ${taken});
  for (t = 0; t < ${taken}; t++) model_observe(&state, series + t, known + t * (1 + ${columns}));
  fill(own + ${taken}, ${taken}, ${steps});
  if (model_forecast(&state, ${steps}, known, out) != ${steps}) return 1;
  show(out, ${steps});
`,
        1,
      );
      return { ...files, main, numbers: values(closed, again) };
    },
  };
}

/**
 * Inputs and targets: predictions over rows that go on, and a closed loop if the inputs allow one.
 */
function ofInputs(name: string, inputs: number, outputs: number, options: Options): CCase {
  return {
    name,
    async make() {
      await using model = await Forecaster.create(options);
      const feedback = options.reservoir?.feedback != null;
      const u = waves(Math.max(1, inputs), 3);
      const targets = waves(outputs, 4);
      await model.fit(inputs > 0 ? { inputs: u, targets } : { inputs: Matrix.zeros(rows, 0), targets });
      const files = await toC(model);
      const next = u.subarray(0, steps);
      const outside = feedback ? inputs : inputs - outputs;
      const ahead = new Matrix(
        steps,
        Math.max(0, outside),
        Float64Array.from({ length: steps * Math.max(0, outside) }, (_, i) => 20 + (i % 7)),
      );
      const closed = outside < 0 ? Matrix.zeros(0, outputs) : await model.forecast(steps, outside > 0 ? { inputs: ahead } : {});
      const predicted = await model.predict(inputs > 0 ? next : { steps });
      const taught = feedback ? targets.subarray(0, steps) : Matrix.zeros(0, outputs);
      if (feedback) await model.warmUp({ inputs: inputs > 0 ? next : Matrix.zeros(steps, 0), targets: taught });
      const after = feedback ? await model.predict(inputs > 0 ? next : { steps }) : Matrix.zeros(0, outputs);
      const row = inputs > 0 ? `next + t * ${inputs}, ` : "";
      const main = mainOf(
        [array("next", next), array("ahead", ahead), array("taught", taught)],
        `${
          outside < 0
            ? ""
            : `  { model_state there = state; if (model_forecast(&there, ${steps}, ${outside > 0 ? "ahead, " : ""}out) != ${steps}) return 1; }
  show(out, ${steps * outputs});
`
        }  (void)ahead; (void)next; (void)taught;
  for (t = 0; t < ${steps}; t++) { model_predict(&state, ${row}out); show(out, ${outputs}); }
${
  feedback
    ? `  model_reset(&state);
  for (t = 0; t < ${steps}; t++) model_teach(&state, ${row}taught + t * ${outputs});
  for (t = 0; t < ${steps}; t++) { model_predict(&state, ${row}out); show(out, ${outputs}); }
`
    : ""
}`,
        outputs,
      );
      return { ...files, main, numbers: values(closed, predicted, after) };
    },
  };
}

/** Cases of three classes: waves of a rate of the class, with noise; 14 to 30 rows. */
export function sequences(
  count: number,
  cols: number,
  seed: number,
): { readonly cases: Matrix<Float64Array>[]; readonly labels: string[] } {
  const draws = new RandomStream(seedKeys(seed).weights, 41);
  const labels = Array.from({ length: count }, (_, b) => ["slow", "middle", "quick"][b % 3]!);
  const cases = labels.map((_, b) => {
    const out = Matrix.zeros(14 + ((7 * b) % 17), cols);
    for (let t = 0; t < out.rows; t++)
      for (let c = 0; c < cols; c++)
        out.data[t * cols + c] = 4 + Math.sin((0.4 + 0.2 * (b % 3)) * t + c) + 1.5 * draws.uniform(b, t * cols + c);
    return out;
  });
  return { cases, labels };
}

/** A classifier: the class and the shares of fresh sequences. */
function ofClasses(name: string, cols: number, options: ClassifierOptions): CCase {
  return {
    name,
    async make() {
      const train = sequences(24, cols, 5);
      await using model = await Classifier.fit(train.cases, train.labels, options);
      const files = await toC(model);
      const { cases } = sequences(9, cols, 6);
      const numbers: number[] = [];
      // One by one: noise is drawn by a sequence's place among those of a call.
      for (const one of cases)
        numbers.push(...(await model.predictProba([one])).data, model.classes.indexOf((await model.predict([one]))[0]!));
      const calls = cases.map(
        ({ rows }, b) => `  class_number = model_classify(&work, case_${b}, ${rows}, out);
  show(out, 3);
  out[0] = class_number;
  show(out, 1);
`,
      );
      const main = programOf(
        [...cases.map((one, b) => array(`case_${b}`, one)), "static model_work work;", "static int class_number;"],
        `  (void)t;
  if (model_classify(&work, case_0, 0, out) != -1) return 1;
  if (model_label(3) != 0 || model_label(0)[0] != '${String(model.classes[0])[0]}') return 2;
${calls.join("")}`,
        3,
      );
      return { ...files, main, numbers: Float64Array.from(numbers) };
    },
  };
}

/**
 * A series that is fed back, with transforms, beside known inputs or alone: taught, predicted and
 * forecast.
 */
function ofFedBack(name: string, known: number, options: Options): CCase {
  return {
    name,
    async make() {
      await using model = await Forecaster.create(options);
      const series = waves(1, 4);
      const beside = waves(Math.max(1, known), 3, rows + steps);
      const of = (first: number, count: number) => ({ known: beside.subarray(first, first + count) });
      await model.fit(known > 0 ? { series, ...of(0, rows) } : series);
      const files = await toC(model);
      const first = await model.forecast(steps, known > 0 ? of(rows, steps) : {});
      await model.warmUp(known > 0 ? { series: series.subarray(0, taken), ...of(0, taken) } : series.subarray(0, taken));
      const second = await model.forecast(steps, known > 0 ? of(taken, steps) : {});
      const predicted = await model.predict({ steps }, known > 0 ? of(taken, steps) : {});
      const row = (t: string) => (known > 0 ? `beside + (${t}) * ${known}, ` : "");
      const main = mainOf(
        [array("series", series.subarray(0, taken)), array("beside", beside), "static model_state there;"],
        `  (void)beside;
  if (model_forecast(&state, ${steps}, ${row(String(rows))}out) != ${steps}) return 1;
  show(out, ${steps});
  model_reset(&state);
  for (t = 0; t < ${taken}; t++) model_teach(&state, ${row("t")}series + t);
  there = state;
  if (model_forecast(&there, ${steps}, ${row(String(taken))}out) != ${steps}) return 1;
  show(out, ${steps});
  for (t = 0; t < ${steps}; t++) { model_predict(&state, ${row(`${taken} + t`)}out); show(out, 1); }
`,
        1,
      );
      return { ...files, main, numbers: values(first, second, predicted) };
    },
  };
}

/** A series of which values are missing, beside what is known and the calendar. */
function withGaps(name: string, known: number, options: Options): CCase {
  return {
    name,
    async make() {
      await using model = await Forecaster.create(options);
      const timed = options.calendar !== undefined;
      const all = waves(1 + known, 2, rows + steps);
      const series = Matrix.zeros(rows, 1);
      const beside = Matrix.zeros(rows + steps, known);
      for (let t = 0; t < rows + steps; t++) {
        if (t < rows) series.data[t] = t > 0 && (t % 11 === 4 || t % 37 < 3) ? Number.NaN : all.row(t)[0]!;
        beside.row(t).set(all.row(t).subarray(1));
      }
      const start = Date.UTC(2025, 0, 3);
      const of = (first: number, end: number) => ({
        ...(known > 0 && { known: beside.subarray(first, end) }),
        ...(timed && {
          times: Array.from({ length: end - first }, (_, t) => new Date(start + (first + t) * 3_600_000).toISOString().slice(0, 19)),
        }),
      });
      await model.fit({ series, ...of(0, rows) });
      const files = await toC(model);
      const first = await model.forecast(steps, known > 0 ? { known: beside.subarray(rows, rows + steps) } : {});
      await model.warmUp({ series: series.subarray(0, taken), ...of(0, taken) });
      const second = await model.forecast(steps, known > 0 ? { known: beside.subarray(taken, taken + steps) } : {});
      const columns = timed ? Number(files.header.match(/the last (\d+) of its known values/)![1]) : 0;
      const width = known + columns;
      const row = (t: string) => `${width > 0 ? `, row(${t})` : ""}`;
      const main = mainOf(
        [
          array("series", series.subarray(0, taken)).replaceAll("NaN", "(0.0 / 0.0)"),
          array("beside", beside),
          `static double known[${rows + steps}][${Math.max(1, width)}];`,
          width > 0
            ? `static const double *row(int t)
{
  int i;
  for (i = 0; i < ${known}; i++) known[t][i] = beside[t * ${known} + i];
  ${columns > 0 ? `model_calendar(INT64_C(${start}) + t * INT64_C(3600000), known[t] + ${known});` : ""}
  return known[t];
}`
            : "",
        ],
        `  (void)beside; (void)known;
  ${width > 0 ? `for (t = 0; t < ${rows + steps}; t++) row(t);` : ""}
  if (model_forecast(&state, ${steps}, ${width > 0 ? `row(${rows}), ` : ""}out) != ${steps}) return 1;
  show(out, ${steps});
  model_reset(&state);
  if (model_observe(&state, series + 4${row("4")}) != 0) return 2;
  for (t = 0; t < ${taken}; t++) if (model_observe(&state, series + t${row("t")}) != 1) return 3;
  if (model_forecast(&state, ${steps}, ${width > 0 ? `row(${taken}), ` : ""}out) != ${steps}) return 4;
  show(out, ${steps});
`,
        1,
      );
      return { ...files, main, numbers: values(first, second) };
    },
  };
}

/** A combination: a forecast where it stands, rows that follow, and a forecast from there. */
function ofCombination({ name, data, next, ahead, options }: Combination): CCase {
  return {
    name: `a combination: ${name}`,
    async make() {
      await using model = await Forecaster.fit(data, options);
      const files = await toC(model);
      const { rows: count, cols } = next;
      const known = (from: number) => (ahead ? { known: ahead.subarray(from, from + steps) } : {});
      const first = await model.forecast(steps, known(0));
      const rest = { known: ahead?.subarray(0, count) };
      const predicted = ahead ? Matrix.zeros(0, cols) : await model.predict(next);
      if (ahead) await model.update({ series: next, ...rest }, { weights: "keep" });
      const second = await model.forecast(steps, known(count));
      const given = (at: string) => (ahead ? `ahead + ${at} * ${ahead.cols}, ` : "");
      const row = `next + t * ${cols}`;
      const body = `  there = state;
  if (model_forecast(&there, ${steps}, ${given("0")}out) != ${steps}) return 1;
  show(out, ${steps * cols});
  for (t = 0; t < ${count}; t++) { ${ahead ? `model_observe(&state, ${row}, ahead + t * ${ahead.cols});` : `model_predict(&state, ${row}, out); show(out, ${cols});`} }
  if (model_forecast(&state, ${steps}, ${given(String(count))}out) != ${steps}) return 2;
  show(out, ${steps * cols});
`;
      const arrays = [array("next", next).replaceAll("NaN", "(0.0 / 0.0)"), ...(ahead ? [array("ahead", ahead)] : [])];
      const main = mainOf([...arrays, "static model_state there;"], body, cols);
      return { ...files, main, numbers: values(first, predicted, second) };
    },
  };
}

/** Every state and output of a forecaster in integers, over rows, in a closed loop, and taught. */
function ofIntegers(name: string, inputs: number, outputs: number, options: Options): CCase {
  return {
    name,
    async make() {
      await using model = await Forecaster.create(options);
      const feedback = options.reservoir?.feedback != null;
      const isSeries = !feedback && inputs === outputs;
      const u = waves(Math.max(1, inputs), 3);
      // A closed loop takes inputs and targets of one scale.
      const first = new Matrix(
        rows,
        1,
        Float64Array.from({ length: rows }, (_, t) => u.row(t)[0]!),
      );
      const targets = isSeries ? u : !feedback && outputs === 1 ? first : waves(outputs, 4);
      await model.fit(isSeries ? u : { inputs: inputs > 0 ? u : Matrix.zeros(rows, 0), targets });
      const files = await toC(model);
      const parts = await decodeForecaster(await decodeModelFile(await model.toBytes(), "forecaster", "forecaster"), "forecaster");
      const { model: reservoir, state, preprocessing } = parts.members[0]!;
      const { inputScale, targetScale } = preprocessing;
      const scores = ({ mean, deviation }: Standardisation, matrix: Matrix) =>
        Int16Array.from(standardised({ mean, deviation }, matrix).data, (value) => inputSteps(Math.fround(value)));
      const closes = feedback || inputs >= outputs;
      const outside = feedback ? inputs : inputs - outputs;
      const next = u.subarray(0, steps);
      const aheadRows = new Matrix(
        steps,
        Math.max(0, outside),
        Float64Array.from({ length: steps * Math.max(0, outside) }, (_, i) => 20 + (i % 7)),
      );
      const closed = closes ? await model.forecast(steps, outside > 0 ? { inputs: aheadRows } : {}) : Matrix.zeros(0, outputs);
      const predicted = await model.predict(inputs > 0 ? next : { steps });
      const taught = targets.subarray(0, feedback ? steps : 0);
      if (feedback) await model.warmUp({ inputs: inputs > 0 ? next : Matrix.zeros(steps, 0), targets: taught });
      const after = feedback ? await model.predict(inputs > 0 ? next : { steps }) : Matrix.zeros(0, outputs);
      // States over the rows of `predicted`, four of 16 bits in each number that is printed.
      await using computer = await ReservoirComputer.fromModel(reservoir as ReservoirModel);
      computer.state = state.reservoir;
      const states = feedback ? undefined : await computer.run(standardised(inputScale, next));
      const words = Array.from(states?.data ?? [], (x) => x * 2 ** 15);
      const packed = new DataView(new ArrayBuffer(2 * words.length));
      for (const [i, word] of words.entries()) packed.setInt16(2 * i, word);
      const printedStates = Array.from({ length: words.length / 4 }, (_, i) => packed.getFloat64(8 * i));
      const { size } = reservoir;
      const integers = (label: string, list: Int16Array) =>
        `static const int16_t ${label}[${Math.max(1, list.length)}] = { ${list.join(", ") || "0"} };`;
      const list = (label: string, of: ArrayLike<number>) =>
        `static const double ${label}[${of.length}] = { ${Array.from(of).join(", ")} };`;
      const row = inputs > 0 ? `next + t * ${inputs}, ` : "";
      const source = `#include <stdint.h>
#include "model.h"
void print_bits(uint32_t high, uint32_t low);
${integers("next", scores(inputScale, inputs > 0 ? next : Matrix.zeros(0, 0)))}
${integers("ahead", outside > 0 ? scores(columnsOf(inputScale, feedback ? 0 : outputs, inputs), aheadRows) : new Int16Array(0))}
${integers("taught", scores(targetScale, taught))}
${list("mean", targetScale.mean)}
${list("deviation", targetScale.deviation)}
static model_state state;
static int64_t out[${steps * outputs}];
/* Outputs in the units of the data, in binary64, each operation rounded by itself. */
static void show(int count)
{
  int i;
  for (i = 0; i < count; i++) {
    union { double value; uint64_t bits; } each;
    volatile double scaled = (double)out[i] / (double)(UINT64_C(1) << MODEL_OUTPUT_FRACTION);
    scaled = scaled * deviation[i % ${outputs}];
    each.value = scaled + mean[i % ${outputs}];
    print_bits((uint32_t)(each.bits >> 32), (uint32_t)each.bits);
  }
}
static void show_states(void)
{
  int r;
  for (r = 0; r < ${size}; r += 4)
    print_bits((uint32_t)(uint16_t)state.x[r] << 16 | (uint16_t)state.x[r + 1], (uint32_t)(uint16_t)state.x[r + 2] << 16 | (uint16_t)state.x[r + 3]);
}
int main(void)
{
  int t;
  int32_t values[${Math.max(inputs, outputs)}];
  int16_t back[${Math.max(1, inputs)}];
  (void)ahead; (void)next; (void)taught; (void)values; (void)back; (void)show_states;
  model_begin(&state);
${
  closes
    ? `  { model_state there = state; model_forecast(&there, ${steps}, ${outside > 0 ? "ahead, " : ""}out); }
  show(${steps * outputs});
`
    : ""
}  for (t = 0; t < ${steps}; t++) {
    model_predict(&state, ${row}out); show(${outputs});
    ${feedback ? "" : "show_states();"}
  }
${
  feedback
    ? `  model_reset(&state);
  for (t = 0; t < ${steps}; t++) model_teach(&state, ${row}taught + t * ${outputs});
  for (t = 0; t < ${steps}; t++) { model_predict(&state, ${row}out); show(${outputs}); }
`
    : ""
}${
  isSeries
    ? `  /* Values go to scores and back within a step of each. */
  model_values(out, values);
  model_scores(values, back);
  for (t = 0; t < ${outputs}; t++) {
    const int64_t off = back[t] * ((INT64_C(1) << MODEL_OUTPUT_FRACTION) / 4096) - out[t];
    if (off > (INT64_C(1) << MODEL_OUTPUT_FRACTION) / 4096 || -off > (INT64_C(1) << MODEL_OUTPUT_FRACTION) / 4096) return 3;
  }
`
    : ""
}  return 0;
}
`;
      const numbers = feedback
        ? values(closed, predicted, after)
        : Float64Array.from([
            ...closed.data,
            ...Array.from({ length: steps }, (_, t) => [
              ...predicted.row(t),
              ...printedStates.slice((t * size) / 4, ((t + 1) * size) / 4),
            ]).flat(),
          ]);
      return { ...files, main: source, numbers };
    },
  };
}

const small = { size: 30, seed: 5 } as const;
const integers = { size: 20, seed: 5, arithmetic: "integer" } as const;

/** Every shape. */
/**
 * A detector continues from where it was: rows with missing values, a gap, a spike, feedback on it.
 */
function ofAnomalies(name: string, columns: number, options: AnomalyOptions): CCase {
  return {
    name,
    async make() {
      const detector = await AnomalyDetector.create({ columns, warmUp: 60, alarmRate: 0.01, ...options });
      const series = waves(columns, 3, 400);
      const start = Date.UTC(2024, 2, 29);
      const timeOf = (t: number) => start + 300_000 * (t < 330 ? t : t + 40);
      detector.detect(series.subarray(0, 250), { times: Array.from({ length: 250 }, (_, t) => timeOf(t)) });
      const files = await toC(detector);
      const next = Matrix.from(series.subarray(250, 400), "float64");
      for (let i = 0; i < next.data.length; i++) if (i % 11 === 5) next.data[i] = Number.NaN;
      next.data[60 * columns] = 90;
      const width = 6 + 6 * columns;
      const said: number[] = [];
      const text = (value: number | undefined) => (value === undefined || Number.isNaN(value) ? -1 : value);
      for (let t = 0; t < next.rows; t++) {
        const { score, pValue, expected, lower, upper, alarm } = detector.update(next.row(t), timeOf(250 + t));
        said.push(score, text(pValue), alarm ? 1 : 0, ...[...expected, ...lower, ...upper].map(text));
        if (t === 70) detector.feedback(312, "anomaly");
      }
      const shown = `{
    const double time = ${start}.0 + 300000.0 * (t < 80 ? t + 250 : t + 290);
    double said[${3 + 3 * columns}];
    int c, k, at = 3;
    model_update(state, next + t * ${columns}, time, time, result);
    said[0] = result[MODEL_SCORE];
    said[1] = result[MODEL_P_VALUE] >= 0 ? result[MODEL_P_VALUE] : -1;
    said[2] = result[MODEL_ALARM] > 0 ? 1 : 0;
    for (k = MODEL_EXPECTED; k <= MODEL_UPPER; k++)
      for (c = 0; c < ${columns}; c++) {
        const double value = result[MODEL_FIRST_COLUMN + c * MODEL_COLUMN_RESULTS + k];
        said[at++] = value == value ? value : -1;
      }
    show(said, ${3 + 3 * columns});
    if (t == 70) model_feedback(state, 312, 0, 1);
  }
`;
      const declared = [array("next", next).replaceAll("NaN", "(0.0 / 0.0)"), `static double state[MODEL_STATE], result[MODEL_RESULT];`];
      const main = programOf(
        declared,
        `  if (MODEL_RESULT != ${width}) return 1;
  model_begin(state);
  for (t = 0; t < ${next.rows}; t++) ${shown}  (void)out;
`,
        1,
      );
      return { ...files, main, numbers: Float64Array.from(said) };
    },
  };
}

export const casesOfC: readonly CCase[] = [
  ...combinations.map(ofCombination),
  ofAnomalies("an anomaly detector, novelty alone", 1, { forecast: false, patterns: 30 }),
  ofAnomalies("an anomaly detector of two columns with a forecast", 2, { size: 0, patterns: 20, detect: "both", rate: "exact" }),
  ofAnomalies("an anomaly detector with a reservoir", 1, { size: 12, patterns: 20, missing: "alarm" }),
  ofSeries("one column, dense, with its input in the readout", 1, { reservoir: small, readout: { type: "ridge", input: true } }),
  ofSeries("two columns, 200 neurons, sparse, in 16 bits", 2, {
    reservoir: { size: 200, connectionProbability: 0.05, weightPrecision: "bfloat16", seed: 7 },
  }),
  ofSeries("two columns in binary64 with squares and a sigmoid", 2, {
    reservoir: { ...small, precision: "float64", activation: "sigmoid" },
    readout: { type: "ridge", transform: "squares" },
  }),
  ofSeries("300 neurons, every second one squared, other scales of inputs and targets", 1, {
    reservoir: { size: 300, connectionProbability: 0.02, seed: 8 },
    readout: { type: "ridge", transform: "squareHalf" },
    standardise: "inputs",
  }),
  ofSeries("members with lags, chosen by a horizon", 2, { reservoir: { size: 20 }, horizon: 10, season: 30, members: 4 }),
  ofSeries("lags, linear units", 1, { reservoir: { ...small, activation: "identity" }, lags: 9 }),
  withKnown("known inputs", { reservoir: small }),
  withKnown("known inputs and lags, several members", { reservoir: { size: 25 }, lags: 5, members: 3 }),
  ofInputs("inputs with targets of more columns", 1, 2, { reservoir: small }),
  ofInputs("inputs from outside beside what is fed back as an input", 3, 1, { reservoir: { ...small, activation: "relu" } }),
  ofInputs("feedback beside inputs", 2, 1, { reservoir: { ...small, feedback: {} } }),
  ofTransformed("logarithm and difference, two columns", 2, { reservoir: small, transforms: ["log", { difference: 1 }] }),
  ofTransformed("Box and Cox, a season, a difference and z-scores, lags and members", 1, {
    reservoir: { size: 20 },
    ...{ lags: 3, members: 3, transforms: ["boxCox", { difference: 12 }, "standardise", { difference: 1 }] },
  }),
  ofTransformed("powers below 0 and at 0 after a difference", 1, {
    reservoir: small,
    transforms: [{ boxCox: -0.5 }, { difference: 2 }],
  }),
  withKnown("known inputs with a logarithm and a difference", { reservoir: small, transforms: [{ log: 3 }, { difference: 1 }] }),
  ofIntegers("integers of 16 bits, sparse, one column", 1, 1, { reservoir: { size: 200, seed: 3, arithmetic: "integer" } }),
  ofIntegers("integers with weights of 8 bits, dense, two columns, bias, a leak rate each", 2, 2, {
    reservoir: {
      ...{ size: 40, seed: 3, arithmetic: "integer", weightPrecision: "int8", connectionProbability: 1, bias: 0.4 },
      leakRate: { from: 0.05, to: 1 },
    },
  }),
  ofIntegers("integers with inputs from outside beside what is fed back as an input", 3, 1, {
    reservoir: { size: 20, arithmetic: "integer", initialState: { distribution: "uniform", scaling: 0.5 } },
    hold: false,
  }),
  ofIntegers("integers with inputs and targets of more columns", 1, 2, { reservoir: { size: 20, arithmetic: "integer" } }),
  ofIntegers("integers with feedback beside inputs", 2, 1, { reservoir: { size: 20, arithmetic: "integer", feedback: {} } }),
  ofIntegers("integers with feedback alone", 0, 2, { reservoir: { size: 20, arithmetic: "integer", feedback: {} } }),
  ofSeries("integers with its input, squares, other scales of inputs and targets", 2, {
    reservoir: { ...integers, connectionProbability: 1 },
    readout: { type: "ridge", input: true, transform: "squares" },
    standardise: "inputs",
  }),
  ofTransformed("integers with members, lags, a logarithm and a difference", 1, {
    reservoir: { ...integers, weightPrecision: "int8" },
    ...{ lags: 3, members: 3, transforms: ["log", { difference: 2 }] },
  }),
  ofInputs("integers with feedback, several members", 2, 1, { reservoir: { ...integers, feedback: {} }, members: 2 }),
  withKnown("integers with known inputs and lags", { reservoir: integers, lags: 5 }),
  withCalendar("the hour and the week, before 1970", Date.UTC(1969, 11, 29, 3), 1_800_000, {
    reservoir: small,
    calendar: [{ cycle: "hour", harmonics: 5 }, { cycle: "weekday" }, { holidays: ["1969-12-31", "1970-01-02"] }],
  }),
  withCalendar("the year over a leap day, integers with members", Date.UTC(1999, 8, 1), 86_400_000, {
    reservoir: integers,
    ...{ members: 2, calendar: [{ cycle: "yearday" }, { holidays: ["2000-02-29"] }] },
  }),
  ofClasses("classifier in integers by statistics, several members", 2, { reservoir: integers, members: 3 }),
  ofClasses("classifier in integers by last states and means, softmax", 1, {
    reservoir: { ...integers, weightPrecision: "int8" },
    ...{ representation: "last+mean", readout: { type: "softmax" }, input: true },
  }),
  ofClasses("classifier by statistics, several members", 2, { reservoir: { size: 20 }, members: 3 }),
  ofClasses("classifier by statistics of states and inputs, after a washout, forwards alone", 1, {
    reservoir: { size: 25, connectionProbability: 0.3 },
    input: true,
    washout: 3,
    directions: "forward",
  }),
  ofClasses("classifier by last states and means, softmax, mean of members, binary64", 2, {
    reservoir: { size: 15, precision: "float64" },
    representation: "last+mean",
    readout: { type: "softmax" },
    input: true,
    members: 2,
    vote: "mean",
  }),
  ofClasses("classifier by means, ridge with one lambda", 1, { reservoir: { size: 15 }, representation: "mean" }),
  ofSeries("the cell es2n", 1, { reservoir: { ...small, cell: { type: "es2n", proximity: 0.4 } } }),
  ofSeries("the residual cell, weights in 16 bits, lags", 2, {
    reservoir: { ...small, cell: { type: "residual", keep: 0.6, gain: 0.7 }, weightPrecision: "bfloat16" },
    lags: 2,
  }),
  ofSeries("the Euler cell, sparse, binary64", 1, {
    reservoir: { size: 60, precision: "float64", connectionProbability: 0.05, cell: { type: "euler", step: 0.1, damping: 0.05 } },
  }),
  ofSeries("all connections, binary64 with weights in 16 bits", 1, {
    reservoir: { ...small, size: 37, connectionProbability: 1, precision: "float64", weightPrecision: "bfloat16" },
  }),
  ofSeries("noise in binary32, members", 1, { reservoir: { ...small, noiseLevel: 0.01 }, members: 2 }),
  ofSeries("noise in binary64", 1, { reservoir: { size: 25, noiseLevel: 0.003, precision: "float64" } }),
  ofSeries("fast arithmetic, weights in 8 bits", 1, {
    reservoir: { ...small, storage: "dense", arithmetic: "fast", weightPrecision: "int8" },
    engine: "reference",
  }),
  ofSeries("layers of other kinds, read as a whole", 2, {
    reservoir: {
      ...{
        seed: 4,
        layers: [
          { size: 20, leakRate: 0.9 },
          { size: 15, activation: "relu", cell: { type: "es2n", proximity: 0.5 } },
        ],
      },
      ...{ connectionProbability: 0.4 },
    },
    readout: { type: "ridge", input: true, transform: "squares" },
  }),
  ofSeries("three layers with noise, of which the last is read", 1, {
    reservoir: { size: 12, seed: 4, layers: [{}, { noiseLevel: 0.02 }, { size: 16, connectionProbability: 1 }], read: "last" },
    lags: 2,
  }),
  ofSeries("layers in integers, members", 1, { reservoir: { ...integers, layers: [{}, { size: 30 }] }, members: 2 }),
  ofSeries("groups that see other columns", 2, {
    reservoir: { size: 14, seed: 9, groups: [{ inputs: [1] }, { size: 20 }, { inputs: [0], activation: "sigmoid" }] },
  }),
  withKnown("groups with known inputs", { reservoir: { size: 14, groups: [{ inputs: [0, 2] }, { inputs: [1] }] } }),
  ofTransformed("squashed z-scores", 2, {
    reservoir: small,
    transforms: ["standardise", "squash", { difference: 1 }],
  }),
  ofTransformed("candidates of other transforms and lags", 1, {
    reservoir: { size: 20 },
    horizon: 8,
    choose: {
      ...{ keep: 4, lambdas: [1e-4], starts: 4 },
      candidates: [
        { transforms: ["log"], lags: 3 },
        { transforms: [{ difference: 4 }, "standardise"], lags: 0 },
        { transforms: [], lags: 1 },
      ],
    },
    members: 2,
  }),
  ofFedBack("feedback with a difference and a logarithm", 0, {
    reservoir: { ...small, feedback: {} },
    transforms: ["log", { difference: 3 }],
  }),
  ofFedBack("feedback beside known inputs with z-scores, noise", 2, {
    reservoir: { ...small, feedback: {}, noiseLevel: 0.01 },
    transforms: ["standardise", { difference: 1 }],
  }),
  ofSeries("missing values held", 2, { reservoir: small, missing: "hold" }),
  withGaps("missing values held beside known inputs, lags", 1, { reservoir: small, missing: "interpolate", lags: 2 }),
  withGaps("missing values", 0, { reservoir: small, missing: "mask" }),
  withGaps("missing values beside known inputs, lags, a difference", 2, {
    reservoir: { size: 20 },
    ...{ missing: "mask", lags: 3, members: 2, transforms: [{ difference: 2 }] },
  }),
  withGaps("missing values beside known inputs and the calendar, in integers", 1, {
    reservoir: integers,
    ...{ missing: "mask", calendar: [{ cycle: "weekday" }, { cycle: "hour" }] },
  }),
  ofClasses("classifier by statistics with a layer norm, differences, layers", 2, {
    reservoir: { layers: [{ size: 12 }, { size: 14 }], read: "last" },
    ...{ differences: true, layerNorm: true },
  }),
  ofClasses("classifier by last states with a layer norm and squares", 1, {
    reservoir: { size: 14, cell: { type: "es2n", proximity: 0.3 } },
    ...{ representation: "last", layerNorm: true, scaleFeatures: false, readout: { type: "ridge", transform: "squares" } },
  }),
  ofClasses("classifier by means with noise, every second feature squared, softmax of groups", 2, {
    reservoir: { size: 12, groups: [{ inputs: [0] }, { noiseLevel: 0.1 }] },
    ...{ representation: "mean", input: true, scaleFeatures: false, readout: { type: "softmax", transform: "squareHalf" } },
  }),
  ofInputs("feedback alone, outputs not held", 0, 2, { reservoir: { ...small, feedback: {} }, hold: false }),
];
