// How long the lab takes from navigation to its first picture in a headless Chromium, and what the
// time goes to. Every load has an empty cache.
// Usage: npm run build && npx tsx bench/page/lab.ts [FOLDER...]   (of built pages, loaded in turn)
// It needs a Chromium on the search path or in SPILLWAY_CHROMIUM.
import os from "node:os";
import { chromium } from "playwright-core";
import "../../src/index.js";
import { openLab } from "../../src/lab/index.js";
import { findChromium } from "../../src/plot/browser.js";

const loads = 10;
/** The marks that the page sets, in their order. */
const marks = ["program", "weights", "first picture", "measured"] as const;

const executablePath = findChromium();
if (!executablePath) throw new Error("there is no Chromium on the search path or in SPILLWAY_CHROMIUM");
const folders = process.argv.length > 2 ? process.argv.slice(2) : ["dist/lab-page"];
const labs = await Promise.all(folders.map((page) => openLab({ page, engine: "cpu" })));
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"] });

async function load(url: string): Promise<Readonly<Record<string, number>>> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  await page.goto(url);
  await page.waitForFunction((names) => names.every((name) => performance.getEntriesByName(name).length > 0), marks);
  const entries = await page.evaluate(() =>
    performance.getEntries().map((one) => {
      const { responseEnd = 0, decodedBodySize = 0 } = one as PerformanceResourceTiming;
      return { name: one.name, startTime: one.startTime, responseEnd, decodedBodySize };
    }),
  );
  const times = Object.fromEntries(marks.map((name) => [name, entries.find((one) => one.name === name)!.startTime]));
  const before = entries.filter(({ responseEnd }) => responseEnd > 0 && responseEnd <= times["first picture"]!);
  if (process.env["SPILLWAY_WATERFALL"])
    for (const { name, startTime, responseEnd } of before)
      console.log(startTime.toFixed(0), responseEnd.toFixed(0), name.replace(/.*\//, ""));
  await context.close();
  return { ...times, files: before.length, kB: before.reduce((sum, one) => sum + one.decodedBodySize, 0) / 1000 };
}

// The first load is that of a cold browser.
await load(labs[0]!.url);
const all: Readonly<Record<string, number>>[][] = labs.map(() => []);
for (let k = 0; k < loads; k++) for (const [l, lab] of labs.entries()) all[l]!.push(await load(lab.url));
await browser.close();
for (const lab of labs) await lab.close();
console.log(`${os.cpus()[0]?.model.trim()}, ${os.cpus().length} threads, load ${os.loadavg()[0]!.toFixed(1)}, Node ${process.version}`);
for (const [l, folder] of folders.entries()) {
  const sorted = (name: string) => all[l]!.map((times) => times[name]!).toSorted((a, b) => a - b);
  console.log(`\n${folder}\n\n| from navigation to | median ms | fastest | slowest |\n|---|---|---|---|`);
  for (const name of marks) {
    const times = sorted(name);
    console.log(`| ${name} | ${[times[loads >> 1]!, times[0]!, times.at(-1)!].map((ms) => ms.toFixed(0)).join(" | ")} |`);
  }
  console.log(`\n${sorted("files")[loads >> 1]} files, ${sorted("kB")[loads >> 1]!.toFixed(0)} kB, are read before the first picture.`);
}
