// A barrier for the worker threads of one reservoir. Without shared memory it is nothing.

/**
 * Sleep at `address` while it holds `round`, a millisecond at most; wake whoever sleeps there. The
 * host does both with Atomics.wait and Atomics.notify: around memory.atomic.wait32 with a timeout
 * V8's baseline compiler loses locals, and threads leave a barrier early.
 */
// @ts-ignore: decorator
@external("env", "sleep")
declare function sleep(address: usize, round: i32): void;
// @ts-ignore: decorator
@external("env", "wake")
declare function wake(address: usize): void;

/** Polls this often before it sleeps: a pure spin collapses when another process takes the core. */
const spins: i32 = 20000;

/**
 * Waits until all threads have come. At `address`: the arrivals of this round; 64 bytes on: the
 * number of rounds that are over; 128 bytes on: how many threads sleep. The host zeroes them once.
 */
// @ts-ignore: decorator
@inline
export function barrier(address: usize, threads: i32): void {
  if (ASC_FEATURE_THREADS) {
    if (threads > 1) wait(address, threads);
  }
}

function wait(address: usize, threads: i32): void {
  const rounds = address + 64;
  const sleepers = address + 128;
  const round = atomic.load<i32>(rounds);
  if (atomic.add<i32>(address, 1) == threads - 1) {
    atomic.store<i32>(address, 0);
    atomic.add<i32>(rounds, 1);
    if (atomic.load<i32>(sleepers) > 0) wake(rounds);
    return;
  }
  for (let n = 0; n < spins; n++) if (atomic.load<i32>(rounds) != round) return;
  atomic.add<i32>(sleepers, 1);
  while (atomic.load<i32>(rounds) == round) sleep(rounds, round);
  atomic.sub<i32>(sleepers, 1);
}
