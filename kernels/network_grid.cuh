// What kernels of networks share that run on a grid with a barrier: synapses by source, and the
// barrier.
#pragma once
#include "exchange.cuh"
#include "network_neurons.cuh"

namespace network {

/** Synapses by source: src/spikes/network/plan.ts. */
struct Table {
  const unsigned *offsets, *destinations;
  const unsigned short* units;
  /** Which sources are negative, a bit each. */
  const unsigned* negative;
  /** In place of both: units with their signs; or null. */
  const int* wideUnits;
  int targetBits;
};

static __device__ __forceinline__ unsigned acquire(const unsigned* from) {
  unsigned value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
  return value;
}

/** Waits until all blocks have come here `round` times. False if one did not in time. */
static __device__ __forceinline__ bool barrier(unsigned* arrived, unsigned round, unsigned long long* report, unsigned step, long long limit) {
  __shared__ int lost;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrived, 1u);
    lost = 0;
    exchange::Patience patience(limit);
    while (acquire(arrived) < round * gridDim.x) {
      if (patience.over()) {
        reportStall(report, step);
        lost = 1;
        break;
      }
    }
    __threadfence();
  }
  __syncthreads();
  return lost == 0;
}

}  // namespace network
