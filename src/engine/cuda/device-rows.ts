// Rows of matrices that lie on the device, copied there to where a launch wants them: matrices at
// equal distances in one copy.
import { ArgumentError, DisposedError } from "@spillway/core/errors.js";
import type { Context, Stream } from "@spillway/gpu";
import { usable } from "@spillway/gpu/slice.js";
import type { Matrix } from "@spillway/numerics";
import { DeviceMatrix, DeviceSequences, stretchOf } from "../../reservoir/device-matrix.js";
import type { DeviceSide, SequenceInput } from "../../reservoir/engine.js";
import type { EngineModel } from "../../reservoir/spiking-model.js";
import type { StateChunk, StatesThere, StateTaker } from "../session.js";
import { allocAny, realType } from "./kernels.js";
import type { DeviceClock } from "./profile.js";
import { reverseThere, standardiseThere } from "./standardising.js";
import { DeviceSummary, statisticsThere } from "./summary.js";
import type { RealSlice } from "./time-loop.js";

/**
 * A rectangle of rows: `count` matrices, `rows` rows of each. Distances are from the first number
 * of one matrix to that of the next.
 */
interface Rectangle {
  readonly from: RealSlice;
  readonly start: number;
  readonly distance: number;
  readonly to: RealSlice;
  readonly toStart: number;
  readonly toDistance: number;
  readonly columns: number;
  readonly count: number;
}

function copyRectangle(stream: Stream, { from, start, distance, to, toStart, toDistance, columns, count }: Rectangle): void {
  if (columns === 0 || count === 0) return;
  const end = (count - 1) * distance + columns;
  const toEnd = (count - 1) * toDistance + columns;
  const source = from.slice(start, start + end);
  const target = to.slice(toStart, toStart + toEnd);
  // One row needs no pitch, and a pitch that is no larger than the row makes all rows one.
  if (count === 1 || (distance === columns && toDistance === columns)) stream.copy(target, source);
  else stream.copy2D(target, source, { columns, rows: count, sourcePitch: distance, destinationPitch: toDistance });
}

/** Where rows of one matrix lie and go. */
interface Piece {
  readonly from: RealSlice;
  readonly start: number;
  readonly to: RealSlice;
  readonly toStart: number;
  readonly columns: number;
}

/** Copies pieces; equal neighbours at equal distances in one copy. */
function copyPieces(stream: Stream, pieces: readonly Piece[]): void {
  for (let first = 0; first < pieces.length; ) {
    const piece = pieces[first]!;
    const { columns } = piece;
    const fits = (a: Piece, b: Piece) => b.from === a.from && b.to === a.to && b.columns === columns;
    const second = pieces[first + 1];
    let [count, distance, toDistance] = [1, columns, columns];
    if (second && fits(piece, second)) {
      const [step, toStep] = [second.start - piece.start, second.toStart - piece.toStart];
      if (step >= columns && toStep >= columns) {
        [distance, toDistance] = [step, toStep];
        for (let next = second; next && fits(piece, next); next = pieces[first + count]!) {
          if (next.start !== piece.start + count * step || next.toStart !== piece.toStart + count * toStep) break;
          count++;
        }
      }
    }
    copyRectangle(stream, { ...piece, distance, toDistance, count });
    first += count;
  }
}

/** The inputs of sequences that lie on the device, for `Stream.waitFor`. */
export function slicesOf(sequences: readonly SequenceInput[]): RealSlice[] {
  const found = new Set<RealSlice>();
  for (const { inputs } of sequences) if (inputs instanceof DeviceMatrix) found.add(stretchOf(inputs).values);
  return [...found];
}

/**
 * Copies rows [from, to) of those matrices that lie on the device to number at(b) and on of
 * `target`.
 */
export function copyRows(
  stream: Stream,
  matrices: readonly (Matrix | DeviceMatrix)[],
  from: number,
  to: number,
  target: RealSlice,
  at: (b: number) => number,
): void {
  const pieces: Piece[] = [];
  for (const [b, matrix] of matrices.entries()) {
    if (!(matrix instanceof DeviceMatrix)) continue;
    const { cols, rows } = matrix;
    const columns = (Math.min(to, rows) - from) * cols;
    if (columns <= 0) continue;
    const { values, start } = stretchOf(matrix);
    pieces.push({ from: values, start: start + from * cols, to: target, toStart: at(b), columns });
  }
  copyPieces(stream, pieces);
}

/**
 * Copies every k-th state of a chunk of `rows` states, beginning with that of step `from`, to its
 * row of a matrix.
 */
export function copyEvery(stream: Stream, states: RealSlice, from: number, rows: number, every: number, into: DeviceMatrix): void {
  const size = into.cols;
  const first = every - 1 - (from % every);
  if (first >= rows) return;
  const count = Math.floor((rows - 1 - first) / every) + 1;
  const toStart = ((from + first + 1) / every - 1) * size;
  copyRectangle(stream, {
    ...{ from: states, start: first * size, distance: every * size },
    ...{ to: into.values, toStart, toDistance: size, columns: size, count },
  });
}

/**
 * Keeps states of sequences on the device, where they were made: every state, or the last of each.
 */
class StateKeeper implements StateTaker {
  readonly #into: DeviceSequences;
  readonly #lengths: readonly number[];
  readonly #last: boolean;

  constructor(into: DeviceSequences, sequences: readonly SequenceInput[], last: boolean) {
    this.#into = into;
    this.#lengths = sequences.map(({ inputs }) => inputs.rows);
    this.#last = last;
  }

  group(stream: Stream, indices: readonly number[]): (chunk: StateChunk) => void {
    const { sequences, values } = this.#into;
    const size = sequences[0]!.cols;
    return ({ states, pitch, from, to }) => {
      const pieces = indices.flatMap((b, index): Piece[] => {
        const length = this.#lengths[b]!;
        const end = Math.min(to, length);
        const first = this.#last ? length - 1 : from;
        if (first < from || first >= end) return [];
        const { start } = stretchOf(sequences[b]!);
        const toStart = start + (this.#last ? 0 : from * size);
        return [{ from: states, start: index * pitch + (first - from) * size, to: values, toStart, columns: (end - first) * size }];
      });
      copyPieces(stream, pieces);
    };
  }
}

/** States of a session on its device, and what it does with matrices there. */
export function statesThere(context: Context, model: EngineModel, stream: Stream, clock?: DeviceClock): StatesThere {
  return {
    side: sideOf(context, model, stream),
    stream,
    keeper: (into, sequences, last) => new StateKeeper(into, sequences, last),
    summary: (sequences, work) => new DeviceSummary(context, model, sequences, work, clock),
  };
}

function sideOf(context: Context, { size, precision }: EngineModel, stream: Stream): DeviceSide {
  return {
    context,
    stream,
    standardise: (series, scale, changes) => standardiseThere(context, stream, series, scale, changes),
    reverse: (series) => reverseThere(context, stream, series),
    statistics: (series, which) => statisticsThere(context, series, which),
    check(matrix, name) {
      if (matrix.context !== context)
        throw ArgumentError.because(
          `${name} lies in memory of another context, of device ${matrix.context.info.ordinal}; this reservoir takes memory of its own, of device ${context.info.ordinal} (create it with context)`,
          { field: name },
        );
      try {
        usable(context.core, matrix.values, false);
      } catch (error) {
        if (error instanceof DisposedError) throw ArgumentError.because(`${name}: ${error.message}`, { field: name, cause: error });
        throw error instanceof ArgumentError ? error.at(name) : error;
      }
    },
    allocate(rows, stepMs) {
      const total = rows.reduce((sum, each) => sum + each, 0);
      const values = allocAny(context, realType(precision), total * size, "kept states");
      return new DeviceSequences(context, values, { rows, cols: size, stepMs }, values);
    },
  };
}
