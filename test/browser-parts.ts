// The parts of the package that run in browsers, as docs/in-the-browser.md lists them.
import { readFileSync } from "node:fs";

const [, list] = /\nThese run in a browser:([^.]*)\./.exec(readFileSync("docs/in-the-browser.md", "utf8"))!;

export const browserParts: readonly string[] = Array.from(list!.matchAll(/`(spillway[\w/]*)`/g), ([, name]) => name!);
