// Imported before the program, in every thread: ends a worker thread of the CPU engine while it
// sleeps in a barrier, in the way that END_WORKER names.
import { syncBuiltinESMExports } from "node:module";
import threads from "node:worker_threads";

const ways = {
  exit: () => process.exit(7),
  error: () => {
    throw new Error("planted");
  },
  memory: () => {
    for (const kept = []; ; ) kept.push(new Array(1000).fill(kept.length));
  },
};

if (threads.isMainThread) {
  threads.Worker = class extends threads.Worker {
    constructor(url, options) {
      super(url, { ...options, resourceLimits: { maxOldGenerationSizeMb: 16 } });
    }
  };
  syncBuiltinESMExports();
} else if (threads.threadId === 2) {
  const { wait } = Atomics;
  let left = 3;
  Atomics.wait = (words, ...rest) => {
    // Its own command word it waits for without a limit; in a barrier, for a millisecond.
    if (rest.length > 2 && --left === 0) ways[process.env.END_WORKER]();
    return wait(words, ...rest);
  };
}
