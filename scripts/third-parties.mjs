// The packages of others inside the bundles: which they are, as the bundlers tell, and the text of
// their licences, which has to go with them.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * The folder of the package that a bundled file belongs to, such as `node_modules/yaml`; undefined
 * for a file of ours.
 */
function packageFolder(path) {
  const [folder] = /^.*\bnode_modules\/(?:@[^/]+\/)?[^/]+/.exec(path.replaceAll("\\", "/")) ?? [];
  return folder;
}

/**
 * The folders of the packages that the files of a bundle belong to, each once. Empty files count
 * for nothing.
 */
export function packageFolders(files) {
  return [...new Set(files.flatMap(({ path, bytes }) => (bytes > 0 ? (packageFolder(path) ?? []) : [])))].sort();
}

/** The files in what esbuild made, with the bytes of each that came in. */
export function filesOfEsbuild({ outputs }) {
  return Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).map(([path, { bytesInOutput }]) => ({ path, bytes: bytesInOutput })),
  );
}

/** A plugin of Vite that adds to `files` what its bundles hold. */
export function collectFiles(files) {
  return {
    name: "third-parties",
    generateBundle(_, bundle) {
      for (const chunk of Object.values(bundle))
        for (const [path, { renderedLength }] of Object.entries(chunk.modules ?? {})) files.push({ path, bytes: renderedLength });
    },
  };
}

/**
 * The licence's text: its own file, or the part of the README that gives it. @throws an error that
 * names the package which has neither
 */
function licenceOf(folder) {
  const names = readdirSync(folder).sort();
  const own = names.find((name) => /^(un)?licen[cs]e|^copying/i.test(name));
  if (own) return readFileSync(join(folder, own), "utf8").trim();
  const readme = names.find((name) => /^readme/i.test(name));
  const [text] = /^(#+ *)?licen[cs]e\b[\s\S]*/im.exec(readme ? readFileSync(join(folder, readme), "utf8") : "") ?? [];
  if (!text || !/permi(t|ssion)/i.test(text)) throw new Error(`${folder} is in the bundle and has no licence text that could go with it`);
  return text.trim();
}

/**
 * The notices of packages by their folders: name, version and licence text of each.
 * @throws an error that names a package without a licence text, and one that `manifest` has users
 * install as well
 */
export function notices(folders, manifest) {
  const installed = { ...manifest.dependencies, ...manifest.peerDependencies, ...manifest.optionalDependencies };
  const parts = new Map();
  for (const folder of folders) {
    const { name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    if (Object.hasOwn(installed, name))
      throw new Error(`${name} is in the bundle, and users install it as well: list it as external, or as a development dependency`);
    parts.set(`${name} ${version}`, licenceOf(folder));
  }
  const list = [...parts].map(([title, text]) => `${title}\n${"-".repeat(title.length)}\n\n${text}\n`);
  return `The JavaScript of this package contains the following packages of others.\n\n${list.join("\n\n")}`;
}
