// A study read out of a journal, or from a server, by those who only look.
import { FileError } from "../io/index.js";
import { type StoredStudy, StudyLog } from "../search/index.js";
import { openStorage } from "./search-storage.js";

/**
 * @param wanted the study, if there are several
 * @throws FileError if there is no such study
 */
export async function storedStudy(journal: string, wanted?: string): Promise<StoredStudy> {
  const storage = await openStorage(journal);
  try {
    const log = new StudyLog();
    log.apply(await storage.read(0));
    const names = [...log.studies.keys()];
    const found = log.studies.get(wanted ?? (names.length === 1 ? names[0]! : ""));
    if (found) return found;
    const there = names.length === 0 ? "holds no study" : `holds the studies ${names.join(", ")}; name one with --study`;
    throw new FileError(storage.name, there, "content");
  } finally {
    await storage.close();
  }
}
