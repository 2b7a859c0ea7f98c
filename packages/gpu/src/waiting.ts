// Waiting for the device without holding up the event loop: a few looks, then turns of the event
// loop, then a thread that sleeps.
import type { ContextCore } from "./context-core.js";
import type { LaunchHistory } from "./launch-history.js";

/** An event that may be waited for on another thread, and is destroyed only after that. */
export interface AwaitedEvent {
  readonly handle: bigint;
  /** Waits under way. */
  waits: number;
  /** Whether its owner destroyed it: the last wait then does so at the driver. */
  destroyed: boolean;
}

/** Destroys an event, or leaves it to the wait that is under way. @throws CudaError. */
export function destroyEvent(core: ContextCore, event: AwaitedEvent): void {
  if (event.waits > 0) event.destroyed = true;
  else core.call("cuEventDestroy", event.handle);
}

/**
 * Node has four threads for all files, names and natives: waiting takes two of them at most, and
 * further waits look once a millisecond.
 */
const threadsForWaiting = 2;
let threadsWaiting = 0;

const turnsMilliseconds = 1;

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
const millisecond = () => new Promise<void>((resolve) => setTimeout(resolve, 1));

async function wait(core: ContextCore, event: AwaitedEvent, history: LaunchHistory | undefined): Promise<void> {
  const start = performance.now();
  do {
    if (core.ready("cuEventQuery", event.handle, history)) return;
    await turn();
  } while (performance.now() - start < turnsMilliseconds);
  while (threadsWaiting >= threadsForWaiting) {
    if (core.ready("cuEventQuery", event.handle, history)) return;
    await millisecond();
  }
  threadsWaiting++;
  try {
    core.enter("cuEventSynchronize");
    const code = await core.driver.callAsync("cuEventSynchronize", event.handle);
    core.check(code, "cuEventSynchronize", history);
  } finally {
    threadsWaiting--;
  }
}

/**
 * Resolves when the event has come. @throws CudaError, also of the work before it; DisposedError
 * if the context is disposed first.
 */
export async function waitFor(core: ContextCore, event: AwaitedEvent, history?: LaunchHistory): Promise<void> {
  event.waits++;
  core.waits++;
  try {
    await wait(core, event, history);
  } finally {
    event.waits--;
    if (event.destroyed && event.waits === 0) core.function("cuEventDestroy")(event.handle);
    core.endWait();
  }
}
