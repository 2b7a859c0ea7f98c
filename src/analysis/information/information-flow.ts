// Who drives whom among several series: the transfer entropies that are significant among all that
// were asked for.
import { ArgumentError } from "../../core/errors.js";
import { number, option, resolve, type TableOf } from "../../core/options.js";
import { sortedBy } from "./partition.js";
import type { TransferEntropy } from "./transfer-entropy.js";

/** What counts as a flow. */
export interface InformationFlowOptions {
  /**
   * The largest probability that any flow at all is reported among series without influence;
   * default 0.05.
   */
  readonly significance?: number | undefined;
  /** The least net effective bits; default 0. */
  readonly leastBits?: number | undefined;
}

/** The options of `informationFlow`. */
export const informationFlowTable = {
  significance: option(number({ above: 0, below: 1 }), 0.05, "The largest probability of any report if there is no influence."),
  leastBits: option(number({ atLeast: 0 }), 0, "The least net effective bits."),
} satisfies TableOf<InformationFlowOptions>;

/** One direction in which information flows. */
export interface InformationFlow {
  readonly from: number;
  readonly to: number;
  /** Effective TE(from -> to) - TE(to -> from), in bits. */
  readonly netBits: number;
  /** Of TE(from -> to), corrected for all directions of the matrix by Holm's method. */
  readonly pValue: number;
}

/**
 * The pairs of columns of a {@link transferEntropyMatrix}, the strongest net flow first, each in
 * the direction with more effective bits if that direction is significant. With series that do not
 * influence each other at all, the probability of any report is at most
 * `significance`, however many columns there are (Holm 1979, "A simple sequentially rejective
 * multiple test procedure").
 * @throws ArgumentError for a matrix without surrogates, with too few to tell anything at this
 * significance, and for options
 */
export function informationFlow(
  matrix: readonly (readonly (TransferEntropy | undefined)[])[],
  options: InformationFlowOptions = {},
): InformationFlow[] {
  const { significance, leastBits } = resolve(informationFlowTable, options);
  const directions = directionsOf(matrix);
  for (const { from, to, found } of directions) {
    const needed = Math.ceil(directions.length / significance) - 1;
    if (found.surrogates >= needed) continue;
    throw new ArgumentError(
      `matrix[${from}][${to}].surrogates`,
      found.surrogates,
      `at least ${needed} for ${directions.length} directions at significance ${significance}, as transferEntropyMatrix draws by default`,
    );
  }
  const pValues = holm(directions.map(({ found }) => found.pValue!));
  const flows: InformationFlow[] = [];
  directions.forEach(({ from, to, found }, d) => {
    const netBits = found.effectiveBits - matrix[to]![from]!.effectiveBits;
    const pValue = pValues[d]!;
    if (netBits > leastBits && pValue <= significance) flows.push({ from, to, netBits, pValue });
  });
  return flows.sort((a, b) => b.netBits - a.netBits);
}

interface Direction {
  readonly from: number;
  readonly to: number;
  readonly found: TransferEntropy;
}

function directionsOf(matrix: readonly (readonly (TransferEntropy | undefined)[])[]): Direction[] {
  const takes = "a square matrix, as transferEntropyMatrix gives";
  if (!Array.isArray(matrix)) throw new ArgumentError("matrix", matrix, takes);
  const directions: Direction[] = [];
  for (let from = 0; from < matrix.length; from++) {
    for (let to = 0; to < matrix.length; to++) {
      if (from === to) continue;
      const found = matrix[from]?.[to];
      if (typeof found?.effectiveBits !== "number") throw new ArgumentError(`matrix[${from}][${to}]`, found, takes);
      directions.push({ from, to, found });
    }
  }
  return directions;
}

/**
 * Each p value times the number of hypotheses that are not yet rejected at its turn; never below
 * the previous one, at most 1.
 */
function holm(pValues: readonly number[]): Float64Array {
  const out = new Float64Array(pValues.length);
  let largest = 0;
  sortedBy(pValues.length, (i, j) => pValues[i]! - pValues[j]!).forEach((d, rank) => {
    largest = Math.max(largest, Math.min(1, pValues[d]! * (pValues.length - rank)));
    out[d] = largest;
  });
  return out;
}
