// Whether dist/ is what a build made of the sources as they are: by hashes of all that the build
// reads and of all that it wrote. Commands that build first then need not build again.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** What the build reads. The packages that it takes are those of the lock file. */
const read = ["assembly", "examples/experiments", "kernels", "lab", "packages", "scripts", "src"];
const readToo = ["package.json", "package-lock.json", "tsconfig.json"];
/** What it writes; the modules lie among the sources. */
const written = ["dist", "packages/numerics/src/wasm"];
/** Beside the packages: whoever installs them anew builds anew. */
const note = "node_modules/.spillway-built";

const inside = (folder) => readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));

function hashOf(paths) {
  const sum = createHash("sha256").update(process.version);
  for (const path of paths.toSorted())
    if (statSync(path).isFile()) sum.update(`${path}\n${statSync(path).size}\n`).update(readFileSync(path));
  return sum.digest("hex");
}

/** What the build reads, as it is now. */
export const sourcesNow = () => hashOf([...readToo, ...read.flatMap(inside).filter((path) => !path.endsWith(".wasm"))]);

const noteOf = (sources) => `${sources} ${hashOf(written.flatMap(inside))}`;

export const isBuilt = (sources) => existsSync("dist") && existsSync(note) && readFileSync(note, "utf8") === noteOf(sources);

/** Notes that what is there now was built of these sources. */
export const noteBuilt = (sources) => writeFileSync(note, noteOf(sources));
