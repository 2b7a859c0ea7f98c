// A dense reservoir in one thread block cluster: W in registers and shared memory, each state
// stored straight into the shared memory of every block, where an mbarrier counts the bytes that
// have come. Compiled for some shapes by reservoir_cluster.cu, and for any by NVRTC.
#pragma once
#include "recurrence.cuh"

namespace cluster {

using exchange::Four;
using exchange::Wide;
using recurrence::Neuron;
using recurrence::Steps;

static __device__ __forceinline__ unsigned inBlock(unsigned address, unsigned block) {
  unsigned there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(block));
  return there;
}

/** Stores to a block of the cluster that its barrier counts. */
static __device__ __forceinline__ void send(unsigned to, unsigned barrier, float value) {
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(to), "r"(__float_as_uint(value)), "r"(barrier)
               : "memory");
}
static __device__ __forceinline__ void send(unsigned to, unsigned barrier, double value) {
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u64 [%0], %1, [%2];" ::"r"(to), "l"(__double_as_longlong(value)), "r"(barrier)
               : "memory");
}

static __device__ __forceinline__ void initialise(unsigned barrier) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
}
static __device__ __forceinline__ void expect(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
static __device__ __forceinline__ bool passed(unsigned barrier, unsigned parity) {
  unsigned done;
  asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
               : "=r"(done)
               : "r"(barrier), "r"(parity)
               : "memory");
  return done != 0;
}
static __device__ __forceinline__ void synchronise() {
  asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
}

/**
 * What a launch adds to its steps. A group is 128 columns; W comes as
 * [block][warp][group][row][lane][4].
 */
template <typename Real> struct Layout {
  const Real* weights;
  exchange::Report* report;
  /**
   * Groups that hold columns and whose values all are written by some block, and those beyond
   * `Held`, which are in shared memory.
   */
  int groups, shared;
  long long spinLimit;
};

template <typename Real, int Rows, int Held, int Warps, typename Between>
static __device__ __forceinline__ void run(const Steps<Real>& steps, const Layout<Real>& layout, Four<Real>* memory, Wide* barriers,
                                           const Between& between) {
  constexpr int threads = Warps * 32, lanesOfRow = 32 / Rows;
  unsigned rank, blocks;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
  const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5;
  const int held = Held + layout.shared, xQuads = held * 32, first = (rank * Warps + warp) * Rows;
  Four<Real>* const x = memory;
  Four<Real>* const tiles = memory + 2 * xQuads + warp * layout.shared * Rows * 32 + lane;
  const Four<Real>* const source = reinterpret_cast<const Four<Real>*>(layout.weights) + (size_t)(rank * Warps + warp) * held * Rows * 32 + lane;
  Four<Real> w[Held][Rows];
#pragma unroll
  for (int g = 0; g < Held; g++)
#pragma unroll
    for (int r = 0; r < Rows; r++) w[g][r] = source[(g * Rows + r) * 32];
  for (int k = 0; k < layout.shared * Rows; k++) tiles[k * 32] = source[(Held * Rows + k) * 32];
  for (int i = tid; i < 2 * xQuads; i += threads) {
    Four<Real> four;
#pragma unroll
    for (int c = 0; c < 4; c++) {
      const int at = recurrence::neuronAt(4 * i + c);
      four.value[c] = i < xQuads && at < steps.size ? steps.state[at] : (Real)0;
    }
    x[i] = four;
  }
  const int slot = lane / lanesOfRow, part = lane % lanesOfRow;
  Neuron<Real> neuron(steps, recurrence::neuronAt(first + slot), part == 0);
  const unsigned barrier = (unsigned)__cvta_generic_to_shared(barriers), bufferBytes = xQuads * (unsigned)sizeof(Four<Real>);
  // Every lane of a row has its state, and stores it to every `lanesOfRow`-th block.
  constexpr int most = (16 + lanesOfRow - 1) / lanesOfRow;
  const unsigned mine = (unsigned)__cvta_generic_to_shared(x) + (first + slot) * (unsigned)sizeof(Real);
  unsigned remote[most], remoteBarrier[most];
#pragma unroll
  for (int k = 0; k < most; k++) {
    const unsigned target = part + k * lanesOfRow;
    remote[k] = target < blocks ? inBlock(mine, target) : 0;
    remoteBarrier[k] = target < blocks ? inBlock(barrier, target) : 0;
  }
  if (tid == 0) {
    initialise(barrier);
    initialise(barrier + 8);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  synchronise();

  bool stalled = false;
  const unsigned bytes = blocks * threads / 32 * Rows * (unsigned)sizeof(Real);
  // The states after the last step are not exchanged unless something is made of them.
  const int exchanged = steps.steps + (Between::closes ? 1 : 0);
  // Who loses patience runs on to the end, without waiting and without sending: the lanes of a warp
  // need not agree on it.
  auto await = [&](int step) {
    const unsigned at = barrier + 8 * (step & 1), phase = (step - 1) >> 1 & 1;
    if (step == 0 || stalled || passed(at, phase)) return;
    const long long end = clock64() + layout.spinLimit;
    while (!stalled && !passed(at, phase)) stalled = clock64() > end;
    if (stalled) exchange::reportStall(layout.report, rank, steps.firstStep + step);
  };
  for (int step = 0; step < steps.steps; step++) {
    const int parity = step & 1;
    if (tid == 0 && step + 1 < exchanged) expect(barrier + 8 * (parity ^ 1), bytes);
    await(step);
    const Four<Real>* column = x + parity * xQuads + lane;
    between.before(steps, neuron, step, recurrence::ByPosition<Real>{(column - lane)->value});
    recurrence::Partial<Real, Rows> partial;
    auto take = [&](const Four<Real>(&tile)[Rows]) {
      const Four<Real> four = *column;
      column += 32;
#pragma unroll
      for (int c = 0; c < 4; c++)
#pragma unroll
        for (int r = 0; r < Rows; r++) partial.add(r, c, tile[r].value[c], four.value[c]);
    };
#pragma unroll
    for (int g = 0; g < Held; g++) take(w[g]);
    for (int m = 0; m < layout.shared; m++) {
      Four<Real> tile[Rows];
#pragma unroll
      for (int r = 0; r < Rows; r++) tile[r] = tiles[(m * Rows + r) * 32];
      take(tile);
    }
    const Real value = neuron.advance(steps, recurrence::sumRows<Real, Rows, 32>(partial.rows()));
    if (step + 1 < exchanged && !stalled) {
      const unsigned ahead = (parity ^ 1) * bufferBytes;
#pragma unroll
      for (int k = 0; k < most; k++)
        if (remote[k] != 0) send(remote[k] + ahead, remoteBarrier[k] + 8 * (parity ^ 1), value);
    }
    neuron.finish(steps, step);
  }
  if (Between::closes) {
    await(steps.steps);
    between.after(steps, recurrence::ByPosition<Real>{(x + (steps.steps & 1) * xQuads)->value});
  }
  synchronise();
  if (!stalled) neuron.end(steps);
}

}  // namespace cluster
