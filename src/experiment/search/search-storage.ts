// Where a search keeps its trials, from the words of a command.
import { dirname } from "node:path";
import { ArgumentError } from "@spillway/core/errors.js";
import { ensureFolder } from "@spillway/io";
import { journalFile, redisJournal, type StudyStorage } from "@spillway/search";
import { shownUrl } from "@spillway/search/journal/redis.js";

/**
 * The storage that a text names: the path of a journal, or redis://host:6379/0?prefix=name, also
 * rediss:// and valkey://. The folder of a path is made if it is not there.
 * @throws ArgumentError for an address of another kind; FileError if its folder cannot be made;
 * SpillwayError "unavailable" if no server answers
 */
export async function openStorage(text: string): Promise<StudyStorage> {
  const [, scheme] = /^([a-z][a-z0-9+.-]+):\/\//i.exec(text) ?? [];
  if (scheme === undefined) {
    await ensureFolder(dirname(text));
    return journalFile(text);
  }
  if (!/^(redis|valkey)s?$/i.test(scheme))
    throw new ArgumentError("storage", shownUrl(text), "the path of a journal, or an address such as redis://host:6379/0?prefix=name");
  return redisJournal(text);
}
