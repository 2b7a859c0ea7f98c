// Spoken digits as a microphone gives them: recordings with pauses over faint noise, at 48 kHz in
// blocks of 128 samples, through the worklet that examples/live-digits/train.ts writes (recordings 5
// to 29 train, by the default pipeline; 0 to 4 test). A digit is right if one word is found while it
// is spoken, under its name. Then 60 s in Chromium, of a fake microphone, and block by block. Usage:
//   npm run bench:live        SPILLWAY_DATA names the folder that holds fsdd
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { readWavFolder } from "spillway/model";
import { openChromium, openPage } from "../../test/browser/chromium.js";
import { openFirefox } from "../../test/browser/driven.js";
import { serveFolder } from "../../test/browser/folder-server.js";
import { type FoundWord, rightIn, streamOf, streamRate, wavOf } from "../../test/browser/speech.js";

const data = `${process.env["SPILLWAY_DATA"] ?? "../shared/data"}/fsdd`;
const folder = mkdtempSync(join(tmpdir(), "spillway-live-"));
execFileSync(process.execPath, ["--import", "tsx", "examples/live-digits/train.ts", folder], { stdio: "inherit" });
const { load } = await import(pathToFileURL(join(folder, "digits.js")).href);
const { sequences, labels } = await readWavFolder(data, { keep: ({ index }) => Number(index) < 5 });
const sounds = sequences.map((sound) => sound.data);
const stream = streamOf(sounds, labels);
const model = await load(join(folder, "digits.wasm"));
const said: FoundWord[] = [];
for (let n = 0; n + 128 <= stream.samples.length; n += 128) {
  const word = model.process(stream.samples.subarray(n, n + 128));
  if (word) said.push(word);
}
const correct = rightIn(stream, said);
console.log(
  `recordings 0 to 4: ${correct} of ${labels.length} right, ${((100 * correct) / labels.length).toFixed(1)} %; ${said.length} words found`,
);

// 60 s of them, in an order that mixes the digits.
const order = labels.map((_, b) => (b * 7) % labels.length).slice(0, 56);
const minute = streamOf(
  order.map((b) => sounds[b]!),
  order.map((b) => labels[b]),
);
writeFileSync(join(folder, "stream.wav"), wavOf(minute.samples));
writeFileSync(join(folder, "stream.f32"), minute.samples.subarray(0, 60 * streamRate));
const server = await serveFolder(folder, {
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-embedder-policy": "require-corp",
});

/**
 * Times of the blocks of 60 s in a page, since a worklet has no clock: of the first of five runs,
 * and the least of each block, which other programs on the machine lengthen less.
 */
const blocks = `
  const { load } = await import("/digits.js");
  const samples = new Float32Array(await (await fetch("/stream.f32")).arrayBuffer());
  const runs = [];
  for (let run = 0; run < 5; run++) {
    const model = await load("/digits.wasm");
    const times = [];
    for (let n = 0; n + 128 <= samples.length; n += 128) {
      const block = samples.subarray(n, n + 128);
      const begun = performance.now();
      model.process(block);
      times.push(performance.now() - begun);
    }
    runs.push(times);
  }
  const said = (times) => {
    const sorted = times.toSorted((a, b) => a - b);
    const at = (share) => Number(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))].toFixed(3));
    return { median: at(0.5), p99: at(0.99), p999: at(0.999), largest: at(1) };
  };
  return { blocks: runs[0].length, first: said(runs[0]), least: said(runs[0].map((_, k) => Math.min(...runs.map((run) => run[k])))) };`;
const live = `
  const { listen } = await import("/digits.worklet.js");
  const context = new AudioContext({ sampleRate: ${streamRate} });
  const found = [];
  const audio = { echoCancellation: false, noiseSuppression: false, autoGainControl: false };
  const [node, stream] = await Promise.all([listen(context, (word) => found.push(word)), navigator.mediaDevices.getUserMedia({ audio })]);
  context.createMediaStreamSource(stream).connect(node);
  await context.resume();
  const [begun, from] = [performance.now(), context.currentTime];
  await new Promise((done) => setTimeout(done, 60_000));
  const [wall, sound] = [(performance.now() - begun) / 1000, context.currentTime - from];
  const { underrunEvents, underrunDuration } = context.playbackStats ?? {};
  return { wall, sound, underrunEvents, underrunDuration, found };`;

const fake = ["--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream", "--autoplay-policy=no-user-gesture-required"];
const chromium = await openChromium([...fake, `--use-file-for-fake-audio-capture=${join(folder, "stream.wav")}%noloop`]);
const { page } = await openPage(chromium, { width: 800, height: 600 });
await page.goto(server.url);
const { found, ...played } = (await page.evaluate(`(async () => {${live}})()`)) as { found: FoundWord[] };
const ended = minute.spoken.filter(({ to }) => to < 58 * streamRate);
const right = rightIn({ ...minute, spoken: ended }, found, found[0]!.first - minute.spoken[0]!.from);
console.log(`Chromium, fake microphone, 60 s: ${JSON.stringify(played)}, ${right} of ${ended.length} digits right`);
console.log(`Chromium, blocks in a page, ms: ${JSON.stringify(await page.evaluate(`(async () => {${blocks}})()`))}`);
await chromium.close();
const firefox = await openFirefox();
await firefox.goto(server.url);
console.log(`Firefox, blocks in a page, ms: ${JSON.stringify(await firefox.evaluate(blocks))}`);
await firefox.close();
server.close();
server.closeAllConnections();
rmSync(folder, { recursive: true });
