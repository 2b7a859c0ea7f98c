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
  const wasm = (await WebAssembly.instantiate(module)).exports;
  const rows = (about.free + about.bytes + 15) & -16; // behind the state: rows that go in and out
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
  return { classifier, detector, forecaster }[about.kind](wasm, about, rows, numbers, put);
}

function detector(wasm, about, rows, numbers, put) {
  const { free, bytes, kept, columns } = about;
  const causes = [undefined, "novelty", "stuck", "surprise", "missing"];
  const width = columns.length;
  numbers(rows, 7 * width + 6);
  const state = () => new Uint8Array(wasm.memory.buffer, free, kept);
  const begin = () => wasm.model_begin(free);
  begin();
  return {
    about, begin,
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

function classifier(wasm, about, rows, numbers, put) {
  const { free, channels, classes } = about;
  return { about, classify(sequence) { // one array of channels a row; undefined if the washout takes all
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
