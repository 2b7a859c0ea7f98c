// Makes what the site shows beside the API: copies of the pages of docs/, of results, notebooks and
// examples, in pages/, with titles and with links that lead from copy to copy. Then typedoc makes
// the site, and every link of it is followed.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, posix, relative } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "../..");
const pages = join(here, "pages");
const site = join(here, "site");

const inFolder = (folder, ending) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith(ending))
    .map((name) => `${folder}/${name}`);

const exampleFolders = ["examples", "examples/papers", "examples/experiments"];

/** Where each file goes that becomes a page, by its path in the project; and the group it is in. */
const copies = new Map([
  ["README.md", { to: "readme.md", group: "Guide" }],
  ...inFolder("docs", ".md").map((path) => [path, { to: path.replace("docs/", "").replace("README", "documentation"), group: "Guide" }]),
  ["docs/api/README.md", { to: "api-reference.md", group: "Guide" }],
  ...inFolder("notebooks", ".ipynb").map((path) => [path, { to: path.replace(".ipynb", ".md"), group: "Notebooks" }]),
  ...exampleFolders.flatMap((folder) =>
    [...inFolder(folder, ".ts"), ...inFolder(folder, ".yaml")].map((path) => [
      path,
      { to: `${path.replace(/\.\w+$/, "")}.md`, group: "Examples" },
    ]),
  ),
  ...inFolder("docs/internals", ".md").map((path) => [path, { to: path.replace("docs/", ""), group: "Internals" }]),
  ...inFolder("bench/results", ".md").map((path) => [path, { to: path.replace("bench/", ""), group: "Results" }]),
  ["CHANGELOG.md", { to: "changelog.md", group: "Project" }],
  ["CONTRIBUTING.md", { to: "contributing.md", group: "Project" }],
]);

/** A notebook as Markdown; its pictures become files beside it. */
function markdownOf(path, to) {
  const { cells } = JSON.parse(readFileSync(join(root, path), "utf8"));
  const textOf = (text) => (Array.isArray(text) ? text.join("") : text);
  let pictures = 0;
  const pictureOf = (type, data) => {
    const name = `${posix.basename(to, ".md")}-${++pictures}.${type === "image/png" ? "png" : "svg"}`;
    writeFileSync(join(pages, posix.dirname(to), name), type === "image/png" ? Buffer.from(textOf(data), "base64") : textOf(data));
    return `![${name}](${name})`;
  };
  const outputOf = ({ text, data = {} }) => {
    const type = ["image/svg+xml", "image/png"].find((each) => data[each] !== undefined);
    if (type) return pictureOf(type, data[type]);
    const printed = textOf(text ?? data["text/plain"] ?? "").trimEnd();
    return printed === "" ? "" : `\`\`\`text\n${printed}\n\`\`\``;
  };
  const parts = cells.flatMap(({ cell_type: kind, source, outputs = [] }) =>
    kind === "markdown"
      ? [textOf(source).replace(/^\$\$([\s\S]*?)\$\$$/gm, "```text\n$1\n```")]
      : [`\`\`\`ts\n${textOf(source)}\n\`\`\``, ...outputs.map(outputOf)],
  );
  return parts.filter((part) => part !== "").join("\n\n");
}

/** A program or an experiment as Markdown. */
function programOf(path) {
  return `# ${posix.basename(path)}\n\n\`\`\`${path.endsWith(".ts") ? "ts" : "yaml"}\n${readFileSync(join(root, path), "utf8")}\`\`\`\n`;
}

/** Folders that pages link to, and that have no page of their own. */
const folders = [...exampleFolders, "notebooks", "docs/internals"];
const listPath = (folder) => `lists/${posix.basename(folder)}.md`;

/** A page for a folder, with a link to each page of it. */
function listOf(folder) {
  const links = Array.from(copies).flatMap(([path, { to }]) =>
    posix.dirname(path) === folder ? [`- [${posix.basename(path)}](${posix.relative("lists", to)})`] : [],
  );
  return `---\ntitle: ${folder}\ngroup: Lists\n---\n\n# ${folder}\n\n${links.join("\n")}\n`;
}

/** The text with every link and picture as it leads from the copy; fenced code stays. */
function relinked(text, path, to) {
  const from = (target) => posix.relative(posix.dirname(to), target);
  const leadsTo = (target, anchor) => {
    const file = posix.normalize(posix.join(posix.dirname(path), target)).replace(/\/$/, "");
    if (file === "docs/api/site/index.html") return from("api-reference.md");
    if (folders.includes(file)) return from(listPath(file));
    const page = copies.get(file) ?? copies.get(`${file}/README.md`);
    if (page) return `${from(page.to)}${anchor}`;
    if (existsSync(join(root, file))) return `${posix.relative(posix.join("docs/api/pages", posix.dirname(to)), file)}${anchor}`;
    return `${target}${anchor}`;
  };
  const links = /^```[\s\S]*?^```|\]\((?!\w+:|#)([^)#\s]+)(#[^)]*)?\)|(?<=<img src=")(?!\w+:)([^"]+)/gm;
  return text.replace(links, (match, target, anchor = "", picture) => {
    if (picture !== undefined) return leadsTo(picture, "");
    return target === undefined ? match : `](${leadsTo(target, anchor)})`;
  });
}

rmSync(pages, { recursive: true, force: true });
for (const [path, { to, group }] of copies) {
  mkdirSync(join(pages, posix.dirname(to)), { recursive: true });
  const text =
    { ".ipynb": markdownOf, ".ts": programOf, ".yaml": programOf }[posix.extname(path)]?.(path, to) ??
    readFileSync(join(root, path), "utf8");
  const [, title = path] = /^# (.*)$/m.exec(text) ?? [];
  const body = relinked(text, path, to);
  writeFileSync(join(pages, to), `---\ntitle: ${JSON.stringify(title.replace(/[`*]/g, ""))}\ngroup: ${group}\n---\n\n${body}`);
}

mkdirSync(join(pages, "lists"));
for (const folder of folders) writeFileSync(join(pages, listPath(folder)), listOf(folder));

rmSync(site, { recursive: true, force: true });
const { status } = spawnSync(process.execPath, [join(here, "node_modules/typedoc/bin/typedoc")], { cwd: here, stdio: "inherit" });
rmSync(pages, { recursive: true });
if (status !== 0) process.exit(status ?? 1);

/** What a page of the site names: ids, and where its links and pictures lead. */
const contents = new Map(
  readdirSync(site, { recursive: true })
    .filter((name) => name.endsWith(".html"))
    .map((name) => {
      const html = readFileSync(join(site, name), "utf8").replace(/<script[\s\S]*?<\/script>/g, "");
      const all = (pattern) => Array.from(html.matchAll(pattern), ([, value]) => value.replaceAll("&amp;", "&"));
      return [posix.normalize(name), { ids: new Set(all(/\sid="([^"]*)"/g)), links: all(/\s(?:href|src)="([^"]*)"/g) }];
    }),
);
const dead = new Set();
for (const [page, { links }] of contents)
  for (const link of links) {
    if (/^(\w+:|\/\/)/.test(link) || link === "" || link === "#") continue;
    const [file, anchor] = link.split("#").map(decodeURIComponent);
    const target = file === "" ? page : posix.normalize(posix.join(posix.dirname(page), file));
    const known = contents.get(target);
    if (!known && !existsSync(join(site, target))) dead.add(`${page}: ${link} is not there`);
    // The module of unexported types links to fields of type literals, which it does not show.
    else if (known && anchor && !known.ids.has(anchor) && !page.endsWith(".Internal.html"))
      dead.add(`${page}: ${link} has no such heading`);
  }
if (dead.size > 0) {
  console.error(`${dead.size} dead links in the site:\n${[...dead].slice(0, 40).join("\n")}`);
  process.exit(1);
}
console.log(`${contents.size} pages, no dead link, in ${relative(process.cwd(), join(site, "index.html"))}`);
