// A worker thread of the CPU engine, in Node and in a page: an instance of the module for each
// reservoir it helps with, and a loop that runs its share of every chunk. Plain JavaScript that
// imports nothing, so that it starts from the sources, from the built package and beside a bundle.
const port = globalThis.process?.getBuiltinModule?.("node:worker_threads").parentPort ?? globalThis;

const ended = 0;
const idle = 0;
const go = 1;
// A chunk follows another within microseconds; polling that long before sleeping saves the wake-up.
const polls = 20000;

let thread;
let commands;
let messages;
let shares;
/** Messages that have come, and what waits for the next one. */
let received = 0;
let heard = () => {};
/** The instances, and what runs a share in each, by the reservoir's number. */
const reservoirs = new Map();

function open({ module, memory, kernel }) {
  const memoryWords = new Int32Array(memory.buffer);
  const { exports } = new WebAssembly.Instance(module, {
    env: {
      memory,
      sleep(address, round) {
        if (Atomics.load(commands, ended) !== 0) throw new Error("another thread of this reservoir has ended");
        Atomics.wait(memoryWords, address >>> 2, round, 1);
      },
      wake(address) {
        Atomics.notify(memoryWords, address >>> 2);
      },
    },
  });
  exports.thread.value = thread;
  return { exports, run: exports[kernel] };
}

function read({ id, module, globals, forget, ...rest }) {
  if (module) reservoirs.set(id, open({ module, ...rest }));
  if (globals) for (const [name, value] of Object.entries(globals)) reservoirs.get(id).exports[name].value = value;
  if (forget) reservoirs.delete(id);
}

function runShare() {
  const [id, steps, step, sequence, ...bounds] = shares.subarray(thread * 8, thread * 8 + 8);
  const { exports, run } = reservoirs.get(id);
  exports.noiseStep.value = step;
  exports.noiseSequence.value = sequence;
  run(steps, ...bounds);
}

async function serve() {
  for (;;) {
    let command = Atomics.load(commands, thread);
    for (let n = 0; command === idle && n < polls; n++) command = Atomics.load(commands, thread);
    while (command === idle) {
      Atomics.wait(commands, thread, idle);
      command = Atomics.load(commands, thread);
    }
    // A page's worker hears messages only between turns of its event loop.
    while (received < Atomics.load(messages, thread)) {
      await new Promise((resolve) => {
        heard = resolve;
      });
    }
    if (command === go) runShare();
    // A command that came meanwhile stays.
    if (Atomics.compareExchange(commands, thread, command, idle) === command) Atomics.notify(commands, thread);
  }
}

/** Says that this thread has ended, before its word says that it computes no more. */
function fail(error) {
  Atomics.compareExchange(commands, ended, 0, thread);
  Atomics.store(commands, thread, idle);
  Atomics.notify(commands, thread);
  throw error;
}

function begin(words) {
  ({ thread, commands, messages, shares } = words);
  port.postMessage("ready");
  serve().catch(fail);
}

port.addEventListener("message", ({ data }) => {
  if (!commands) return begin(data);
  received++;
  try {
    read(data);
  } catch (error) {
    fail(error);
  }
  heard();
});
