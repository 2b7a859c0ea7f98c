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

/** Tables of numbers in the sources that others made, with their licences. */
const tables = [
  [
    "Sobol direction numbers new-joe-kuo-6.21201",
    `Copyright (c) 2008, Frances Y. Kuo and Stephen Joe
All rights reserved.

Redistribution and use in source and binary forms, with or without modification, are permitted
provided that the following conditions are met:

    * Redistributions of source code must retain the above copyright notice, this list of conditions
      and the following disclaimer.

    * Redistributions in binary form must reproduce the above copyright notice, this list of
      conditions and the following disclaimer in the documentation and/or other materials provided
      with the distribution.

    * Neither the names of the copyright holders nor the names of the University of New South Wales
      and the University of Waikato and its contributors may be used to endorse or promote products
      derived from this software without specific prior written permission.

THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS "AS IS" AND ANY EXPRESS OR IMPLIED WARRANTIES,
INCLUDING, BUT NOT LIMITED TO, THE IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A PARTICULAR
PURPOSE ARE DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT HOLDERS BE LIABLE FOR ANY DIRECT, INDIRECT,
INCIDENTAL, SPECIAL, EXEMPLARY, OR CONSEQUENTIAL DAMAGES (INCLUDING, BUT NOT LIMITED TO, PROCUREMENT
OF SUBSTITUTE GOODS OR SERVICES; LOSS OF USE, DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER
CAUSED AND ON ANY THEORY OF LIABILITY, WHETHER IN CONTRACT, STRICT LIABILITY, OR TORT (INCLUDING
NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE OF THIS SOFTWARE, EVEN IF ADVISED OF THE
POSSIBILITY OF SUCH DAMAGE.`,
  ],
];

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
  for (const [title, text] of tables) parts.set(title, text);
  const list = [...parts].map(([title, text]) => `${title}\n${"-".repeat(title.length)}\n\n${text}\n`);
  return `The JavaScript of this package contains the following packages and tables of others.\n\n${list.join("\n\n")}`;
}
