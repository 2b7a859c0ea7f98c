// What an exported model has in the memory of its module: arrays and records of words, whose order
// is that of assembly/exported.ts, and room to work in.

/** Where it begins: the first page is the module's own. */
const base = 65536;

const typed = { float32: Float32Array, float64: Float64Array, int16: Int16Array, int32: Int32Array } as const;

/** What an array holds. */
export type WordType = keyof typeof typed;

/** Bytes that a place in memory begins with. */
export interface Segment {
  readonly at: number;
  readonly bytes: Uint8Array;
}

/** Words of the header. */
export const headerWords = [
  ...["realBytes", "integers", "members", "inputs", "outputs", "feedback", "held", "leastRows", "mostRows", "table"],
  ...["state", "stateBytes", "begin", "reset", "input", "output", "partial", "next", "features", "driven", "made", "y"],
  ...["groups", "groupCount", "classes", "views", "levels", "washout", "representation", "majority", "heads"],
  ...["statistics", "width", "sequence"],
] as const;

/** Words of a member, or of a view of a classifier. */
export const memberWords = [
  ...["size", "activation", "weights", "rowOffsets", "columns", "inputWeights", "feedbackWeights", "bias", "leak", "exponents"],
  ...["tanhTable", "initial", "features", "squareHalf", "squares", "sees", "lags", "readout", "intercept", "loopReadout"],
  ...["loopIntercept", "inputMean", "inputDeviation", "targetMean", "targetDeviation", "loopMean", "loopDeviation"],
  ...["lower", "upper", "x", "u", "fed", "recent", "series", "backward", "ofInputs", "stateLevels", "inputLevels"],
] as const;

/** Words of a classifier's readout. */
export const headWords = ["weights", "intercept", "features", "softmax", "factor"] as const;

/** A record by the names of its words; those that are left out are 0. */
export type Words<Names extends readonly string[]> = { readonly [Name in Names[number]]?: number };

/** The words of records, one behind the other. */
export function wordsOf<Names extends readonly string[]>(names: Names, records: readonly Words<Names>[]): number[] {
  return records.flatMap((record) => names.map((name) => (record as Record<string, number | undefined>)[name] ?? 0));
}

/** Up to the next 16 bytes, which vectors are loaded by. */
export const aligned = (bytes: number): number => Math.ceil(bytes / 16) * 16;

export class ModelMemory {
  readonly segments: Segment[] = [];
  readonly #there = new Map<string, number>();
  #end = base + aligned(4 * headerWords.length);

  /** Bytes that are in use. */
  get end(): number {
    return this.#end;
  }

  /** The address of room for so many bytes, all zero. */
  room(bytes: number): number {
    const at = this.#end;
    this.#end += aligned(bytes);
    return at;
  }

  /** The address of bytes; those that are there already are not kept twice. */
  bytes(bytes: Uint8Array): number {
    const key = bytes.length <= 4096 ? bytes.join() : undefined;
    const there = key === undefined ? undefined : this.#there.get(key);
    if (there !== undefined) return there;
    const at = this.room(bytes.length);
    this.segments.push({ at, bytes });
    if (key !== undefined) this.#there.set(key, at);
    return at;
  }

  /** The address of an array; 0 if there is none. */
  array(type: WordType, values: ArrayLike<number> | undefined): number {
    return values === undefined || values.length === 0 ? 0 : this.bytes(bytesOf(type, values));
  }

  /** Writes the header. */
  head(words: Words<typeof headerWords>): void {
    this.segments.push({ at: base, bytes: bytesOf("int32", wordsOf(headerWords, [words])) });
  }
}

/** Numbers as little-endian bytes, as WebAssembly has them. */
export function bytesOf(type: WordType, values: ArrayLike<number>): Uint8Array {
  return new Uint8Array(typed[type].from(values).buffer);
}
