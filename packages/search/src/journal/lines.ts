// The complete lines of a file that only grows, by number. It knows nothing of what they say.
import { constants } from "node:fs";
import { formatBytes } from "@spillway/core/bytes.js";
import { type JournalHandle, journalFiles } from "./files.js";
import { RecordError } from "./record-error.js";

/** Bytes that are read at a time. */
const pieceBytes = 2 ** 24;
const lineFeed = 10;
const longestLine = 2 ** 28;

/** A position in a file at which a line begins. */
export interface Position {
  readonly line: number;
  readonly offset: number;
}

/** The last complete line's end, if one stands between two offsets; undefined if none does. */
export async function endOfLines(file: JournalHandle, from: number, to: number): Promise<number | undefined> {
  const piece = Buffer.allocUnsafe(Math.min(2 ** 16, to - from));
  for (let end = to; end > from; ) {
    const begin = Math.max(from, end - piece.length);
    const { bytesRead } = await file.read(piece, 0, end - begin, begin);
    const at = piece.subarray(0, bytesRead).lastIndexOf(lineFeed);
    if (at >= 0) return begin + at + 1;
    end = begin;
  }
  return undefined;
}

/**
 * Hands on the complete lines from a position on, without their ends, and gives the position behind
 * them.
 * What stands behind the last end is no line yet.
 */
export async function readLines(path: string, from: Position, take: (line: string, number: number) => void): Promise<Position> {
  const file = await journalFiles.open(path, constants.O_RDONLY);
  try {
    let { line, offset } = from;
    const { size } = await file.stat();
    if (size < offset) throw new RecordError(`it has ${size} bytes and had ${offset}; another file replaced it`);
    const piece = Buffer.allocUnsafe(Math.min(pieceBytes, Math.max(2 ** 16, size - offset)));
    let parts: Buffer[] = [];
    let held = 0;
    for (;;) {
      const { bytesRead } = await file.read(piece, 0, piece.length, offset + held);
      if (bytesRead === 0) return { line, offset };
      let begin = 0;
      for (let end = piece.indexOf(lineFeed); end >= 0 && end < bytesRead; end = piece.indexOf(lineFeed, begin)) {
        const last = piece.subarray(begin, end);
        take((parts.length > 0 ? Buffer.concat([...parts, last]) : last).toString("utf8"), line++);
        offset += held + end + 1 - begin;
        parts = [];
        held = 0;
        begin = end + 1;
      }
      if (begin < bytesRead) {
        parts.push(Buffer.from(piece.subarray(begin, bytesRead)));
        held += bytesRead - begin;
        if (held > longestLine) throw new RecordError(`line ${line + 1} is longer than ${formatBytes(longestLine)}, which no record is`);
      }
    }
  } finally {
    await file.close();
  }
}
