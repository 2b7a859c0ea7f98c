// What goes with an exported module: JavaScript without a dependency, for Node and browsers.

/** The host's program; the same for every model. */
export const hostProgram = `// Runs a model that \`spillway export --to wasm\` wrote, in Node and in browsers.
// source: an address, a path (Node) or the bytes of the .wasm file.
export async function load(source) {
  const fs = globalThis.process?.getBuiltinModule?.("node:fs");
  const isNamed = typeof source === "string" || source instanceof URL;
  const bytes = !isNamed ? source : fs ? fs.readFileSync(source) : await (await fetch(source)).arrayBuffer();
  const module = await WebAssembly.compile(bytes);
  const about = JSON.parse(new TextDecoder().decode(WebAssembly.Module.customSections(module, "spillway")[0]));
  return open(await WebAssembly.instantiate(module), about);
}

function open({ exports: wasm }, about) {
  const behind = (at, bytes) => (at + bytes + 15) & -16;
  const sound = behind(about.free, about.bytes); // what is kept between blocks of sound
  const block = behind(sound, about.sound?.bytes ?? 0), rows = behind(block, about.sound ? 512 : 0); // rows that go in and out
  const numbers = (at, count) => {
    const short = at + 8 * count - wasm.memory.buffer.byteLength;
    if (short > 2 ** 32) throw new RangeError(\`\${count} numbers are more than a memory holds\`);
    if (short > 0) wasm.memory.grow(Math.ceil(short / 65536));
    return new Float64Array(wasm.memory.buffer, at, count);
  };
  const put = (at, values, count) => { // gives the address behind the row
    if (values.length !== count) throw new RangeError(\`a row has \${values.length} values; the model takes \${count}\`);
    numbers(at, count).set(values);
    return at + 8 * count;
  };
  let samples;
  const process = (resultOf) => (given) => { // gives what was found, if anything; else it allocates nothing
    if (given.length > 128) throw new RangeError(\`a block has \${given.length} samples; it takes at most 128\`);
    if (!samples?.length) samples = new Float32Array(wasm.memory.buffer, block, 128);
    samples.set(given);
    const said = wasm.model_process(sound, about.sound.front, block, given.length);
    if (said === 0) return undefined;
    const [first, last, score] = numbers(sound, 3);
    return { ...resultOf(said, score), first, last };
  };
  if (about.sound) {
    numbers(rows, 0);
    new Uint8Array(wasm.memory.buffer, sound, rows - sound).fill(0);
  }
  return { classifier, detector, forecaster }[about.kind](wasm, about, rows, numbers, put, about.sound && { at: sound + about.sound.model, process });
}

function detector(wasm, about, rows, numbers, put, sound) {
  const { free, bytes, kept, columns } = about;
  const causes = [undefined, "novelty", "stuck", "surprise", "missing"];
  const width = columns.length;
  numbers(rows, 7 * width + 6);
  const state = () => new Uint8Array(wasm.memory.buffer, free, kept);
  const begin = () => wasm.model_begin(free);
  begin();
  if (sound) wasm.model_begin(sound.at);
  const alarm = (said, score) => ({ alarm: causes[said], score });
  return {
    about, begin, ...(sound && { process: sound.process(alarm) }),
    get state() { return state().slice(); },
    set state(given) {
      if (given.length !== kept) throw new RangeError(\`a state has \${kept} bytes, and this one \${given.length}\`);
      state().set(given);
    },
    update(row, instant = NaN, wall = instant) { // NaN or null: missing; times in ms since 1970
      const out = put(rows, row.map((value) => value ?? NaN), width);
      wasm.model_update(free, rows, instant, wall, out);
      const [score, pValue, by, column, over, ongoing] = numbers(out, 6);
      const of = (field) => columns.map((_, c) => numbers(out + 48 * (c + 1), 6)[field]);
      return {
        score, pValue, alarm: causes[by], ongoing: ongoing === 1, expected: of(3), lower: of(4), upper: of(5),
        cause: column < 0 ? undefined : { column: columns[column], rows: over },
      };
    },
    feedback(at, verdict, byTime = false) { // false if it is of no incident
      return wasm.model_feedback(free, at, byTime ? 1 : 0, verdict === "anomaly" ? 1 : 0) > 0;
    },
  };
}

function classifier(wasm, about, rows, numbers, put, sound) {
  const { free, channels, classes } = about;
  const word = (said) => ({ label: classes[said - 1], shares: [...numbers(sound.at, classes.length)] });
  return { about, ...(sound && { process: sound.process(word) }), classify(sequence) { // one array of channels a row; undefined if the washout takes all
    const shares = rows, from = rows + 8 * classes.length;
    numbers(from, sequence.length * channels);
    sequence.forEach((row, t) => put(from + 8 * channels * t, row, channels));
    const best = wasm.model_classify(free, from, sequence.length, shares);
    return best < 0 ? undefined : { label: classes[best], shares: [...numbers(shares, classes.length)] };
  } };
}

function forecaster(wasm, about, rows, numbers, put) {
  const { free, bytes, inputs, outputs, known, outside, calendar } = about;
  numbers(rows, inputs + known + 2 * outputs);
  const state = () => new Uint8Array(wasm.memory.buffer, free, bytes);
  const call = (name, ...values) => {
    if (!wasm[\`model_\${name}\`]) throw new TypeError(\`this model has no \${name}\`);
    return wasm[\`model_\${name}\`](...values);
  };
  const begin = () => call("begin", free), reset = () => call("reset", free);
  begin();
  return {
    about, begin, reset,
    get state() { return state().slice(); },
    set state(kept) {
      if (kept.length !== bytes) throw new RangeError(\`a state has \${bytes} bytes, and this one \${kept.length}\`);
      state().set(kept);
    },
    predict(row = []) {
      const out = put(rows, row, inputs);
      call("predict", free, rows, out);
      return [...numbers(out, outputs)];
    },
    teach(row, target) {
      const out = put(rows, row, inputs);
      put(out, target, outputs);
      call("teach", free, rows, out);
    },
    observe(row, beside = []) { // false if the row is not taken: a value of it has been missing since a reset
      const behind = put(rows, row, outputs);
      put(behind, beside, known);
      return call("observe", free, rows, behind) !== 0;
    },
    calendar(wall) { // what the calendar says of a row: the last of what is known of it; wall: ms since 1970
      call("calendar", BigInt(wall), rows);
      return [...numbers(rows, calendar)];
    },
    forecast(steps, ahead = []) { // rows from outside, one a step; the model stays where it is
      if (!(Number.isSafeInteger(steps) && steps >= 0)) throw new RangeError(\`steps is \${steps}; it takes a whole number\`);
      const before = state().slice();
      const out = rows + 8 * steps * Math.max(0, outside);
      numbers(out, steps * outputs);
      if (outside > 0) for (let t = 0; t < steps; t++) put(rows + 8 * outside * t, ahead[t] ?? [], outside);
      // Fewer steps than asked: too few rows since a reset, or an output that is not finite.
      const done = call("forecast", free, steps, rows, out);
      state().set(before);
      const made = numbers(out, done * outputs);
      return Array.from({ length: done }, (_, t) => [...made.subarray(t * outputs, (t + 1) * outputs)]);
    },
  };
}
`;

/** A model as one file for an `AudioWorklet`, which is also the module that a page imports. */
export const workletProgram = (
  module: Uint8Array,
  about: object,
): string => `// A model of live sound, for an AudioWorklet; written by Spillway.
const about = ${JSON.stringify(about)};

// Gives a node to connect a source to, such as a microphone's, and calls \`found\` with { label, shares, first, last } of each word, or
// { alarm, score, first, last } of each alarm; first and last are in samples since the node was made.
export async function listen(context, found) {
  const { inputRate } = about.sound;
  if (context.sampleRate !== inputRate) throw new RangeError(\`the context has \${context.sampleRate} samples a second; the model takes \${inputRate}\`);
  await context.audioWorklet.addModule(import.meta.url);
  const mono = { channelCount: 1, channelCountMode: "explicit" };
  const node = new AudioWorkletNode(context, about.name, { numberOfInputs: 1, numberOfOutputs: 1, outputChannelCount: [1], ...mono });
  node.port.onmessage = ({ data }) => found(data);
  node.connect(context.destination); // its output is silence; a node that leads nowhere may not run
  return node;
}

if (globalThis.registerProcessor) {
  const module = new WebAssembly.Module(decoded("${base64(module)}"));
  registerProcessor(about.name, class extends AudioWorkletProcessor {
    model = open(new WebAssembly.Instance(module), about);
    silence = new Float32Array(128);
    process(inputs) {
      const found = this.model.process(inputs[0].length > 0 ? inputs[0][0] : this.silence);
      if (found) this.port.postMessage(found);
      return true;
    }
  });
}

function decoded(text) {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const length = (text.length / 4) * 3 - (text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0);
  const out = new Uint8Array(length + 3);
  for (let k = 0, at = 0; k < text.length; k += 4) {
    const [a, b, c, d] = [0, 1, 2, 3].map((i) => Math.max(0, letters.indexOf(text[k + i])));
    out.set([(a << 2) | (b >> 4), (b << 4) | (c >> 2), (c << 6) | d], at);
    at += 3;
  }
  return out.subarray(0, length);
}

${hostProgram.slice(hostProgram.indexOf("function open("))}`;

const base64 = (bytes: Uint8Array): string => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
