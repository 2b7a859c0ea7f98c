// Takes the lines out of a journal that are no records: what a process that was killed in the
// middle of a write left behind, and what others wrote behind it.

import { open, rename } from "node:fs/promises";
import { resolve as absolute } from "node:path";
import { checkText } from "@spillway/core/checks.js";
import { FileError } from "@spillway/io/errors.js";
import { readError, writeError } from "@spillway/io/files.js";
import type { StudyOperation } from "../storage.js";
import { readLines } from "./lines.js";
import { JournalLock } from "./lock.js";
import { RecordError } from "./record-error.js";
import { decodeRecord, encodeRecord } from "./records.js";

/** What a repair did to a journal. */
export interface JournalRepair {
  /** Lines that stayed. */
  readonly kept: number;
  /** The numbers, from 1, of lines of which the end was a whole record, which stayed. */
  readonly mended: readonly number[];
  /** The numbers of lines that went, and why. */
  readonly lost: readonly { readonly line: number; readonly reason: string }[];
  /** Where the journal stands as it was; undefined if nothing was wrong with it. */
  readonly broken: string | undefined;
}

/**
 * Repairs a journal, under its lock: a line that ends in a whole record keeps that record, any
 * other that is none goes. The file as it was is kept as FILE.broken. No reader has counted a
 * torn line, since none gets past it. A line that made a trial and has an end of its own was whole
 * once, and counted: a failed trial replaces it, so that what follows means the same trials.
 * @throws FileError
 */
export async function repairJournal(path: string): Promise<JournalRepair> {
  checkText("path", path);
  const absolutePath = absolute(path);
  const lock = new JournalLock(absolutePath, process.platform === "win32" ? "exclusive" : "link", 30_000);
  return lock.hold(() => repair(absolutePath));
}

async function repair(path: string): Promise<JournalRepair> {
  const lines: string[] = [];
  let study = 0;
  let kept = 0;
  const mended: number[] = [];
  const lost: { readonly line: number; readonly reason: string }[] = [];
  const end = await readLines(path, { line: 0, offset: 0 }, (line, number) => {
    const read = decoded(line);
    const from = line.lastIndexOf('{"op_code"');
    const isMended = typeof read === "string" && from > 0 && typeof decoded(line.slice(from)) !== "string";
    if (isMended) mended.push(number + 1);
    if (typeof read !== "string" || isMended) {
      lines.push(isMended ? line.slice(from) : line);
      kept++;
      if (typeof read !== "string" && read.type === "createTrial") study = read.study;
      return;
    }
    const isTrial = from === 0 && /^\{"op_code": ?4,/.test(line);
    if (isTrial) lines.push(lostTrial(Number(/"study_id": ?(\d+),/.exec(line)?.[1] ?? study)));
    lost.push({ line: number + 1, reason: isTrial ? `${read}; a failed trial replaces it` : read });
  }).catch(async (error: unknown) => {
    throw error instanceof RecordError ? new FileError(path, error.message, "content") : await readError(path, error);
  });
  try {
    const torn = await tornBytes(path, end.offset);
    if (torn > 0) lost.push({ line: end.line + 1, reason: `it has no end: ${torn} bytes` });
    if (mended.length === 0 && lost.length === 0) return { kept, mended, lost, broken: undefined };
    const [fresh, broken] = [`${path}.repaired`, `${path}.broken`];
    const file = await open(fresh, "w", 0o666);
    try {
      for (let i = 0; i < lines.length; i += 1000) await file.write(Buffer.from(`${lines.slice(i, i + 1000).join("\n")}\n`, "utf8"));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(path, broken);
    await rename(fresh, path);
    return { kept, mended, lost, broken };
  } catch (error) {
    throw error instanceof FileError ? error : writeError(path, error);
  }
}

async function tornBytes(path: string, end: number): Promise<number> {
  const file = await open(path, "r");
  try {
    return (await file.stat()).size - end;
  } finally {
    await file.close();
  }
}

/** The record of a trial of which nothing is known but that it was there. */
function lostTrial(study: number): string {
  const attributes = { "spillway:error": "its line in the journal was damaged" };
  return encodeRecord({ by: "repair", type: "createTrial", study, template: { state: "failed", attributes } });
}

/** What a line says, or why it is no record. */
function decoded(line: string): StudyOperation | string {
  try {
    return decodeRecord(line);
  } catch (error) {
    if (error instanceof RecordError) return error.message;
    throw error;
  }
}
