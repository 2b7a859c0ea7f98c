// A worker thread as the pool sees it. Node and a page differ in how one is started and in whether
// one can ask if it lives, and in nothing else.
import { SpillwayError } from "@spillway/core/errors.js";
import { startWorker } from "@spillway/core/node-worker.js";

/** A thread that runs spillway-worker.js. */
export interface Thread {
  post(message: object): void;
  /**
   * Whether it was ended from outside, which is known while the caller is blocked. A page cannot
   * tell, and nothing but its own program ends a worker there.
   */
  readonly hasEnded: boolean;
  terminate(): Promise<unknown>;
}

/** Called with the error or the exit code of a thread that ends. */
type WhenEnded = (cause: unknown) => void;

const inNode = (): boolean => globalThis.process?.versions?.node !== undefined;

/** Why worker threads cannot be had here, in a few words; undefined if they can. */
export function whyOneThread(): string | undefined {
  if (inNode()) return undefined;
  if (!globalThis.crossOriginIsolated) return "the page is not cross-origin isolated";
  if (typeof SharedArrayBuffer !== "function") return "this browser has no SharedArrayBuffer";
  if (!maySleep()) return "a page's main thread may not wait for others: create the reservoir in a worker";
  return typeof Worker === "function" ? undefined : "no worker can be started from here";
}

/** Whether `Atomics.wait` is allowed here. */
function maySleep(): boolean {
  try {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 0);
    return true;
  } catch {
    return false;
  }
}

/**
 * Starts a thread with its first message. `ready` resolves when it has answered, from when on it
 * hears messages while the caller is blocked.
 */
export function startThread(first: object, whenEnded: WhenEnded): { readonly thread: Thread; readonly ready: Promise<unknown> } {
  return inNode() ? startInNode(first, whenEnded) : startInPage(first, whenEnded);
}

function startInNode(first: object, whenEnded: WhenEnded) {
  const worker = startWorker("./spillway-worker.js", import.meta.url);
  worker.on("error", whenEnded);
  worker.on("exit", whenEnded);
  const answered = new Promise<void>((resolve, reject) => {
    // Both: Node tells nothing of a thread's idle time before it has heard that the thread is
    // online.
    let awaited = 2;
    const answer = () => {
      if (--awaited === 0) resolve();
    };
    worker.once("online", answer);
    worker.once("message", answer);
    worker.once("error", reject);
    worker.once("exit", (code) => reject(new SpillwayError("device", `a worker thread ended with exit code ${code} before it was ready`)));
  });
  worker.postMessage(first);
  const thread: Thread = {
    post: (message) => worker.postMessage(message),
    // Node has no call that asks whether a thread lives. One that has ended has no idle time: it is
    // -1, from that moment on.
    get hasEnded() {
      return worker.performance.eventLoopUtilization().idle === -1;
    },
    terminate: () => worker.terminate(),
  };
  // It keeps the process alive until it is ready, and no longer.
  const ready = answered.then(() => {
    // Without a look while it lives, Node never tells that its loop has ended.
    worker.performance.eventLoopUtilization();
    worker.unref();
  });
  return { thread, ready };
}

function startInPage(first: object, whenEnded: WhenEnded) {
  // Written out for bundlers to find the file.
  const worker = new Worker(new URL("./spillway-worker.js", import.meta.url), { type: "module" });
  const ready = new Promise<void>((resolve, reject) => {
    worker.addEventListener("message", () => resolve(), { once: true });
    worker.addEventListener("error", (event) => {
      // It is told of here, and not once more as an error of the page.
      event.preventDefault();
      const { message, error } = event;
      const unread = "its file, spillway-worker.js, belongs beside the bundle and takes the page's Cross-Origin-Embedder-Policy";
      const cause = new SpillwayError("device", `a worker thread does not start: ${message || unread}`, { cause: error });
      reject(cause);
      whenEnded(cause);
    });
  });
  worker.postMessage(first);
  const thread: Thread = {
    post: (message) => worker.postMessage(message),
    hasEnded: false,
    terminate: async () => worker.terminate(),
  };
  return { thread, ready };
}
