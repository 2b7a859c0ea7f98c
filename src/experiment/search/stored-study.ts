// A study read out of a journal, or from a server, by those who only look.
import { FileError } from "@spillway/io";
import { type StoredStudy, StudyLog } from "@spillway/search";
import { openStorage } from "./search-storage.js";

/**
 * @param wanted the study, if there are several
 * @throws FileError if there is no such study
 */
export async function storedStudy(journal: string, wanted?: string): Promise<StoredStudy> {
  const { name, studies } = await storedStudies(journal);
  const names = studies.map((study) => study.name);
  const found = wanted === undefined && studies.length === 1 ? studies[0] : studies.find((study) => study.name === wanted);
  if (found) return found;
  const there = names.length === 0 ? "holds no study" : `holds the studies ${names.join(", ")}; name one with --study`;
  throw new FileError(name, there, "content");
}

/** All studies of a storage, and what messages call it. */
export async function storedStudies(journal: string): Promise<{ readonly name: string; readonly studies: readonly StoredStudy[] }> {
  const storage = await openStorage(journal);
  try {
    const log = new StudyLog();
    log.apply(await storage.read(0));
    return { name: storage.name, studies: [...log.studies.values()] };
  } finally {
    await storage.close();
  }
}
