// Rings of slots that bulk copies fill and warps empty, on Hopper: barriers that count bytes, waits
// for other blocks, and the order in which a block visits its tiles.
#pragma once
#include "batch.cuh"

namespace batch {

static __device__ __forceinline__ void initialise(unsigned barrier, unsigned count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}
static __device__ __forceinline__ void expect(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
static __device__ __forceinline__ void arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
static __device__ __forceinline__ bool passed(unsigned barrier, unsigned parity) {
  unsigned done;
  asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
               : "=r"(done)
               : "r"(barrier), "r"(parity)
               : "memory");
  return done != 0;
}
/**
 * For what ends by itself: a copy that was asked for, products of a slot that has come, a slot that
 * comes or is given up.
 */
static __device__ __forceinline__ void await(unsigned barrier, unsigned parity) {
  while (!passed(barrier, parity)) {}
}

/** Copies blocks that lie behind one another; a barrier counts their bytes. */
static __device__ __forceinline__ void copy(unsigned to, const void* from, unsigned bytes, unsigned barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), "l"(from), "r"(bytes), "r"(barrier)
               : "memory");
}
/**
 * Between a thread's stores to global memory and copies of what they wrote: on the side that
 * writes, and on the side that copies.
 */
static __device__ __forceinline__ void fenceCopies() { asm volatile("fence.proxy.async.global;" ::: "memory"); }

static __device__ __forceinline__ void storeRelease(unsigned* address, unsigned value) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}

/**
 * A warp waits, for at most `limit` clock ticks, until each of `blocks` row blocks has made `steps`
 * steps; false if it gave up or another did.
 */
static __device__ __forceinline__ bool haveMade(const unsigned* arrived, int blocks, unsigned steps, long long limit, int* stalled, int step) {
  const int lane = threadIdx.x & 31;
  long long begin = 0;
  for (unsigned tries = 0; steps > 0; tries++) {
    bool come = true;
    for (int b = lane; b < blocks; b += 32) come = come && loadAcquire(arrived + b) >= steps;
    if (__all_sync(0xffffffffu, come)) break;
    if (tries % 16 != 0) continue;
    if (tries == 0) begin = clock64();
    bool gaveUp = loadAcquire(reinterpret_cast<const unsigned*>(stalled)) != 0;
    if (!gaveUp && lane == 0 && clock64() - begin > limit) {
      gaveUp = true;
      if (atomicCAS(stalled, 0, blockIdx.x + 1) == 0) stalled[1] = step;
    }
    if (__any_sync(0xffffffffu, gaveUp)) return false;
  }
  // A vote orders no memory: what any lane found to have come is there for the one that copies
  // after this.
  __syncwarp();
  return true;
}

/** The next slot of a ring, and whether the ring has gone round an odd number of times. */
struct Turn {
  unsigned slot, parity;
  __device__ __forceinline__ void next(unsigned slots) {
    if (++slot == slots) slot = 0, parity ^= 1;
  }
};

/**
 * Visits every `stride`-th tile from `first` on that has not ended, step after step. A visit that
 * returns false ends it all.
 */
template <int TileSequences, typename Visit>
__device__ __forceinline__ void eachTile(const Data& data, const TileLengths& lengths, int first, int stride, int tiles, const Visit& visit) {
  for (int t = 0; t < data.steps; t++) {
    bool any = false;
    for (int tile = first, index = 0; tile < tiles; tile += stride, index++) {
      if (lengths.of<TileSequences>(data, index, first, stride) <= t) break;
      any = true;
      if (!visit(t, tile)) return;
    }
    if (!any) return;
  }
}

}  // namespace batch
