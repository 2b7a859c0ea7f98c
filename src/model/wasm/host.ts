// What stands beside an exported module: JavaScript without a dependency, for Node and browsers.

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
  const put = (at, values, count) => {
    if (values.length !== count) throw new RangeError(\`a row has \${values.length} values; the model takes \${count}\`);
    new Float64Array(wasm.memory.buffer, at, count).set(values);
  };
  const answer = (count) => Array.from(new Float64Array(wasm.memory.buffer, wasm.output(), count));
  return about.kind === "classifier" ? classifier(wasm, about, put, answer) : forecaster(wasm, about, put, answer);
}

function classifier(wasm, about, put, answer) {
  return { about, classify(rows) { // rows: one array of channels a row; undefined if the washout takes all
    const at = wasm.sequence(), width = 8 * about.channels, short = at + rows.length * width - wasm.memory.buffer.byteLength;
    if (short > 0) wasm.memory.grow(Math.ceil(short / 65536));
    rows.forEach((row, t) => put(at + t * width, row, about.channels));
    const best = wasm.classify(rows.length);
    return best < 0 ? undefined : { label: about.classes[best], shares: answer(about.classes.length) };
  } };
}

function forecaster(wasm, about, put, answer) {
  const { inputs, outputs, known, outside } = about;
  const memory = () => new Uint8Array(wasm.memory.buffer, wasm.state(), wasm.stateBytes());
  wasm.begin();
  return {
    about, begin: wasm.begin, reset: wasm.reset,
    get state() { return memory().slice(); },
    set state(bytes) { memory().set(bytes); },
    predict(row = []) { put(wasm.input(), row, inputs); wasm.predict(1); return answer(outputs); },
    teach(row, target) { put(wasm.input(), [...row, ...target], inputs + outputs); wasm.teach(); },
    observe(row, ahead) { put(wasm.input(), [...row, ...ahead], outputs + known); wasm.observe(); },
    forecast(steps, rows = []) { // rows from outside, one a step; the model stays where it is
      const before = this.state, made = [];
      for (let t = 0; t < steps; t++) {
        put(wasm.input(), rows[t] ?? [], outside);
        if (!wasm.step(known)) break; // too few rows since a reset, or an output that is not finite
        made.push(answer(outputs));
      }
      this.state = before;
      return made;
    },
  };
}
`;
