// A classifier as one C source and its header: a sequence in, its class and the shares of all
// classes out. States are summed as they come, so a sequence of any length takes the same memory.
import { SoftmaxReadout } from "../../readout/index.js";
import type { ClassifierParts } from "../classifier/file.js";
import { layerNormEpsilon } from "../layer-norm.js";
import { type View, viewsOf } from "../views.js";
import { Constants, type Field, nowhere, type Program } from "./constants.js";
import { checkAlike, type Part, partsOf, unheld } from "./refuse.js";
import { reservoirsOf } from "./reservoir.js";
import { total } from "./shape.js";
import { headerText, textConstant, typeName } from "./text.js";

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

/** A classifier, and what its memory depends on. @throws ArgumentError for what C does not hold */
export function cClassifier(parts: ClassifierParts, { name, version }: ClassifierNote): Program & { readonly shape: Shape } {
  const { settings, classes, members, scale } = parts;
  const { representation, input, layerNorm } = settings;
  const { views, reservoirs, heads: readoutHeads } = checkClassifier(parts);
  const readouts = members.map(({ readout }) => readout);
  const { features: spec } = readouts[0]!;
  const all = reservoirs.flat();
  const channels = scale.mean.length;
  const statistics = representation === "statistics";
  const constants = new Constants();
  const held = reservoirsOf(
    all.map((each) => each.parts),
    constants,
  );
  const double = (what: string, values: ArrayLike<number> | undefined) => constants.to("float64", what, values);
  const rows = members.flatMap(({ levels }, m) =>
    views.map((view, v): readonly Field[] => {
      const { size, parts: own } = reservoirs[m]![view.of]!;
      const scaled = view.of === 1 ? parts.differences! : scale;
      const ofInputs = input && !view.backward;
      return [
        ...[...held.add(own, size, `${m}_${view.of}`), view.of, Number(view.backward), Number(ofInputs)],
        ...[double(`scale_mean_${view.of}`, scaled.mean), double(`scale_deviation_${view.of}`, scaled.deviation)],
        double(`levels_${m}_${v}`, levels?.states[v]?.data),
        double(`input_levels_${m}_${view.of}`, ofInputs ? levels?.inputs[view.of]?.data : undefined),
      ];
    }),
  );
  const heads = readouts.map((readout, m): readonly Field[] => [
    ...[double(`readout_${m}`, readout.weights.data), double(`intercept_${m}`, readout.intercept), readout.weights.cols],
    ...[Number(readoutHeads[m]!.softmax), double(`factor_${m}`, [readoutHeads[m]!.factor])],
  ]);
  constants.tables.push({ name: "views", type: "view", rows }, { name: "heads", type: "head", rows: heads });
  const shape = shapeOf(name, parts, all);
  const flags = new Set([...held.flags, "CLASSIFIER", "EXP"]);
  if (statistics || layerNorm) flags.add("ROOT");
  if (reservoirs[0]!.length > 1) flags.add("DIFFERENCES");
  const { precision } = all[0]!.parts[0]!.model;
  const title = `Written by Spillway ${version}: a classifier of ${classes.length} classes.`;
  const neuron = flags.has("INTEGER") ? "int16_t" : typeName(precision);
  return {
    ...{ kind: "classifier", title, header: headerOf(shape, title, neuron), constants, flags, shape },
    numbers: {
      ...{ MEMBERS: members.length, VIEWS: views.length, INPUTS: channels, OUTPUTS: 0, CLASSES: classes.length, LEVELS: shape.levels },
      ...{ WASHOUT: settings.washout, MOST_INPUTS: held.mostInputs, WIDTH: Math.max(shape.size, channels), FEATURES: shape.features },
      ...{ LAYER_NORM: Number(layerNorm), STATISTICS: Number(statistics) },
      ...{ LAST: Number(representation.startsWith("last")), MEAN: Number(representation.endsWith("mean")) },
      ...{ SQUARE_HALF: Number(spec.state === "squareHalf"), SQUARES: Number(spec.squares) },
      VOTES: Number(settings.vote !== "mean" && members.length > 1),
    },
    pointers: {
      ...{ views: { to: "views" }, heads: { to: "heads" } },
      epsilon: layerNorm ? double("epsilon", [layerNormEpsilon]) : nowhere,
      tanh_table: held.tanhTable(),
    },
    declarations: [
      ...held.declarations,
      `static const char *const labels[CLASSES] = {\n${classes.map((label) => `  ${textConstant(String(label))},`).join("\n")}\n};\n`,
    ],
    files: ["arithmetic.c", "types.c", "classifier-types.c", null, ...held.files, "classifier.c", "label.c"],
  };
}

/** What the memory of a program depends on. */
type Shape = ReturnType<typeof shapeOf>;

function shapeOf(
  name: string,
  { settings, classes, scale, members }: ClassifierParts,
  reservoirs: readonly { readonly size: number; readonly parts: readonly Part[] }[],
) {
  const sizes = reservoirs.map(({ parts }) => parts.map(({ model }) => model.size));
  const { features, weights } = members[0]!.readout;
  const keepsFeatures = settings.layerNorm || features.squares || features.state !== "plain";
  return {
    ...{ name, classes, settings, channels: scale.mean.length },
    /** Neurons of a view, of its largest reservoir, and those that are read, at most. */
    width: Math.max(...sizes.map(total)),
    largest: Math.max(...sizes.flat()),
    size: Math.max(...reservoirs.map(({ size }) => size)),
    /** Features that are kept until all are there; 0 if each goes into sums as it comes. */
    features: keepsFeatures ? weights.cols / (features.squares ? 2 : 1) : 0,
    levels: settings.representation === "statistics" ? settings.thresholds : 0,
  };
}

function headerOf(
  { name, channels, classes, size, largest, width: neurons, levels, settings, features }: Shape,
  title: string,
  neuron: string,
): string {
  const upper = name.toUpperCase();
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
  const body = `enum { ${upper}_CHANNELS = ${channels}, ${upper}_CLASSES = ${classes.length} };

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
`;
  return headerText(name, { comment: title, integers: true, body });
}
