// A barrier for the worker threads of one reservoir. Without shared memory it is nothing.

/** Polls this often before it sleeps: a pure spin collapses when another process takes the core. */
const spins: i32 = 20000;

/**
 * Waits until all threads have come. At `address`: the arrivals of this round; 64 bytes on: the number of rounds that are over; 128 bytes on: how
 * many threads sleep. The host zeroes them once.
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
    if (atomic.load<i32>(sleepers) > 0) atomic.notify(rounds, -1);
    return;
  }
  for (let n = 0; n < spins; n++) if (atomic.load<i32>(rounds) != round) return;
  atomic.add<i32>(sleepers, 1);
  while (atomic.load<i32>(rounds) == round) atomic.wait<i32>(rounds, round, 1000000);
  atomic.sub<i32>(sleepers, 1);
}
