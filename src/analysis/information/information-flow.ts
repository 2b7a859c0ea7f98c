// Which of several series drives which: the transfer entropies that are significant among all that
// were asked for.
import { ArgumentError } from "@spillway/core/errors.js";
import { choice, type InputOf, number, option, resolve } from "@spillway/core/options.js";
import { sortedBy } from "./partition.js";
import type { AnyTransferEntropy, TransferMatrix } from "./transfer-matrix.js";

export const informationFlowTable = {
  /** The level of the test; default 0.05. What it bounds, `correction` says. */
  significance: option(number({ above: 0, below: 1 }), 0.05, "The level of the test."),
  /**
   * For how many directions there are. "holm" (default; Holm 1979): the level is the probability
   * that anything false is reported. "falseDiscovery" (Benjamini and Hochberg 1995): the share of
   * what is reported that is false, on average; it finds more among many columns. "none": the
   * probability of a false report in each direction by itself.
   */
  correction: option(
    choice("holm", "falseDiscovery", "none"),
    "holm",
    "What the level bounds: the probability of any false report, the share of false ones, or each by itself.",
  ),
  /** The least effective bits of a flow; default 0. */
  leastBits: option(number({ atLeast: 0 }), 0, "The least effective bits of a flow."),
};

/** What counts as a flow. */
export interface InformationFlowOptions extends InputOf<typeof informationFlowTable> {}

/** One direction in which information flows. */
export interface InformationFlow {
  readonly from: number;
  readonly to: number;
  /** TE(from -> to) as estimated. */
  readonly bits: number;
  /** Less what chance gives. */
  readonly effectiveBits: number;
  /** Effective TE(from -> to) - TE(to -> from). */
  readonly netBits: number;
  /** Of this direction by itself. */
  readonly pValue: number;
  /** Corrected for all directions of the matrix. */
  readonly qValue: number;
}

/**
 * The directions of a {@link transferEntropyMatrix} in which information flows, the strongest
 * first: those whose corrected p-value is within the significance. Each direction is tested for
 * itself, so two series may drive each other; `netBits` says which way more flows, and is no test.
 * With series that do not influence each other at all, the probability of any report is at most
 * `significance`, however many columns there are, unless `correction` is "none".
 *
 * Sources: Y. Benjamini and Y. Hochberg 1995, "Controlling the false discovery rate"; S. Holm 1979,
 * "A simple sequentially rejective multiple test procedure".
 * @throws ArgumentError for a matrix without surrogates, with too few to tell anything at this
 * significance, and for options
 */
export function informationFlow(matrix: TransferMatrix, options: InformationFlowOptions = {}): InformationFlow[] {
  const { significance, correction, leastBits } = resolve(informationFlowTable, options);
  const directions = directionsOf(matrix);
  const tests = correction === "none" ? 1 : directions.length;
  for (const { from, to, surrogates } of directions) {
    const needed = Math.ceil(tests / significance) - 1;
    if (surrogates >= needed) continue;
    throw new ArgumentError(
      `matrix[${from}][${to}].surrogates`,
      surrogates,
      `at least ${needed} for ${tests === 1 ? "each direction" : `${tests} directions`} at significance ${significance}, as transferEntropyMatrix draws by default`,
    );
  }
  const qValues = corrections[correction](directions.map(({ pValue }) => pValue));
  const backwards = new Map(directions.map(({ from, to, effectiveBits }) => [`${to},${from}`, effectiveBits]));
  return directions
    .map(({ surrogates: _, ...found }, d) => ({
      ...found,
      netBits: found.effectiveBits - backwards.get(`${found.from},${found.to}`)!,
      qValue: qValues[d]!,
    }))
    .filter(({ effectiveBits, qValue }) => effectiveBits > leastBits && qValue <= significance)
    .sort((a, b) => b.effectiveBits - a.effectiveBits);
}

interface Direction extends Pick<InformationFlow, "from" | "to" | "bits" | "effectiveBits" | "pValue"> {
  /** Infinite if the test needs none. */
  readonly surrogates: number;
}

function directionsOf(matrix: TransferMatrix): Direction[] {
  const takes = "a square matrix, as transferEntropyMatrix gives";
  if (!Array.isArray(matrix)) throw new ArgumentError("matrix", matrix, takes);
  const directions: Direction[] = [];
  for (let from = 0; from < matrix.length; from++) {
    for (let to = 0; to < matrix.length; to++) {
      if (from === to) continue;
      const found = matrix[from]?.[to];
      if (typeof found !== "object" || found === null || !("effectiveBits" in found || "effectiveNats" in found))
        throw new ArgumentError(`matrix[${from}][${to}]`, found, takes);
      directions.push({ from, to, ...inBits(found) });
    }
  }
  return directions;
}

/** An estimate in bits; without surrogates its test tells nothing. */
function inBits(found: AnyTransferEntropy): Omit<Direction, "from" | "to"> {
  const pValue = found.pValue ?? 1;
  const surrogates = "surrogates" in found ? found.surrogates : Number.POSITIVE_INFINITY;
  if ("bits" in found) return { bits: found.bits, effectiveBits: found.effectiveBits, pValue, surrogates };
  return { bits: found.nats / Math.LN2, effectiveBits: (found.effectiveNats ?? found.nats) / Math.LN2, pValue, surrogates };
}

const corrections: Readonly<Record<NonNullable<InformationFlowOptions["correction"]>, (pValues: readonly number[]) => ArrayLike<number>>> =
  {
    /** From the largest on: each times the number of hypotheses over its rank, at most the one before. */
    falseDiscovery(pValues) {
      const m = pValues.length;
      const out = new Float64Array(m);
      let least = 1;
      sortedBy(m, (i, j) => pValues[j]! - pValues[i]!).forEach((d, before) => {
        least = Math.min(least, (pValues[d]! * m) / (m - before));
        out[d] = least;
      });
      return out;
    },
    /**
     * Each times the number of hypotheses that are not yet rejected at its turn; never below the
     * previous one, at most 1.
     */
    holm(pValues) {
      const out = new Float64Array(pValues.length);
      let largest = 0;
      sortedBy(pValues.length, (i, j) => pValues[i]! - pValues[j]!).forEach((d, rank) => {
        largest = Math.max(largest, Math.min(1, pValues[d]! * (pValues.length - rank)));
        out[d] = largest;
      });
      return out;
    },
    none: (pValues) => pValues,
  };
