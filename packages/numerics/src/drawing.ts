// Random matrices from streams, in bulk (docs/numerics.md, rule 7). assembly/drawing.ts draws whole
// rows, in the memory of one instance; what is large passes through it in chunks. A single draw is
// RandomStream's.
import { allocate, type FloatArray, Matrix, type Precision, type SparseMatrix } from "./matrix.js";
import { portableLog } from "./portable.js";
import type { RandomStream } from "./random.js";
import { type WasmInstance, wasmInstance, wasmReserved } from "./wasm/index.js";

/** What a draw becomes: U(-1, 1), N(0, 1), or -1 and 1 with equal chance. */
export type DrawDistribution = "uniform" | "normal" | "bernoulli";

const kinds = { uniform: 1, bernoulli: 2, normal: 3 } as const;

/** A chunk takes about as many bytes, unless one row takes more: it stays in a core's cache. */
const chunkBytes = 256 * 1024;

/** Bytes behind the values of a row that a kernel may write. */
const slack = 128;

/** The instance that drew last, for the next draw. */
let kept: WasmInstance | undefined;

function instanceOf(bytes: number): WasmInstance {
  const needed = Math.max(bytes, chunkBytes) + 2 * slack;
  if (!kept || kept.memory.buffer.byteLength < wasmReserved + needed) kept = wasmInstance(needed);
  return kept;
}

/** Everything that a call of a kernel takes: the stream is set. */
function drawingFrom({ key, stream, purpose }: RandomStream, bytes: number): WasmInstance {
  const instance = instanceOf(bytes);
  instance.exports.drawFrom(key[0], key[1], stream, purpose);
  return instance;
}

/** The chunks of `rows` rows that take `rowBytes` each at most: the first row and how many. */
function* chunksOf(rows: number, rowBytes: number): Generator<readonly [first: number, count: number]> {
  const most = Math.max(1, Math.floor(chunkBytes / rowBytes));
  for (let first = 0; first < rows; first += most) yield [first, Math.min(most, rows - first)];
}

/**
 * The values of rows whose entries end at `rowOffsets`, row after row: entry m of row r is the draw
 * (r, m).
 */
export function drawRows(values: RandomStream, distribution: DrawDistribution, rowOffsets: Uint32Array): Float64Array {
  const rows = rowOffsets.length - 1;
  const out = new Float64Array(rowOffsets[rows]!);
  const end = (first: number): number => {
    let last = first + 1;
    while (last < rows && 8 * (rowOffsets[last + 1]! - rowOffsets[first]!) + 4 * (last + 2 - first) <= chunkBytes - slack) last++;
    return last;
  };
  for (let first = 0; first < rows; ) {
    const last = end(first);
    const [from, to] = [rowOffsets[first]!, rowOffsets[last]!];
    const offsetBytes = 8 * Math.ceil((last + 1 - first) / 2);
    const { exports, memory } = drawingFrom(values, offsetBytes + 8 * (to - from) + slack);
    new Uint32Array(memory.buffer, wasmReserved, last + 1 - first).set(rowOffsets.subarray(first, last + 1));
    const at = wasmReserved + offsetBytes;
    exports.drawRows(kinds[distribution], first, last - first, wasmReserved, at);
    out.set(new Float64Array(memory.buffer, at, to - from), from);
    first = last;
  }
  return out;
}

/** Rows that select among candidates with the same chance. */
export interface PositionRows {
  readonly first: number;
  readonly count: number;
  /** The chance of each candidate. */
  readonly density: number;
  readonly candidates: number;
  /** The column of the first candidate; default 0. */
  readonly base?: number;
  /** Whether the row's own column is none of them. */
  readonly withoutOwn?: boolean;
}

/** Columns of rows in CSR form. */
export interface DrawnColumns {
  readonly rowOffsets: Uint32Array;
  readonly columns: Uint32Array;
}

/** The columns that each row selects by geometric skipping, in rising order. */
export function drawPositions(positions: RandomStream, rows: PositionRows): DrawnColumns {
  const { first, count, density, candidates, base = 0, withoutOwn = false } = rows;
  if (density >= 1) return everyColumn(rows);
  const rowOffsets = new Uint32Array(count + 1);
  // 0 for a chance below 2^-54: 1 - density is then 1.
  const logMiss = portableLog(1 - density);
  if (!(logMiss < 0) || candidates <= 0) return { rowOffsets, columns: new Uint32Array(0) };
  const mean = density * candidates;
  // Rows that select more are drawn again, with memory for all candidates.
  const likely = Math.min(candidates, Math.ceil(mean + 12 * Math.sqrt(mean))) + 16;
  let columns = new Uint32Array(Math.ceil(1.01 * mean * count + 16));
  let length = 0;
  const add = (from: number, inChunk: number, most: number): void => {
    const offsetBytes = 8 * Math.ceil((inChunk + 1) / 2);
    const { exports, memory } = drawingFrom(positions, offsetBytes + 4 * most * inChunk);
    const at = wasmReserved + offsetBytes;
    const ends = new Uint32Array(memory.buffer, wasmReserved, inChunk + 1);
    ends[0] = length;
    const end = at + 4 * most * inChunk;
    if (!exports.drawPositions(first + from, inChunk, logMiss, candidates, base, withoutOwn ? 1 : 0, wasmReserved, at, end)) {
      for (let r = from; r < from + inChunk; r++) add(r, 1, candidates + 16);
      return;
    }
    rowOffsets.set(ends, from);
    const added = ends[inChunk]! - length;
    if (length + added > columns.length) columns = grown(columns, length + added, (from + inChunk) / count);
    columns.set(new Uint32Array(memory.buffer, at, added), length);
    length += added;
  };
  for (const [from, inChunk] of chunksOf(count, 4 * likely)) add(from, inChunk, likely);
  return { rowOffsets, columns: columns.length === length ? columns : columns.slice(0, length) };
}

function grown(columns: Uint32Array<ArrayBuffer>, least: number, share: number): Uint32Array<ArrayBuffer> {
  const out = new Uint32Array(Math.ceil(Math.max(least, Math.min(2 * columns.length, (1.05 * least) / share))));
  out.set(columns);
  return out;
}

function everyColumn({ first, count, candidates, base = 0, withoutOwn = false }: PositionRows): DrawnColumns {
  const rowOffsets = Uint32Array.from({ length: count + 1 }, (_, r) => r * candidates);
  const columns = new Uint32Array(count * candidates);
  for (let r = 0, p = 0; r < count; r++)
    for (let m = 0; m < candidates; m++) columns[p++] = base + m + (withoutOwn && base + m >= first + r ? 1 : 0);
  return { rowOffsets, columns };
}

/** A matrix of N rows whose every element is drawn, but for the diagonal if `withoutOwn`. */
export interface FullRows {
  readonly values: RandomStream;
  readonly distribution: DrawDistribution;
  readonly size: number;
  readonly withoutOwn: boolean;
  /** The draws, row by row without the diagonal, if they were made before and are kept. */
  readonly drawn?: Float64Array | undefined;
}

const doublesAt = ({ memory }: WasmInstance, at: number, length: number): Float64Array => new Float64Array(memory.buffer, at, length);

/** Draws so many rows at a time, without the diagonal, and gives their address to `visit`. */
function eachRows(
  { values, distribution, size, withoutOwn, drawn }: FullRows,
  atOnce: number,
  extraBytes: number,
  visit: (instance: WasmInstance, at: number, first: number, rows: number) => void,
): void {
  const count = withoutOwn ? size - 1 : size;
  for (let first = 0; first < size; first += atOnce) {
    const rows = Math.min(atOnce, size - first);
    const instance = drawingFrom(values, 8 * atOnce * size + slack + extraBytes);
    if (drawn) doublesAt(instance, wasmReserved, rows * count).set(drawn.subarray(first * count, (first + rows) * count));
    else instance.exports.drawFullRows(kinds[distribution], first, rows, count, wasmReserved);
    visit(instance, wasmReserved, first, rows);
  }
}

/**
 * Draws rows times a factor, rounded to a precision; `extraBytes` are free behind what is given.
 */
function scaledRows(
  full: FullRows,
  factor: number,
  bytes: 4 | 8,
  atOnce: number,
  extraBytes: number,
  visit: (instance: WasmInstance, at: number, first: number, rows: number) => void,
): void {
  const { size, withoutOwn } = full;
  eachRows(full, atOnce, bytes * atOnce * size + extraBytes, (instance, at, first, rows) => {
    const to = at + 8 * atOnce * size + slack;
    instance.exports.scaleRows(at, first, rows, size, withoutOwn ? 1 : 0, factor, bytes, to);
    visit(instance, to, first, rows);
  });
}

/**
 * Draws the matrix times a factor, rounded to a precision, and gives `visit` so many of its rows at
 * a time, in memory that holds until it returns.
 */
export function visitFull(
  full: FullRows,
  factor: number,
  precision: Precision,
  atOnce: number,
  visit: (rows: FloatArray, first: number) => void,
): void {
  scaledRows(full, factor, bytesOf(precision), atOnce, 0, ({ memory }, at, first, rows) =>
    visit(viewOf(memory.buffer, precision, at, rows * full.size), first),
  );
}

const bytesOf = (precision: Precision): 4 | 8 => (precision === "float32" ? 4 : 8);

const viewOf = (buffer: ArrayBuffer, precision: Precision, at: number, length: number): FloatArray =>
  precision === "float32" ? new Float32Array(buffer, at, length) : new Float64Array(buffer, at, length);

/**
 * Turns a matrix into groups of `count` rows side by side, of each group its column k at
 * starts[k mod 32] + floor(k / 32), and gives each to `visit`; rows that are missing are 0. A
 * matrix that is not drawn yet is drawn there, and stays undrawn.
 */
export function visitGroups(
  matrix: Matrix,
  precision: Precision,
  count: number,
  starts: readonly number[],
  visit: (group: FloatArray, first: number) => void,
): void {
  const { rows, cols } = matrix;
  const bytes = bytesOf(precision);
  const length = count * cols;
  const extraBytes = bytes * length + 128 + slack;
  const pack = ({ exports, memory }: WasmInstance, at: number, first: number, inGroup: number): void => {
    const startsAt = at + bytes * length;
    const to = startsAt + 128;
    new Uint32Array(memory.buffer, startsAt, 32).set(starts);
    if (inGroup < count) viewOf(memory.buffer, precision, at + bytes * inGroup * cols, (count - inGroup) * cols).fill(0);
    if (bytes === 4) exports.packRows32(at, cols, count, startsAt, to);
    else exports.packRows64(at, cols, count, startsAt, to);
    visit(viewOf(memory.buffer, precision, to, length), first);
  };
  const draws = takeDraws(matrix);
  if (draws) {
    scaledRows(draws.full, draws.factor, bytes, count, extraBytes, pack);
    return;
  }
  const instance = instanceOf(bytes * length + extraBytes);
  for (let first = 0; first < rows; first += count) {
    const inGroup = Math.min(count, rows - first);
    viewOf(instance.memory.buffer, precision, wasmReserved, inGroup * cols).set(
      matrix.data.subarray(first * cols, (first + inGroup) * cols),
    );
    pack(instance, wasmReserved, first, inGroup);
  }
}

/** Rows of a matrix of N columns that are drawn at once. */
const rowsAtOnce = (size: number): number => Math.max(1, Math.floor(chunkBytes / (16 * size)));

/** Draws of as many bytes are kept until they are stored. */
const keptBytes = 2 ** 28;

/**
 * The sums of its rows and of their squares, columns rising, from +0. Normal draws come with them,
 * unless there are too many: they take as long as eight uniform ones.
 */
export function fullRowSums(full: FullRows): {
  readonly sums: Float64Array;
  readonly squares: Float64Array;
  readonly drawn: Float64Array | undefined;
} {
  const { size, withoutOwn } = full;
  const count = withoutOwn ? size - 1 : size;
  const sums = new Float64Array(size);
  const squares = new Float64Array(size);
  const drawn = full.distribution === "normal" && 8 * size * count <= keptBytes ? new Float64Array(size * count) : undefined;
  const atOnce = Math.ceil(rowsAtOnce(size) / 4) * 4;
  eachRows(full, atOnce, 16 * atOnce, (instance, at, first, rows) => {
    const sumsAt = at + 8 * atOnce * size + slack;
    const squaresAt = sumsAt + 8 * atOnce;
    instance.exports.sumRows(at, rows, count, sumsAt, squaresAt);
    sums.set(doublesAt(instance, sumsAt, rows), first);
    squares.set(doublesAt(instance, squaresAt, rows), first);
    drawn?.set(doublesAt(instance, at, rows * count), first * count);
  });
  return { sums, squares, drawn };
}

interface Undrawn {
  readonly full: FullRows;
  readonly factor: number;
}

/**
 * For matrices whose data was not read yet: what they are drawn from, and the factor of the draws.
 */
const undrawn = new WeakMap<Matrix, Undrawn>();

/** The same of one matrix. Draws that were kept are let go of: they serve once. */
function takeDraws(matrix: Matrix): Undrawn | undefined {
  const draws = undrawn.get(matrix);
  if (draws?.full.drawn) undrawn.set(matrix, { ...draws, full: { ...draws.full, drawn: undefined } });
  return draws;
}

/** The largest size that a draw has: sqrt(-2 log(2^-53)), rounded up. */
const largestDraw = 8.6;

/**
 * The matrix times a factor, rounded to a precision. It is drawn when its data is first read: an
 * engine that packs it draws it where it packs it. Undefined if a value may be too large.
 */
export function fullMatrix(full: FullRows, factor: number, precision: Precision): Matrix | undefined {
  if (!(Math.abs(factor) * largestDraw < (precision === "float32" ? 3.4e38 : Number.MAX_VALUE))) return undefined;
  const { size } = full;
  const matrix: Matrix = madeWhenRead(Object.create(Matrix.prototype), size, ["data"], () => {
    const data = allocate(precision, size * size);
    const { full, factor } = takeDraws(matrix)!;
    visitFull(full, factor, precision, rowsAtOnce(size), (rows, first) => data.set(rows, first * size));
    undrawn.delete(matrix);
    return { data };
  });
  undrawn.set(matrix, { full, factor });
  return matrix;
}

/** A matrix of N x N with fields that are made when one of them is first read. */
export function madeWhenRead<M extends Matrix | SparseMatrix, Name extends keyof M & string>(
  matrix: M,
  size: number,
  names: readonly Name[],
  make: () => Pick<M, Name>,
): M {
  const dimension = { value: size, enumerable: true };
  const read = (name: Name) => {
    const made = make();
    for (const each of names) Object.defineProperty(matrix, each, { value: made[each], enumerable: true });
    return made[name];
  };
  const later = names.map((name) => [name, { get: () => read(name), enumerable: true, configurable: true }]);
  return Object.defineProperties(matrix, { rows: dimension, cols: dimension, ...Object.fromEntries(later) });
}
