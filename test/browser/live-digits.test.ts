// examples/live-digits in the browsers: its page, with a microphone that plays recordings, and its
// worklet, with the bits of Node.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect } from "vitest";
import "../../src/index.js";
import { readWavFolder } from "../../src/pipeline/index.js";
import { dataFolder, itWithData } from "../data.js";
import { openChromium, openDrivenChromium, openPage } from "./chromium.js";
import { openFirefox } from "./driven.js";
import { type FolderServer, serveFolder } from "./folder-server.js";
import { openSoundServer } from "./sound-server.js";
import { type FoundWord, rightIn, type Stream, streamOf, streamRate, wavOf } from "./speech.js";

/** Renders the stream through the worklet, faster than it lasts. */
const rendering = `
  const { listen } = await import("/digits.worklet.js");
  const samples = new Float32Array(await (await fetch("/stream.f32")).arrayBuffer());
  const buffer = new AudioBuffer({ length: samples.length, sampleRate: ${streamRate} });
  buffer.copyToChannel(samples, 0);
  const context = new OfflineAudioContext(1, samples.length, ${streamRate});
  const found = [];
  const node = await listen(context, (word) => found.push(word));
  const source = new AudioBufferSourceNode(context, { buffer });
  source.connect(node);
  source.start();
  await context.startRendering();
  for (let before = -1; before < found.length; ) {
    before = found.length;
    await new Promise((done) => setTimeout(done, 500)); // messages come after the sound
  }
  return found;`;

describe("spoken digits in a page", () => {
  const folder = mkdtempSync(join(tmpdir(), "spillway-digits-"));
  let server: FolderServer;
  let stream: Stream;
  let expected: FoundWord[];

  beforeAll(async () => {
    const data = dataFolder();
    if (data === undefined) return;
    // Recordings 5 to 9 are enough for a test; the benchmark trains on 5 to 29.
    const program = ["--import", "tsx", "examples/live-digits/train.ts", folder, "9"];
    execFileSync(process.execPath, program, { env: { ...process.env, SPILLWAY_DATA: data } });
    const { sequences, labels } = await readWavFolder(join(data, "fsdd"), { keep: ({ index }) => Number(index) === 0 });
    const some = labels.map((_, b) => b).filter((b) => b % 4 === 0);
    stream = streamOf(
      some.map((b) => sequences[b]!.data),
      some.map((b) => labels[b]),
    );
    writeFileSync(join(folder, "stream.f32"), stream.samples);
    writeFileSync(join(folder, "stream.wav"), wavOf(stream.samples));
    const { load } = await import(pathToFileURL(join(folder, "digits.js")).href);
    const model = await load(join(folder, "digits.wasm"));
    expected = [];
    for (let n = 0; n + 128 <= stream.samples.length; n += 128) {
      const found = model.process(stream.samples.subarray(n, n + 128));
      if (found) expected.push(found);
    }
    server = await serveFolder(folder);
  }, 300_000);
  afterAll(() => {
    server?.close();
    server?.closeAllConnections();
    rmSync(folder, { recursive: true });
  });

  for (const [name, open] of [
    ["Chromium", openDrivenChromium],
    ["Firefox", () => openFirefox()],
  ] as const)
    itWithData(`has the bits of Node in ${name}'s AudioWorklet`, "FreeSpokenDigits", async () => {
      const browser = await open();
      try {
        await browser.goto(server.url);
        const found = await browser.evaluate(rendering);
        expect(found).toEqual(expected);
        expect(rightIn(stream, found as FoundWord[])).toBeGreaterThanOrEqual(0.8 * stream.spoken.length);
      } finally {
        await browser.close();
      }
    });

  itWithData("names the words of a microphone of Chromium, as Node does, in the order it is said", "FreeSpokenDigits", async () => {
    const fake = ["--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream"];
    const browser = await openChromium([...fake, `--use-file-for-fake-audio-capture=${join(folder, "stream.wav")}%noloop`]);
    try {
      const { page, errors } = await openPage(browser, { width: 800, height: 600 });
      await page.goto(server.url);
      await page.click("#listen");
      await page
        .locator("#digits li")
        .nth(expected.length - 1)
        .waitFor({ timeout: 60_000 });
      const digits = await page.locator("#digits b").allTextContents();
      const same = digits.filter((digit, k) => digit === expected[k]!.label).length;
      // The microphone resamples: a word on the edge may be another.
      expect(same).toBeGreaterThanOrEqual(expected.length - 1);
      expect(await page.locator("#state").textContent()).toBe("listening");
      expect(errors).toEqual([]);
    } finally {
      await browser.close();
    }
  });

  itWithData("takes the microphone of Firefox, a tone, as often and as long as it is switched on", "FreeSpokenDigits", async () => {
    const sound = await openSoundServer();
    const fake = { "media.navigator.streams.fake": true, "media.navigator.permission.disabled": true };
    const playing = { "media.autoplay.default": 0, "media.autoplay.blocking_policy": 0, "media.autoplay.block-webaudio": false };
    const firefox = await openFirefox({ preferences: { ...fake, ...playing }, environment: sound.environment });
    try {
      await firefox.goto(server.url);
      const words = (await firefox.evaluate(`
        const { listen } = await import("/digits.worklet.js");
        const context = new AudioContext({ sampleRate: ${streamRate} });
        const found = [];
        const [node, stream] = await Promise.all([listen(context, (word) => found.push(word)), navigator.mediaDevices.getUserMedia({ audio: true })]);
        const gate = new GainNode(context, { gain: 0 });
        context.createMediaStreamSource(stream).connect(gate).connect(node);
        await context.resume();
        const begun = context.currentTime;
        for (const at of [1, 2, 3]) {
          gate.gain.setValueAtTime(0.5, begun + at);
          gate.gain.setValueAtTime(0, begun + at + 0.3);
        }
        while (context.currentTime < begun + 4.5) await new Promise((done) => setTimeout(done, 100));
        return found;`)) as FoundWord[];
      expect(words).toHaveLength(3);
      for (const [k, { first, last }] of words.entries()) {
        // 300 ms and 40 ms of lead on both sides, in frames of 5 ms.
        expect(Math.abs((last - first) / streamRate - 0.38)).toBeLessThanOrEqual(0.02);
        expect(Math.abs((first - words[0]!.first) / streamRate - k)).toBeLessThanOrEqual(0.01);
      }
    } finally {
      await firefox.close();
      sound.close();
    }
  });

  itWithData("says why it does not listen", "FreeSpokenDigits", async () => {
    const browser = await openChromium(["--deny-permission-prompts"]);
    try {
      const { page } = await openPage(browser, { width: 800, height: 600 });
      await page.goto(server.url);
      await page.click("#listen");
      await page
        .locator("#state")
        .filter({ hasText: /^not listening: ./ })
        .waitFor();
      expect(await page.locator("#listen").isEnabled()).toBe(true);
    } finally {
      await browser.close();
    }
  });
});
