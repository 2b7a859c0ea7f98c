// Where a search keeps its trials, from the words of a command.
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { ArgumentError } from "../core/errors.js";
import { writeError } from "../io/files.js";
import { journalFile, redisJournal, type StudyStorage } from "../search/index.js";

/**
 * The storage that a text names: the path of a journal, or redis://host:6379/0?prefix=name, also
 * rediss:// and valkey://. The folder of a path is made if it is not there.
 * @throws ArgumentError for an address of another kind; SpillwayError "unavailable" if no server
 * answers
 */
export async function openStorage(text: string): Promise<StudyStorage> {
  const [, scheme] = /^([a-z][a-z0-9+.-]+):\/\//i.exec(text) ?? [];
  if (scheme === undefined) {
    await makeFolder(dirname(text));
    return journalFile(text);
  }
  if (!/^(redis|valkey)s?$/i.test(scheme) || !URL.canParse(text))
    throw new ArgumentError("storage", text, "the path of a journal, or an address such as redis://host:6379/0?prefix=name");
  const url = new URL(text.replace(/^valkey/i, "redis"));
  const prefix = url.searchParams.get("prefix") ?? "";
  url.search = "";
  return redisJournal(url.href, { prefix });
}

/** Makes a folder if it is not there. @throws FileError if it cannot be made */
export async function makeFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true }).catch((error: unknown) => {
    throw writeError(path, error, "the folder cannot be made");
  });
}
