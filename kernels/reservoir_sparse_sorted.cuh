// A sparse reservoir over the whole device in one launch, for states that nearly fill a block's
// shared memory. One lane has a row, or 2 or 4 lanes share it. A block's rows are sorted by length,
// so few registers are padding. The states come from L2 in chunks of rising columns by bulk copies,
// while sums over the chunks before go on. Compiled for some shapes by reservoir_sparse_sorted.cu.
#pragma once
#include "recurrence.cuh"

namespace sorted {

using recurrence::Neuron;
using recurrence::Steps;

/** Pieces in which a block takes the states of a step, each by a copy of its own. */
constexpr int Chunks = 4;

/**
 * Eight entries of a lane: their values and columns. Entry m of a row is in lane m mod Lanes of its
 * rows' lanes, padded by zeros at column 0.
 */
struct alignas(16) Unit {
  float value[8];
  unsigned short column[8];
};

/** A lane's 16 bytes of a unit stand beside those of the other lanes. */
constexpr int parts = (int)sizeof(Unit) / 16, stride = parts * 32;

union Loaded {
  uint4 part[parts];
  Unit unit;
};

static __device__ __forceinline__ void load(const uint4* from, Loaded& to) {
#pragma unroll
  for (int p = 0; p < parts; p++) to.part[p] = from[p * 32];
}

/**
 * What a warp finds in memory about itself. Its units stand in the order of its sums: `ahead`
 * units, 0 or 1, that are streamed before the states of a step are here, those in registers, and
 * the rest, streamed and in shared memory by turns while there are both.
 */
struct Warp {
  /** Its first unit of `entries`, and where the shared ones begin in shared memory. */
  unsigned first, sharedAt;
  unsigned short units, ahead, held, shared;
  /** Chunks of states that the sums of each third of the registers' units want. */
  unsigned wanted[3];
  /** Each lane's row in the block, or -1. */
  int row[32];
};

/** Where states are handed on. */
struct Exchanged {
  /**
   * One a chunk, 32 words apart: blocks of it that have handed over states, over all steps of all
   * launches.
   */
  unsigned counters[Chunks][32];
  /** [parity][neuron]: the states of a step. */
  float states[1];
};

/**
 * What a launch over blocks adds to its steps. Block b makes the neurons from b times `rowsOfBlock`
 * on.
 */
struct Layout {
  const uint4* entries;
  const Warp* warps;
  Exchanged* exchanged;
  exchange::Report* report;
  /** A multiple of 4. */
  int rowsOfBlock;
  long long spinLimit;
};

static __device__ __forceinline__ unsigned sharedAddress(const void* at) { return (unsigned)__cvta_generic_to_shared(at); }

/** The barrier of a chunk of states: its phase ends when all bytes of a copy are here. */
struct Arrival {
  unsigned long long word;
  __device__ __forceinline__ void init() {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(sharedAddress(&word)) : "memory");
  }
  /** Says how many bytes the phase ends with, which may be none. */
  __device__ __forceinline__ void expect(unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(sharedAddress(&word)), "r"(bytes) : "memory");
  }
  __device__ __forceinline__ void copy(float* to, const float* from, unsigned bytes) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(sharedAddress(to)),
                 "l"(from), "r"(bytes), "r"(sharedAddress(&word))
                 : "memory");
  }
  __device__ __forceinline__ bool over(unsigned parity) {
    unsigned done;
    asm volatile("{\n\t.reg .pred over;\n\tmbarrier.try_wait.parity.shared::cta.b64 over, [%1], %2;\n\tselp.u32 %0, 1, 0, over;\n\t}"
                 : "=r"(done)
                 : "r"(sharedAddress(&word)), "r"(parity)
                 : "memory");
    return done != 0;
  }
};

/** What a block keeps in static shared memory. */
struct Kept {
  Arrival arrivals[Chunks];
  /**
   * [parity]: whether the states before a step of that parity did not come. The other parity's may
   * be written meanwhile.
   */
  int stop[2];
};

template <int Lanes, int Held, int Warps>
static __device__ __forceinline__ void run(const Steps<float>& steps, const Layout& layout, unsigned char* memory, Kept& kept) {
  constexpr int threads = Warps * 32, sums = 8 / Lanes;
  const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5, blocks = gridDim.x, rowsOfBlock = layout.rowsOfBlock;
  const int all = blocks * rowsOfBlock;
  float* const x = reinterpret_cast<float*>(memory);
  const Warp& own = layout.warps[blockIdx.x * Warps + warp];
  const int ahead = own.ahead, shared = own.shared, beyond = ahead + own.held, streamed = own.units - beyond - shared;
  const uint4* const source = layout.entries + (size_t)own.first * stride + lane;
  uint4* const near = reinterpret_cast<uint4*>(memory + all * sizeof(float)) + own.sharedAt * stride + lane;
  const unsigned wanted = own.wanted[0] | own.wanted[1] << 8 | own.wanted[2] << 16;
  Loaded w[Held];
#pragma unroll
  for (int u = 0; u < Held; u++) {
#pragma unroll
    for (int p = 0; p < parts; p++) w[u].part[p] = make_uint4(0, 0, 0, 0);
    if (u < own.held) load(source + (ahead + u) * stride, w[u]);
  }
  const int turns = min(shared, streamed);
  const uint4* const rest = source + beyond * stride;
  for (int u = 0; u < shared; u++) {
    Loaded unit;
    load(rest + (u < turns ? 2 * u + 1 : turns + u) * stride, unit);
#pragma unroll
    for (int p = 0; p < parts; p++) near[u * stride + p * 32] = unit.part[p];
  }
  for (int i = tid; i < all; i += threads) x[i] = i < steps.size ? steps.state[i] : 0.0f;
  const int row = own.row[lane], position = row < 0 ? all : blockIdx.x * rowsOfBlock + row;
  Neuron<float> neuron(steps, row < 0 ? steps.size : position, lane % Lanes == 0);
  const unsigned generation0 = (unsigned)layout.report->generations[0];
  int chunkOfBlock = 0;
#pragma unroll
  for (int c = 1; c < Chunks; c++)
    if ((int)blockIdx.x >= blocks * c / Chunks) chunkOfBlock = c;
  // Chunk c is the business of lane c of the last warp, whose rows are the shortest.
  const bool copies = warp == Warps - 1;
  if (tid < 2) kept.stop[tid] = 0;
  if (tid == 0) {
#pragma unroll
    for (Arrival& arrival : kept.arrivals) arrival.init();
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();

  for (int step = 0; step < steps.steps; step++) {
    Loaded next;
    if (ahead > 0) load(source, next);
    float sum[sums];
#pragma unroll
    for (int k = 0; k < sums; k++) sum[k] = 0.0f;
    int chunk = 0;
    auto arrived = [&](int count) {
      for (; chunk < count; chunk++)
        // The states before step 0 are here: the phase before a barrier's first, whose parity is 1.
        while (!kept.arrivals[chunk].over(~step & 1)) {
        }
    };
    auto take = [&](const Unit& unit) {
      float gathered[8];
#pragma unroll
      for (int k = 0; k < 8; k++) gathered[k] = x[unit.column[k]];
#pragma unroll
      for (int k = 0; k < 8; k++) sum[k % sums] = recurrence::arithmetic::mulAdd(unit.value[k], gathered[k], sum[k % sums]);
    };
#pragma unroll
    for (int third = 0; third < 3; third++) {
      arrived(wanted >> 8 * third & 255);
      if (third == 0 && ahead > 0) take(next.unit);
#pragma unroll
      for (int u = third * Held / 3; u < (third + 1) * Held / 3; u++) {
        // Unpacked before the loop, the columns would take twice the registers.
        asm volatile("" : "+r"(w[u].part[2].x), "+r"(w[u].part[2].y), "+r"(w[u].part[2].z), "+r"(w[u].part[2].w));
        take(w[u].unit);
      }
    }
    arrived(Chunks);
    if (streamed > 0) load(rest, next);
#pragma unroll 1
    for (int u = 0; u < turns; u++) {
      Loaded unit = next;
      if (u + 1 < streamed) load(rest + (u + 1 < turns ? 2 * u + 2 : turns + u + 1) * stride, next);
      take(unit.unit);
      load(near + u * stride, unit);
      take(unit.unit);
    }
#pragma unroll 1
    for (int u = turns; u < shared; u++) {
      Loaded unit;
      load(near + u * stride, unit);
      take(unit.unit);
    }
#pragma unroll 1
    for (int u = turns; u < streamed; u++) {
      const Loaded unit = next;
      if (u + 1 < streamed) load(rest + (turns + u + 1) * stride, next);
      take(unit.unit);
    }
#pragma unroll
    for (int apart = sums / 2; apart > 0; apart /= 2)
#pragma unroll
      for (int k = 0; k < apart; k++) sum[k] = portable::add(sum[k], sum[k + apart]);
    float dot = sum[0];
#pragma unroll
    for (int distance = Lanes / 2; distance > 0; distance /= 2) dot = portable::add(dot, __shfl_xor_sync(0xffffffffu, dot, distance));
    const float value = neuron.advance(steps, dot);
    float* const out = layout.exchanged->states + (step & 1) * all;
    if (neuron.writes) __stcg(out + position, value);
    // The next states go where these have been read.
    __syncthreads();
    if (kept.stop[step & 1] != 0) return;
    if (tid == 0) asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(layout.exchanged->counters[chunkOfBlock]) : "memory");
    if (copies) {
      const int c = min(lane, Chunks - 1), from = blocks * c / Chunks, to = blocks * (c + 1) / Chunks;
      const unsigned bytes = (to - from) * rowsOfBlock * sizeof(float), whole = (generation0 + step + 1) * (unsigned)(to - from);
      exchange::Patience patience(layout.spinLimit);
      bool impatient = false;
      unsigned counted;
      do {
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(counted) : "l"(layout.exchanged->counters[c]) : "memory");
        impatient = patience.over();
      } while (!__all_sync(0xffffffffu, impatient || (int)(counted - whole) >= 0));
      const bool stopped = __any_sync(0xffffffffu, impatient);
      if (stopped && lane == 0) {
        exchange::reportStall(layout.report, blockIdx.x, steps.firstStep + step);
        kept.stop[(step + 1) & 1] = 1;
      }
      __syncwarp();
      // States that other threads stored, and copies that read them.
      asm volatile("fence.proxy.async.global;" ::: "memory");
      if (lane < Chunks && step + 1 < steps.steps) {
        // A chunk that does not come still ends its phase: the block meets once more and leaves.
        kept.arrivals[c].expect(stopped ? 0 : bytes);
        if (!stopped && bytes > 0) kept.arrivals[c].copy(x + from * rowsOfBlock, out + from * rowsOfBlock, bytes);
      }
      __syncwarp();
    }
    // Only now what nobody waits for: a fence before would wait for it.
    neuron.finish(steps, step);
  }
  // By now every block has read the states before the chunk.
  __syncthreads();
  if (kept.stop[steps.steps & 1] != 0) return;
  neuron.end(steps);
  if (blockIdx.x == 0 && tid == 0) layout.report->generations[0] = generation0 + steps.steps;
}

}  // namespace sorted
