// The files that a source's #include lines find in folders, for the cache's key: NVRTC reads them
// itself and does not say which.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const includeLine = /^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]/gm;

/**
 * Every file that the source and the headers include from the folders, and what those include, with
 * their text. Lines that the preprocessor would skip count too: a key too many is a compilation too
 * many, never a wrong kernel.
 */
export function includedFiles(
  source: string,
  headers: Readonly<Record<string, string>>,
  folders: readonly string[],
): readonly (readonly [path: string, text: string])[] {
  const found = new Map<string, string>();
  const visit = (text: string, beside: string | undefined): void => {
    for (const [, name] of text.matchAll(includeLine)) {
      for (const folder of beside === undefined ? folders : [beside, ...folders]) {
        const path = join(folder, name!);
        if (found.has(path)) break;
        let content: string;
        try {
          content = readFileSync(path, "utf8");
        } catch {
          continue;
        }
        found.set(path, content);
        visit(content, dirname(path));
        break;
      }
    }
  };
  visit(source, undefined);
  for (const text of Object.values(headers)) visit(text, undefined);
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1));
}
