// A Chromium on this machine, for images that plotly itself draws. It is looked for, never
// installed.
import { SpillwayError } from "@spillway/core/errors.js";
import { visible } from "@spillway/core/text.js";
import type { Figure } from "./figure.js";
import { reportHtml } from "./report.js";

/** Programs that are tried, in this order. */
const candidates = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge"];

const node = () => {
  const builtin = globalThis.process?.getBuiltinModule;
  if (!builtin) throw new SpillwayError("unavailable", "images through Chromium are made by Node 20.19 or newer; elsewhere take toSvg");
  return {
    fs: builtin("node:fs"),
    os: builtin("node:os"),
    path: builtin("node:path"),
    url: builtin("node:url"),
    child: builtin("node:child_process"),
  };
};

/**
 * The path of a Chromium: SPILLWAY_CHROMIUM, or what the search path holds. Undefined if there
 * is none.
 */
export function findChromium(): string | undefined {
  const { fs, path } = node();
  const given = process.env["SPILLWAY_CHROMIUM"];
  if (given) return fs.existsSync(given) ? given : undefined;
  const folders = (process.env["PATH"] ?? "").split(path.delimiter);
  const known = [
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
  ];
  const suffix = process.platform === "win32" ? ".exe" : "";
  const tried = [...candidates.flatMap((name) => folders.map((folder) => path.join(folder, name + suffix))), ...known];
  return tried.find((file) => fs.existsSync(file));
}

/** How long a browser may take before it is given up. */
const patience = 60_000;

/**
 * Draws a figure with plotly in a headless Chromium and gives the image's bytes.
 * @throws Error with what Chromium said if no image comes back
 */
export async function chromiumImage(
  chromium: string,
  figure: Figure,
  { format, width, height, scale }: { format: "png" | "svg"; width: number; height: number; scale: number },
): Promise<Uint8Array> {
  const { fs, os, path, url, child } = node();
  const folder = await fs.promises.mkdtemp(path.join(os.tmpdir(), "spillway-image-"));
  try {
    const page = path.join(folder, "figure.html");
    const html = await reportHtml({ title: figure.title, sections: [{ title: figure.title, facts: [], scores: [], figures: [figure] }] });
    const settings = JSON.stringify({ format, width, height, scale });
    const ask = `<script>figuresDrawn.then(() => Plotly.toImage(document.getElementById("figure-0"), ${settings})).then((image) => { document.body.innerHTML = ""; document.body.dataset.image = image; });</script>`;
    await fs.promises.writeFile(page, html.replace("</body>", `${ask}</body>`));
    const flags = ["--headless", "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--hide-scrollbars"];
    const all = [
      ...flags,
      `--user-data-dir=${path.join(folder, "profile")}`,
      "--virtual-time-budget=20000",
      "--dump-dom",
      url.pathToFileURL(page).href,
    ];
    const dom = await new Promise<string>((resolve, reject) => {
      const options = { maxBuffer: 512 * 2 ** 20, timeout: patience };
      child.execFile(chromium, all, options, (error, stdout, stderr) => {
        if (error) {
          const last = stderr.trim().split("\n").at(-1)!;
          const reason = error.killed ? `it took more than ${patience / 1000} s` : last || `it ended with ${error.code ?? error.signal}`;
          reject(new SpillwayError("device", `${chromium} did not draw the figure: ${visible(reason, 500)}`, { cause: error }));
        } else resolve(stdout);
      });
    });
    const image = /data-image="([^"]+)"/.exec(dom)?.[1]?.replaceAll("&amp;", "&");
    if (!image) throw new SpillwayError("device", `${chromium} opened the figure and gave no image back within ${patience / 1000} s`);
    const body = image.slice(image.indexOf(",") + 1);
    return image.includes(";base64,") ? Uint8Array.from(Buffer.from(body, "base64")) : new TextEncoder().encode(decodeURIComponent(body));
  } finally {
    await fs.promises.rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}
