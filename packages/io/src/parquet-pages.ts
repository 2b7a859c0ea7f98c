// The pages of a column, decompressed and checked, as uncompressed pages without levels: what
// hyparquet decodes then can take neither more memory nor more time than their size says.
// Source: https://github.com/apache/parquet-format/blob/master/Encodings.md
import type { FormatError } from "./errors.js";
import type { ParquetColumn } from "./parquet-footer.js";
import { pageHeader, readThrift, type ThriftStruct, type ThriftValue } from "./parquet-thrift.js";

/** Bytes to as many as are wanted; throws if they are none of the codec, or more. */
export type Decompress = (bytes: Uint8Array, length: number) => Uint8Array;

/** Pages that are decoded together. */
export interface PageBatch {
  /** Pages of values that are there, and before them the dictionary. */
  readonly bytes: Uint8Array;
  /** Where the first page of values lies in them. */
  readonly dictionary: number;
  /** Values that are there. */
  readonly values: number;
  readonly rows: number;
  /** 1 for a row that has a value, else 0; undefined if all have. */
  readonly present: Uint8Array | undefined;
}

type Fail = (reason: string, cause?: unknown) => FormatError;

/** Rows that are decoded together, at least. */
const batchRows = 2 ** 20;
/** What a page of text may have beside the share of its compressed bytes. */
const [spareBytes, spareTexts] = [2 ** 24, 2 ** 20];
const [bytesPerByte, textsPerByte] = [1024, 64];

/** The encodings that are read; the values of hyparquet's others are not bounded by a page. */
const encodings: Readonly<Record<number, string>> = {
  ...{ 0: "PLAIN", 2: "PLAIN_DICTIONARY", 3: "RLE", 5: "DELTA_BINARY_PACKED", 6: "DELTA_LENGTH_BYTE_ARRAY" },
  ...{ 8: "RLE_DICTIONARY", 9: "BYTE_STREAM_SPLIT" },
};
const otherEncodings: Readonly<Record<number, string>> = { 4: "BIT_PACKED", 7: "DELTA_BYTE_ARRAY", 10: "ALP" };

const widths: Readonly<Record<string, number>> = { INT32: 4, FLOAT: 4, INT64: 8, DOUBLE: 8, INT96: 12 };

/** What the header of a page says. */
interface Page {
  readonly type: number;
  readonly bytes: Uint8Array;
  /** Uncompressed. */
  readonly length: number;
  /** Of the kind of page. */
  readonly said: ThriftStruct;
  readonly rows: number;
  readonly encoding: number;
}

const count = (value: ThriftValue | undefined): number => (typeof value === "number" && value >= 0 ? value : Number.NaN);
const field = (value: ThriftValue | undefined): ThriftStruct => (value instanceof Map ? value : new Map());

/** A page of values without its levels. */
interface Values {
  readonly bytes: Uint8Array;
  readonly rows: number;
  /** Values that are there. */
  readonly there: number;
  /** 1 for a row that has a value, else 0; undefined if all have. */
  readonly flags: Uint8Array | undefined;
  readonly encoding: number;
}

/** The pages of a chunk. Errors say what is wrong with its column. */
export class ChunkPages {
  readonly #bytes: Uint8Array;
  readonly #column: ParquetColumn;
  readonly #decompress: Decompress | undefined;
  readonly #fail: Fail;
  #at = 0;

  /** @param decompress undefined if pages are not compressed */
  constructor(bytes: Uint8Array, column: ParquetColumn, decompress: Decompress | undefined, fail: Fail) {
    this.#bytes = bytes;
    this.#column = column;
    this.#decompress = decompress;
    this.#fail = fail;
  }

  /** The batches of a chunk of so many rows, one after the other. @throws FormatError */
  *batches(rows: number): Generator<PageBatch> {
    let dictionary: readonly Uint8Array[] = [];
    let pages: Values[] = [];
    let inBatch = 0;
    for (let left = rows; left > 0; ) {
      const page = this.#next(left);
      if (page.type === 2) {
        if (dictionary.length > 0 || left < rows) throw this.#fail("has a dictionary after its first page");
        dictionary = this.#dictionary(page);
        continue;
      }
      pages.push(this.#values(page, dictionary.length > 0));
      inBatch += page.rows;
      left -= page.rows;
      if (inBatch < batchRows && left > 0) continue;
      yield batchOf(dictionary, pages, inBatch);
      [pages, inBatch] = [[], 0];
    }
  }

  /** The next page, of at most `left` rows if it is one of values. */
  #next(left: number): Page {
    if (this.#at >= this.#bytes.length) throw this.#fail(`ends ${left} rows early`);
    const { fields, end } = readThrift(this.#bytes, this.#at);
    const type = count(fields.get(1));
    const [length, stored] = [count(fields.get(2)), count(fields.get(3))];
    if (!(stored <= this.#bytes.length - end) || Number.isNaN(length)) throw this.#fail("has a page that is longer than the column");
    this.#at = end + stored;
    const said = field(fields.get(type === 2 ? 7 : type === 3 ? 8 : 5));
    const rows = count(said.get(1));
    const encoding = type === 3 ? count(said.get(4)) : count(said.get(2));
    if (type !== 0 && type !== 2 && type !== 3) throw this.#fail(`has a page of type ${type}; pages of values and dictionaries are read`);
    if (Number.isNaN(rows) || (type !== 2 && rows > left)) throw this.#fail(`has a page of ${rows} rows where ${left} are left`);
    if (encodings[encoding] === undefined)
      throw this.#fail(
        `has the encoding ${otherEncodings[encoding] ?? encoding}, which is not read; write it as ${Object.values(encodings).slice(0, 2).join(" or ")}`,
      );
    const page = { type, bytes: this.#bytes.subarray(end, this.#at), length, said, rows, encoding };
    this.#checkLength(page);
    return page;
  }

  /** @throws if a page takes more memory than its values and its bytes can be meant to */
  #checkLength({ type, bytes, length, rows }: Page): void {
    const width = this.#width;
    const most = width === undefined ? spareBytes + bytesPerByte * bytes.length : 2 ** 20 + 2 * (width + 8) * rows;
    const mostTexts = width === undefined ? spareTexts + textsPerByte * bytes.length : Number.POSITIVE_INFINITY;
    if (length > most) throw this.#fail(`has a page of ${length} bytes for ${rows} values in ${bytes.length} bytes, which is damaged`);
    if (type === 2 ? rows > Math.min(mostTexts, length) : rows > mostTexts && length / rows > 4)
      throw this.#fail(`has a page of ${rows} values in ${bytes.length} bytes, which is damaged`);
  }

  /** Bytes of a value; undefined for texts. */
  get #width(): number | undefined {
    const { type, type_length: length } = this.#column.element;
    return type === "FIXED_LEN_BYTE_ARRAY" ? length : type === "BOOLEAN" ? 1 : widths[type ?? ""];
  }

  #uncompressed(bytes: Uint8Array, length: number): Uint8Array {
    if (length === 0) return new Uint8Array(0);
    const out = this.#decompress ? this.#decompress(bytes, length) : bytes;
    if (out.length !== length) throw this.#fail(`has a page of ${out.length} bytes that says ${length}`);
    return out;
  }

  #dictionary({ bytes, length, rows }: Page): readonly Uint8Array[] {
    const plain = this.#uncompressed(bytes, length);
    this.#checkPlain(plain, rows);
    return [pageHeader(length, rows, 0, true), plain];
  }

  #values(page: Page, hasDictionary: boolean): Values {
    const { rows, encoding } = page;
    const { type } = this.#column.element;
    const { plain, levels } = page.type === 3 ? this.#second(page) : this.#first(page);
    const { flags, there } = levels ? flagsOf(levels, rows, this.#fail) : { flags: undefined, there: rows };
    if (encoding === 2 || encoding === 8) {
      if (!hasDictionary || type === "BOOLEAN") throw this.#fail("has a page of a dictionary that is not there");
      const width = plain[0] ?? 0;
      if (there > 0 && (plain.length === 0 || width > 32)) throw this.#fail(`has indices of ${width} bits`);
      if (there > 0 && width > 0) eachRun(plain.subarray(1), width, there, this.#fail);
    } else if (encoding === 3) {
      if (type !== "BOOLEAN") throw this.#fail("has run lengths of values that are not true or false");
      if (there > 0) eachRun(lengthPrefixed(plain, this.#fail).inner, 1, there, this.#fail);
    } else if (encoding === 0 || encoding === 9) this.#checkPlain(plain, there);
    else if (there > 0) checkBlocks(plain, this.#fail);
    return { bytes: plain, rows, there, flags, encoding };
  }

  /** The levels and values of a page of the first kind: all is compressed together. */
  #first({ bytes, length, said }: Page) {
    const plain = this.#uncompressed(bytes, length);
    if (!this.#column.nullable) return { plain, levels: undefined };
    if (count(said.get(3)) !== 3) throw this.#fail("has levels that are not run-length encoded");
    const { inner, rest } = lengthPrefixed(plain, this.#fail);
    return { plain: rest, levels: inner };
  }

  /** Of the second kind: levels stand before the values, and are not compressed. */
  #second({ bytes, length, said, rows }: Page) {
    const [levels, repetition] = [count(said.get(5)), count(said.get(6))];
    if (count(said.get(3)) !== rows || repetition !== 0 || !(levels <= Math.min(length, bytes.length)))
      throw this.#fail("has a page whose levels do not fit");
    const rest = bytes.subarray(levels);
    const plain = said.get(7) === false ? rest : this.#uncompressed(rest, length - levels);
    return { plain, levels: this.#column.nullable ? bytes.subarray(0, levels) : undefined };
  }

  /** @throws if so many plain values do not fit */
  #checkPlain(plain: Uint8Array, values: number): void {
    const { type } = this.#column.element;
    const width = type === "BOOLEAN" ? 1 / 8 : (this.#width ?? 4);
    if (values * width > plain.length) throw this.#fail(`has a page of ${values} values in ${plain.length} bytes`);
    if (type !== "BYTE_ARRAY") return;
    const view = new DataView(plain.buffer, plain.byteOffset, plain.length);
    let at = 0;
    for (let i = 0; i < values; i++) {
      if (at + 4 > plain.length) throw this.#fail("has a text that goes past the end of its page");
      at += 4 + view.getUint32(at, true);
    }
    if (at > plain.length) throw this.#fail("has a text that goes past the end of its page");
  }
}

function batchOf(dictionary: readonly Uint8Array[], pages: readonly Values[], rows: number): PageBatch {
  const sizeOf = (all: readonly Uint8Array[]) => all.reduce((sum, { length }) => sum + length, 0);
  const pieces = [...dictionary];
  for (const { bytes, there, encoding } of pages) if (there > 0) pieces.push(pageHeader(bytes.length, there, encoding, false), bytes);
  const bytes = new Uint8Array(sizeOf(pieces));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  const values = pages.reduce((sum, { there }) => sum + there, 0);
  let present: Uint8Array | undefined;
  if (values < rows) {
    present = new Uint8Array(rows).fill(1);
    let row = 0;
    for (const { flags, rows: own } of pages) {
      if (flags) present.set(flags, row);
      row += own;
    }
  }
  return { bytes, dictionary: sizeOf(dictionary), values, rows, present };
}

/** Bytes after their length of four bytes, and what follows them. */
function lengthPrefixed(bytes: Uint8Array, fail: Fail) {
  const length = bytes.length < 4 ? Number.NaN : new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  if (!(length <= bytes.length - 4)) throw fail("has levels that go past the end of their page");
  return { inner: bytes.subarray(4, 4 + length), rest: bytes.subarray(4 + length) };
}

/** Which rows have a value, from levels of one bit; undefined if all have. */
function flagsOf(levels: Uint8Array, rows: number, fail: Fail): { readonly flags: Uint8Array | undefined; readonly there: number } {
  let flags: Uint8Array | undefined;
  let there = 0;
  eachRun(levels, 1, rows, fail, (at, from, values, repeated) => {
    const level = levels[at]! & 1;
    if (repeated && level === 1 && flags === undefined) {
      there += values;
      return;
    }
    // Up to here all rows have a value.
    flags ??= new Uint8Array(rows).fill(1, 0, from);
    for (let i = 0; i < values; i++) {
      const flag = repeated ? level : (levels[at + (i >> 3)]! >> (i & 7)) & 1;
      flags[from + i] = flag;
      there += flag;
    }
  });
  return { flags: there === rows ? undefined : flags, there };
}

/** The sizes of blocks of differences: as many as any writer takes. */
function checkBlocks(bytes: Uint8Array, fail: Fail): void {
  const { value: size, end } = variable(bytes, 0, fail);
  const { value: parts } = variable(bytes, end, fail);
  if (size < 1 || size > 2 ** 16 || parts < 1 || parts > 2 ** 10) throw fail(`has differences in ${parts} parts of blocks of ${size}`);
}

/** A number of up to 31 bits, seven in a byte. */
function variable(bytes: Uint8Array, start: number, fail: Fail): { readonly value: number; readonly end: number } {
  let value = 0;
  let end = start;
  for (let shift = 0, byte = 128; byte > 127; shift += 7) {
    if (end >= bytes.length || shift > 28) throw fail("has lengths that go past the end of their page");
    byte = bytes[end++]!;
    value += (byte & 127) * 2 ** shift;
  }
  // hyparquet counts in 32 bits with a sign.
  if (value >= 2 ** 31) throw fail("has a length of more than 31 bits");
  return { value, end };
}

/**
 * Goes through runs of the hybrid of run lengths and packed bits.
 * @param take gets where the bytes of a run begin, its first value, how many it has, and whether
 * they are all the same
 * @throws what `fail` makes of runs that have more values than there are, or go past the end
 */
function eachRun(
  bytes: Uint8Array,
  width: number,
  values: number,
  fail: Fail,
  take?: (at: number, from: number, values: number, repeated: boolean) => void,
): void {
  let at = 0;
  for (let from = 0; from < values; ) {
    const { value: head, end } = variable(bytes, at, fail);
    at = end;
    const repeated = head % 2 === 0;
    const most = repeated ? head / 2 : ((head - 1) / 2) * 8;
    // The last group of packed bits is filled up to eight; some writers fill a run up further.
    const own = Math.min(most, values - from);
    const size = repeated ? (width + 7) >> 3 : (most * width) / 8;
    const needed = repeated ? size : Math.ceil((own * width) / 8);
    if ((most < 1 && !repeated) || (repeated && most > own) || needed > bytes.length - at)
      throw fail("has a run of more values than its page");
    take?.(at, from, own, repeated);
    at += size;
    from += own;
  }
}
