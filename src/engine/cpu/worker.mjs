// A worker thread of the CPU engine: an instance of the module for each reservoir it helps with,
// and a loop that runs its share of every chunk. Plain JavaScript, so that it starts from the
// sources as well as from the built package.
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";

const { thread, commands, shares } = workerData;
const ended = 0;
const idle = 0;
const go = 1;
// A chunk follows another within microseconds; polling that long before sleeping saves the wake-up.
const polls = 20000;

/** The instances, and what runs a share in each, by the reservoir's number. */
const reservoirs = new Map();

function open({ module, memory, precision }) {
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
  return { exports, run: precision === "float32" ? exports.run32 : exports.run64 };
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

parentPort.postMessage("ready");

for (;;) {
  let command = Atomics.load(commands, thread);
  for (let n = 0; command === idle && n < polls; n++) command = Atomics.load(commands, thread);
  while (command === idle) {
    Atomics.wait(commands, thread, idle);
    command = Atomics.load(commands, thread);
  }
  for (let message = receiveMessageOnPort(parentPort); message; message = receiveMessageOnPort(parentPort)) read(message.message);
  if (command === go) runShare();
  // A command that came meanwhile stays.
  if (Atomics.compareExchange(commands, thread, command, idle) === command) Atomics.notify(commands, thread);
}
