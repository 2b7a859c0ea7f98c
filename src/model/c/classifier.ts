// A classifier as one C source and its header: a sequence in, its class and the shares of all
// classes out. States are summed as they come, so a sequence of any length takes the same memory.
import { SoftmaxReadout } from "../../readout/index.js";
import type { FeatureSpec } from "../../reservoir/index.js";
import type { ClassifierParts } from "../classifier/file.js";
import type { ClassifierSettings, Label } from "../classifier/options.js";
import { layerNormEpsilon } from "../layer-norm.js";
import { type View, viewsOf } from "../views.js";
import { Constants, type CProgram } from "./constants.js";
import { arithmetic, portableExp, squareRoot } from "./functions.js";
import { checkAlike, type Part, partsOf, unheld } from "./refuse.js";
import { memberFields, Reservoirs, reservoirNeeds } from "./reservoir.js";
import { inIntegers, type Needs, numberTypes, stepCall, stepFunctions } from "./step.js";
import { textConstant, typeName } from "./text.js";

/** What is written of it beside its parts. */
export interface ClassifierNote {
  readonly name: string;
  readonly version: string;
}

/** What a program takes of a classifier. @throws ArgumentError for what it does not hold */
function checkClassifier({ settings, members }: ClassifierParts) {
  const { representation } = settings;
  if (representation === "output")
    throw unheld(
      'has the representation "output"',
      "representation",
      '"last", "mean", "last+mean" and "statistics", which train no readout of every sequence',
    );
  const reservoirs = members.map(({ models }) => models.map((model) => ({ size: model.size, parts: partsOf(model) })));
  checkAlike(reservoirs.flat().flatMap(({ parts }) => parts));
  return {
    views: (representation === "statistics" ? viewsOf(settings) : [{ of: 0, backward: false }]) as readonly View[],
    /** The neurons that are read of each, and what it is made of. */
    reservoirs,
    /** Outputs become shares by softmax of them times a factor, or are cut at 0. */
    heads: members.map(({ readout, factor }) =>
      readout instanceof SoftmaxReadout ? { softmax: true, factor: 1 } : { softmax: factor !== undefined, factor: factor ?? 0 },
    ),
  };
}

/** @throws ArgumentError for what C does not hold */
export function cClassifier(parts: ClassifierParts, { name, version }: ClassifierNote): CProgram {
  const { settings, classes, members, scale } = parts;
  const { representation, thresholds, input, layerNorm } = settings;
  const { views, reservoirs, heads: readoutHeads } = checkClassifier(parts);
  const readouts = members.map(({ readout }) => readout);
  const { features: spec, weights } = readouts[0]!;
  const featureSize = weights.cols / (spec.squares ? 2 : 1);
  const all = reservoirs.flat();
  const rate = all.flatMap(({ parts: own }) => own);
  const channels = scale.mean.length;
  const statistics = representation === "statistics";
  const [{ precision }] = rate.map(({ model }) => model) as [Part["model"]];
  const needs: Needs = { ...reservoirNeeds(all.map((each) => each.parts)), inputs: true, squareHalf: false, squares: false, sees: false };
  const constants = new Constants();
  const held = new Reservoirs(rate, needs, constants);
  const double = (what: string, values: ArrayLike<number> | undefined) => constants.add("float64", what, values);
  const perMember = reservoirs[0]!.length;
  const rows = members.flatMap(({ levels }, m) =>
    views.map((view, v) => {
      const { size, parts: own } = reservoirs[m]![view.of]!;
      const seen = view.of === 1 ? parts.differences! : scale;
      const ofInputs = input && !view.backward;
      const fields = [
        ...held.add(own, size, `${m}_${view.of}`),
        [view.of, Number(view.backward), Number(ofInputs)],
        [double(`seen_mean_${view.of}`, seen.mean), double(`seen_deviation_${view.of}`, seen.deviation)],
        [
          double(`levels_${m}_${v}`, levels?.states[v]?.data),
          double(`input_levels_${m}_${view.of}`, ofInputs ? levels?.inputs[view.of]?.data : undefined),
        ],
      ];
      return `  { ${fields.map((each) => each.join(", ")).join(",\n    ")} },`;
    }),
  );
  const heads = readouts.map(
    (readout, m) =>
      `  { ${double(`readout_${m}`, readout.weights.data)}, ${double(`intercept_${m}`, readout.intercept)}, ${readout.weights.cols}, ${Number(readoutHeads[m]!.softmax)}, ${constants.number(readoutHeads[m]!.factor)} },`,
  );
  const shape: Shape = {
    name,
    channels,
    classes,
    width: Math.max(...all.map(({ parts: own }) => own.reduce((sum, { model }) => sum + model.size, 0))),
    largest: Math.max(...rate.map(({ model }) => model.size)),
    size: Math.max(...all.map(({ size }) => size)),
    needs,
    features: layerNorm || spec.squares || spec.state !== "plain" ? featureSize : 0,
    spec,
    levels: statistics ? thresholds : 0,
    members: members.length,
    views: views.length,
    settings,
  };
  const step = stepFunctions(needs, precision, constants);
  const epsilon = constants.number(layerNormEpsilon);
  const title = `Written by Spillway ${version}: a classifier of ${classes.length} classes.`;
  const declarations = [
    `/* ${title} */\n#include <float.h>\n#include <stddef.h>\n#include <stdint.h>\n#include "${name}.h"\n`,
    arithmetic,
    numberTypes(precision, needs),
    `enum { MEMBERS = ${members.length}, VIEWS = ${views.length}, INPUTS = ${channels}, CLASSES = ${classes.length}, LEVELS = ${shape.levels}, WASHOUT = ${settings.washout} };\n`,
    held.types,
    `/* A reservoir, and the series that it sees: 0 or its differences, and in which direction. */
typedef struct {
${[...memberFields, "int of, backward, inputs;", "const double *seen_mean, *seen_deviation;", "const double *levels, *input_levels;"].map((field) => `  ${field}`).join("\n")}
} member;
`,
    `typedef ${name}_work work_area;\n`,
    "typedef struct {\n  const double *weights, *intercept;\n  int features, kind;\n  double factor;\n} head;\n",
    held.activations(precision),
  ];
  const functions = [
    step,
    held.constants,
    `static const member views[MEMBERS * VIEWS] = {\n${rows.join("\n")}\n};\n`,
    `static const head heads[MEMBERS] = {\n${heads.join("\n")}\n};\n`,
    `static const char *const labels[CLASSES] = {\n${classes.map((label) => `  ${textConstant(String(label))},`).join("\n")}\n};\n`,
    portableExp,
    statistics || layerNorm ? squareRoot : "",
    `${shape.features > 0 ? keepFeature(shape, layerNorm ? epsilon : undefined) : addFeature}${statistics ? gatherStatistics : gatherMeans(representation)}`,
    callsOf(shape, perMember > 1),
  ];
  return { header: headerOf(shape, title, inIntegers(needs) ? "int16_t" : typeName(precision)), declarations, constants, functions };
}

interface Shape {
  readonly name: string;
  readonly channels: number;
  readonly classes: readonly Label[];
  /** Neurons of a view, of its largest reservoir, and those that are read, at most. */
  readonly width: number;
  readonly largest: number;
  readonly size: number;
  readonly needs: Needs;
  /** Features that are kept until all are there; 0 if each goes into sums as it comes. */
  readonly features: number;
  readonly spec: FeatureSpec;
  readonly levels: number;
  readonly members: number;
  readonly views: number;
  readonly settings: ClassifierSettings;
}

function headerOf(
  { name, channels, classes, size, largest, width: neurons, levels, settings, features }: Shape,
  title: string,
  neuron: string,
): string {
  const guard = `${name.toUpperCase()}_H`;
  const width = Math.max(size, settings.input ? channels : 0);
  const fields = [
    `${neuron} x[${neurons}], next[${largest}];`,
    ...(settings.representation === "statistics"
      ? [
          `double sum[${width}], squares[${width}], change[${width}], before[${width}], largest[${width}], smallest[${width}];`,
          ...(levels > 0 ? [`int32_t above[${levels * width}], crossings[${levels * width}];`] : []),
        ]
      : [`double sum[${width}], before[${width}];`]),
    `double partial[${32 * classes.length}];`,
    ...(features > 0 ? [`double features[${features}];`] : []),
  ];
  return `/* ${title} */
#ifndef ${guard}
#define ${guard}

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { ${name.toUpperCase()}_CHANNELS = ${channels}, ${name.toUpperCase()}_CLASSES = ${classes.length} };

/* What a call works in; it keeps nothing from one to the next. */
typedef struct {
${fields.map((field) => `  ${field}`).join("\n")}
} ${name}_work;

/* The class of a sequence: \`rows\` rows of ${channels} value${channels === 1 ? "" : "s"}, row by row, in the units of the data.
   \`shares\` gets ${classes.length} numbers from 0 to 1 that sum to 1, or is null.
   -1 if there are no more rows than are left out at the start (${settings.washout}). */
int ${name}_classify(${name}_work *work, const double *sequence, int rows, double *shares);

/* The name of a class, in UTF-8; null for a number that is none. */
const char *${name}_label(int class_number);

#ifdef __cplusplus
}
#endif

#endif
`;
}

const addToSums = `
/* Feature f of the case, into the 32 partial sums of every class (rule 1). */
static void FUNCTION(const head *h, work_area *w, int f, double value)
{
  int k;
  for (k = 0; k < CLASSES; k++)
    w->partial[32 * k + (f & 31)] = w->partial[32 * k + (f & 31)] + h->weights[(size_t)k * (size_t)h->features + (size_t)f] * value;
}
`;

const addFeature = addToSums.replace("FUNCTION", "add_feature");

/** Features that wait for one another. @param epsilon of a layer norm */
function keepFeature({ spec }: Shape, epsilon: string | undefined): string {
  const sums = (value: string) => `  for (f = 0; f < 32; f++) partial[f] = 0;
  for (f = 0; f < count; f++) partial[f & 31] = partial[f & 31] + ${value};
`;
  const norm =
    epsilon === undefined
      ? ""
      : `${sums("w->features[f]")}  mean = sum_of_doubles(partial, 32) / count;
  for (f = 0; f < count; f++) w->features[f] = w->features[f] - mean;
${sums("w->features[f] * w->features[f]")}  deviation = root_of(sum_of_doubles(partial, 32) / count + ${epsilon});
  for (f = 0; f < count; f++) w->features[f] = w->features[f] / deviation;
`;
  const value = spec.state === "squareHalf" ? "(f & 1) ? w->features[f] * w->features[f] : w->features[f]" : "w->features[f]";
  const squares = spec.squares ? "  for (f = 0; f < count; f++) weigh(h, w, count + f, w->features[f] * w->features[f]);\n" : "";
  return `${addToSums.replace("FUNCTION", "weigh")}
static void add_feature(const head *h, work_area *w, int f, double value)
{
  (void)h;
  w->features[f] = value;
}

/* What the readout sees of the features, once all are there. */
static void weigh_all(const head *h, work_area *w, int count)
{
  int f;
${norm ? "  double partial[32], mean, deviation;\n" : ""}${norm}  for (f = 0; f < count; f++) weigh(h, w, f, ${value});
${squares}}
`;
}

const gatherStatistics = `
/* Takes a row of values into the statistics of each, rule 10. */
static void take(work_area *w, const double *values, int count, const double *levels, int is_first)
{
  int i, q;
  for (i = 0; i < count; i++) {
    const double x = values[i];
    double change;
    if (is_first) {
      w->sum[i] = 0; w->squares[i] = 0; w->change[i] = 0;
      w->before[i] = x; w->largest[i] = x; w->smallest[i] = x;
    }
    change = x - w->before[i];
    w->sum[i] = w->sum[i] + x;
    w->squares[i] = w->squares[i] + x * x;
    w->change[i] = w->change[i] + (change < 0 ? -change : change);
    if (x > w->largest[i]) w->largest[i] = x;
    if (x < w->smallest[i]) w->smallest[i] = x;
    for (q = 0; q < LEVELS; q++) {
      const double level = levels[q * count + i];
      const int is = x > level, was = w->before[i] > level;
      if (is_first) { w->above[q * count + i] = 0; w->crossings[q * count + i] = 0; }
      w->above[q * count + i] += is;
      w->crossings[q * count + i] += is != was;
    }
    w->before[i] = x;
  }
}

/* What the readout sees of them, one statistic after the other. */
static int give(work_area *w, const head *h, int count, int rows, int f)
{
  const double n = rows;
  int i, q;
  for (i = 0; i < count; i++) add_feature(h, w, f++, w->sum[i] / n);
  for (i = 0; i < count; i++) {
    const double mean = w->sum[i] / n;
    const double variance = w->squares[i] / n - mean * mean;
    add_feature(h, w, f++, root_of(variance > 0 ? variance : 0));
  }
  for (i = 0; i < count; i++) add_feature(h, w, f++, w->largest[i]);
  for (i = 0; i < count; i++) add_feature(h, w, f++, w->smallest[i]);
  for (i = 0; i < count; i++) add_feature(h, w, f++, w->before[i]);
  for (i = 0; i < count; i++) add_feature(h, w, f++, w->change[i] / n);
  for (q = 0; q < LEVELS; q++)
    for (i = 0; i < count; i++) add_feature(h, w, f++, w->above[q * count + i] / n);
  for (q = 0; q < LEVELS; q++)
    for (i = 0; i < count; i++) add_feature(h, w, f++, w->crossings[q * count + i] / n);
  return f;
}
`;

function gatherMeans(representation: ClassifierSettings["representation"]): string {
  const last = "  for (i = 0; i < count; i++) add_feature(h, w, f++, w->before[i]);\n";
  const mean = "  for (i = 0; i < count; i++) add_feature(h, w, f++, w->sum[i] / rows);\n";
  return `
static void take(work_area *w, const double *values, int count, const double *levels, int is_first)
{
  int i;
  (void)levels;
  for (i = 0; i < count; i++) {
    w->sum[i] = (is_first ? 0 : w->sum[i]) + values[i];
    w->before[i] = values[i];
  }
}

static int give(work_area *w, const head *h, int count, int rows, int f)
{
  int i;
  (void)rows;
${representation !== "mean" ? last : ""}${representation !== "last" ? mean : ""}  return f;
}
`;
}

function callsOf({ name, settings, members, size, channels, needs, features }: Shape, differences: boolean): string {
  const width = Math.max(size, channels);
  const seen = differences
    ? `      const double z = (row[i] - views[0].seen_mean[i]) / views[0].seen_deviation[i];
      double value = z;
      if (v->of == 1) {
        const double *earlier = row - INPUTS;
        const double change = t == 0 ? 0 : z - (earlier[i] - views[0].seen_mean[i]) / views[0].seen_deviation[i];
        value = (change - v->seen_mean[i]) / v->seen_deviation[i];
      }
      values[i] = value;`
    : "      values[i] = (row[i] - v->seen_mean[i]) / v->seen_deviation[i];";
  const step = stepCall(needs, {
    ...{ reservoirs: "v->parts", count: "v->count", x: "w->x", next: "w->next", input: "u", fed: "", step: "(uint32_t)s" },
  });
  const vote =
    settings.vote === "mean" || members === 1
      ? "  return largest_of(total);"
      : `  {
    int most = 0;
    for (k = 0; k < CLASSES; k++) if (votes[k] > most) most = votes[k];
    for (k = 0; k < CLASSES; k++) if (votes[k] != most) total[k] = -1;
  }
  return largest_of(total);`;
  return `
static int largest_of(const double *values)
{
  int k, best = 0;
  for (k = 1; k < CLASSES; k++) if (values[k] > values[best]) best = k;
  return best;
}

/* One view of a sequence: its states, and if asked for its inputs, into the sums of the readout. */
static int look(work_area *w, const head *h, const member *v, const double *sequence, int rows, int f)
{
  double values[${width}];
  real u[INPUTS];
  int s, i, pass;
  for (i = 0; i < v->width; i++) w->x[i] = v->initial_state[i];
  for (pass = 0; pass < 1 + v->inputs; pass++) {
    const int count = pass == 0 ? v->size : INPUTS;
    for (s = 0; s < rows; s++) {
      const int t = v->backward ? rows - 1 - s : s;
      const double *row = sequence + (size_t)t * INPUTS;
      for (i = 0; i < INPUTS; i++) {
${seen}
      }
      if (pass == 0) {
        for (i = 0; i < INPUTS; i++) u[i] = (real)values[i];
        ${step}
        for (i = 0; i < v->size; i++) values[i] = STATE(w->x[v->width - v->size + i]);
      }
      if (s >= WASHOUT) take(w, values, count, pass == 0 ? v->levels : v->input_levels, s == WASHOUT);
    }
    f = give(w, h, count, rows - WASHOUT, f);
  }
  return f;
}

/* Shares of a readout's outputs, which it overwrites: softmax of them times a factor, or what is above 0. */
static void to_shares(const head *h, double *outputs)
{
  double sum = 0, largest;
  int k;
  if (h->kind == 1) {
    for (k = 0; k < CLASSES; k++) outputs[k] = outputs[k] * h->factor;
    largest = outputs[largest_of(outputs)];
    for (k = 0; k < CLASSES; k++) {
      outputs[k] = exp_of(outputs[k] - largest);
      sum = sum + outputs[k];
    }
    for (k = 0; k < CLASSES; k++) outputs[k] = outputs[k] / sum;
    return;
  }
  {
    const int best = largest_of(outputs);
    for (k = 0; k < CLASSES; k++) {
      if (!(outputs[k] > 0)) outputs[k] = 0;
      sum = sum + outputs[k];
    }
    if (sum > 0) for (k = 0; k < CLASSES; k++) outputs[k] = outputs[k] / sum;
    else outputs[best] = 1;
  }
}

int ${name}_classify(${name}_work *work, const double *sequence, int rows, double *shares)
{
  double total[CLASSES] = {0}, outputs[CLASSES];
  int votes[CLASSES] = {0};
  int m, k, v;
  if (rows <= WASHOUT) return -1;
  for (m = 0; m < MEMBERS; m++) {
    const head *h = &heads[m];
    int f = 0;
    for (k = 0; k < 32 * CLASSES; k++) work->partial[k] = 0;
    for (v = 0; v < VIEWS; v++) f = look(work, h, &views[m * VIEWS + v], sequence, rows, f);
${features > 0 ? "    weigh_all(h, work, f);\n" : ""}    for (k = 0; k < CLASSES; k++) outputs[k] = sum_of_doubles(work->partial + 32 * k, 32) + h->intercept[k];
    to_shares(h, outputs);
    votes[largest_of(outputs)]++;
    for (k = 0; k < CLASSES; k++) total[k] = total[k] + outputs[k];
  }
  for (k = 0; k < CLASSES; k++) total[k] = total[k] / (double)MEMBERS;
  if (shares) for (k = 0; k < CLASSES; k++) shares[k] = total[k];
  (void)votes;
${vote}
}

const char *${name}_label(int class_number)
{
  return class_number >= 0 && class_number < CLASSES ? labels[class_number] : 0;
}
`;
}
