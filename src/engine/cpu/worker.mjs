// A worker thread of the CPU engine: its own instance of the module over the shared memory, and a loop that runs its share of every chunk.
// Plain JavaScript, so that it starts from the sources as well as from the built package.
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";

const { module, memory, precision, thread, commands, shares } = workerData;
const memoryWords = new Int32Array(memory.buffer);
const { exports } = new WebAssembly.Instance(module, {
  env: {
    memory,
    sleep(address, round) {
      if (Atomics.load(commands, 0) !== 0) throw new Error("another thread of this reservoir has ended");
      Atomics.wait(memoryWords, address >>> 2, round, 1);
    },
    wake(address) {
      Atomics.notify(memoryWords, address >>> 2);
    },
  },
});
const run = precision === "float32" ? exports.run32 : exports.run64;
const at = thread * 4;
const idle = 0;
const go = 1;
const quit = 2;
// A chunk follows another within microseconds; polling that long before sleeping saves the wake-up.
const polls = 20000;

exports.thread.value = thread;
parentPort.postMessage("ready");

for (;;) {
  let command = Atomics.load(commands, at);
  for (let n = 0; command === idle && n < polls; n++) command = Atomics.load(commands, at);
  while (command === idle) {
    Atomics.wait(commands, at, idle);
    command = Atomics.load(commands, at);
  }
  if (command === quit) break;
  if (command !== go) continue;
  for (let message = receiveMessageOnPort(parentPort); message; message = receiveMessageOnPort(parentPort)) {
    for (const [name, value] of Object.entries(message.message)) exports[name].value = value;
  }
  const [steps, step, sequence, firstPart, lastPart, firstRow, lastRow] = shares.subarray(thread * 8, thread * 8 + 7);
  exports.noiseStep.value = step;
  exports.noiseSequence.value = sequence;
  try {
    run(steps, firstPart, lastPart, firstRow, lastRow);
  } catch (error) {
    // The threads that wait for this one in the barrier look at this word.
    Atomics.store(commands, 0, 1);
    throw error;
  }
  Atomics.store(commands, at, idle);
  Atomics.notify(commands, at);
}
