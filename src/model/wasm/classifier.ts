// A classifier in the memory of a module: its views, its readouts, and room for a sequence's
// statistics. The sequence itself stands behind everything.
import { checkClassifier } from "../c/classifier.js";
import { unheld } from "../c/refuse.js";
import type { ClassifierParts } from "../classifier/file.js";
import type { Label } from "../classifier/options.js";
import { headWords, ModelMemory, memberWords, type Words, wordsOf } from "./memory.js";
import { bytesOfNumbers, plainReservoir, reservoirWords } from "./reservoir.js";

/** What a host has to know of a classifier. */
export interface ClassifierAbout {
  readonly kind: "classifier";
  /** Values of a row. */
  readonly channels: number;
  readonly classes: readonly Label[];
  /** Rows that are left out at the start of a sequence. */
  readonly washout: number;
}

/** Representations in the order of the module. */
const representations = ["last", "mean", "last+mean", "statistics"] as const;

/** @throws ArgumentError for what the module does not hold */
export function classifierMemory(parts: ClassifierParts): { readonly memory: ModelMemory; readonly about: ClassifierAbout } {
  const { settings, classes, members, scale } = parts;
  const { views, heads, ...checked } = checkClassifier(parts);
  if (settings.layerNorm) throw unheld("normalises each case's features (layerNorm)", "layerNorm");
  if (members.some(({ readout: { features } }) => features.squares || features.state !== "plain"))
    throw unheld("transforms the features of its readout", "readout");
  const reservoirs = checked.reservoirs.map((each) => each.map((one) => plainReservoir(one.parts)));
  const channels = scale.mean.length;
  const memory = new ModelMemory();
  const double = (values: ArrayLike<number> | undefined) => memory.array("float64", values);
  const all = reservoirs.flat();
  const numbers = bytesOfNumbers(all[0]!);
  const most = Math.max(...all.map(({ size }) => size));
  const width = Math.max(most, channels);
  const [x, u] = [memory.room(most * numbers.state), memory.room(channels * numbers.real)];
  const records = members.flatMap(({ levels }, m) =>
    views.map((view, v): Words<typeof memberWords> => {
      const seen = view.of === 1 ? parts.differences! : scale;
      const ofInputs = settings.input && !view.backward;
      return {
        ...reservoirWords(reservoirs[m]![view.of]!, memory),
        inputMean: double(seen.mean),
        inputDeviation: double(seen.deviation),
        ...{ x, u, series: view.of, backward: Number(view.backward), ofInputs: Number(ofInputs) },
        stateLevels: double(levels?.states[v]?.data),
        inputLevels: ofInputs ? double(levels?.inputs[view.of]?.data) : 0,
      };
    }),
  );
  const readouts = members.map(({ readout }, m): Words<typeof headWords> => {
    const { softmax, factor } = heads[m]!;
    return {
      weights: double(readout.weights.data),
      intercept: double(readout.intercept),
      features: readout.weights.cols,
      softmax: Number(softmax),
      factor: double([factor]),
    };
  });
  const levels = settings.representation === "statistics" ? settings.thresholds : 0;
  memory.head({
    ...{ realBytes: numbers.real, integers: Number(numbers.state === 2), members: members.length, inputs: channels },
    table: memory.array("int32", wordsOf(memberWords, records)),
    heads: memory.array("int32", wordsOf(headWords, readouts)),
    ...{ classes: classes.length, views: views.length, levels, washout: settings.washout },
    representation: representations.indexOf(settings.representation as (typeof representations)[number]),
    majority: Number(settings.vote !== "mean" && members.length > 1),
    output: memory.room(8 * classes.length),
    partial: memory.room(32 * 8),
    next: memory.room(most * numbers.real),
    features: memory.room(8 * Math.max(...members.map(({ readout }) => readout.weights.cols))),
    driven: memory.room(4 * channels),
    made: memory.room(16 * classes.length),
    statistics: memory.room(8 * width * (6 + 2 * levels)),
    width,
    sequence: memory.end,
  });
  return { memory, about: { kind: "classifier", channels, classes, washout: settings.washout } };
}
