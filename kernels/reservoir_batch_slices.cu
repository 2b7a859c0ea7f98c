// Many sequences through one dense W of binary32 on Hopper, in portable arithmetic: the warps of a
// block divide the 32 partial sums of rule 1 among them (docs/internals/many-reservoirs.md).
// target: sm_90a
#include "batch_ring.cuh"

namespace {

using batch::Data;

/**
 * A block's tile has 64 rows and 64 sequences. Each of four teams of two warps makes every fourth
 * partial sum of the whole tile, one after the other in the order in which the butterfly adds them;
 * a thread has 8 rows x 8 sequences of a sum.
 *
 * The butterfly's first stage adds in registers. Sums of the next two wait in shared memory, a
 * buffer for each stage, and the last two stages add what the teams have left there.
 */
constexpr int edge = 64, teams = 4, teamThreads = 64, threads = teams * teamThreads, copyThreads = 128;
constexpr int threadRows = 8, sums = threadRows * 8, quads = sums / 4, ownQuads = quads / teams;
constexpr int turns = 32 / teams, parks = 2, parkBytes = threads * sums * 4;
/** W and states come in slots: [team][column][row or sequence of the tile]. */
constexpr int slotColumns = 8, slots = 6, halfBytes = teams * slotColumns * edge * 4, slotBytes = 2 * halfBytes;

/** What a block's warps share beside parked sums and slots. */
struct Shared {
  unsigned long long full[slots], empty[slots];
  /** Whether a wait for other blocks went past its limit: no more states come then. */
  int lost;
  batch::TileLengths lengths;
  float leak[edge];
};

/** Four neighbouring neurons of a row of `size`; beyond its end from within it. */
__device__ __forceinline__ void loadQuad(const float* from, int neuron, int size, float (&to)[4]) {
  if (size % 4 == 0) {
    const float4 four = *reinterpret_cast<const float4*>(from + min(neuron, size - 4));
    to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
  } else {
#pragma unroll
    for (int e = 0; e < 4; e++) to[e] = from[min(neuron + e, size - 1)];
  }
}
__device__ __forceinline__ void storeQuad(float* to, int neuron, int size, const float (&values)[4]) {
  if (size % 4 == 0) {
    if (neuron < size) *reinterpret_cast<float4*>(to + neuron) = make_float4(values[0], values[1], values[2], values[3]);
  } else {
#pragma unroll
    for (int e = 0; e < 4; e++)
      if (neuron + e < size) to[neuron + e] = values[e];
  }
}

/** A barrier of the teams. */
__device__ __forceinline__ void together() { asm volatile("bar.sync 1, %0;" ::"n"(threads) : "memory"); }

/** Where column `k` of the first sequence lies in a tile of states, in values. */
__device__ __forceinline__ int slotOf(int k, int slotsOfSum) {
  const int partial = k % 32, column = k / 32, turn = __brev(partial / teams) >> 29;
  const int slot = turn * slotsOfSum + column / slotColumns;
  return ((slot * teams + partial % teams) * slotColumns + column % slotColumns) * edge;
}

/** Asks for the slots of W and of states, tile after tile and step after step: by one warp. */
__device__ __forceinline__ void copySlots(Shared& shared, unsigned ring, const float* weights, const float* exchange, unsigned* arrived, int* stalled,
                                          long long limit, int group, int groups, int tiles, int rowBlocks, size_t tileValues, const Data& data) {
  const int lane = threadIdx.x & 31;
  const unsigned full = batch::sharedAddress(shared.full), empty = batch::sharedAddress(shared.empty);
  batch::Turn turn = {0, 1};
  batch::eachTile<edge>(data, shared.lengths, group, groups, tiles, [&](int t, int tile) {
    if (!batch::haveMade(arrived + (size_t)tile * rowBlocks, rowBlocks, t, limit, stalled, data.firstStep + t)) {
      if (lane != 0) return false;
      // When all that was copied is used up, the next slot comes with nothing in it but this word.
      for (int slot = 0; slot < slots; slot++, turn.next(slots)) batch::await(empty + turn.slot * 8, turn.parity);
      shared.lost = 1;
      batch::arrive(full + turn.slot * 8);
      return false;
    }
    if (lane != 0) return true;
    batch::fenceCopies();
    const float* const states = exchange + ((t & 1 ? tiles : 0) + tile) * tileValues;
    for (size_t from = 0; from < tileValues; from += halfBytes / 4, turn.next(slots)) {
      const unsigned came = full + turn.slot * 8, to = ring + turn.slot * slotBytes;
      batch::await(empty + turn.slot * 8, turn.parity);
      batch::expect(came, slotBytes);
      batch::copy(to, weights + from, halfBytes, came);
      batch::copy(to + halfBytes, states + from, halfBytes, came);
    }
    return true;
  });
}

/**
 * `weights` is [row block], `exchange` two of [tile], of [slot of a column][row or sequence].
 * `arrived` is [tile][row block]: the steps that a row block has made of a tile. The blocks of a
 * group have the same tiles: every `groups`-th.
 */
__device__ __forceinline__ void run(const float* __restrict__ weights, float* exchange, unsigned* arrived, int* stalled, long long limit, int groups,
                                    const Data& data) {
  extern __shared__ float4 memory[];
  __shared__ Shared shared;
  const int size = data.size, slotsOfSum = (size + 32 * slotColumns - 1) / (32 * slotColumns);
  const int rowBlocks = (size + edge - 1) / edge, rowBlock = blockIdx.x % rowBlocks, group = blockIdx.x / rowBlocks;
  const int tiles = (data.sequences + edge - 1) / edge, lane = threadIdx.x & 31, warp = __shfl_sync(0xffffffffu, threadIdx.x >> 5, 0);
  const size_t tileValues = (size_t)slotsOfSum * 32 * slotColumns * edge;
  const unsigned full = batch::sharedAddress(shared.full), empty = batch::sharedAddress(shared.empty);
  const char* const ring = reinterpret_cast<const char*>(memory) + parks * parkBytes;

  shared.lengths.load<edge>(data, group, groups, tiles);
  if (threadIdx.x < edge) shared.leak[threadIdx.x] = data.leak[min(rowBlock * edge + (int)threadIdx.x, size - 1)];
  if (threadIdx.x == 0) {
    shared.lost = 0;
    for (int slot = 0; slot < slots; slot++) {
      batch::initialise(full + slot * 8, 1);
      batch::initialise(empty + slot * 8, threads);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();

  // Four warps give up their registers for the teams, since they do so together; one of them
  // copies.
  if (warp >= threads / 32) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (warp == threads / 32)
      copySlots(shared, batch::sharedAddress(ring), weights + (size_t)rowBlock * tileValues, exchange, arrived, stalled, limit, group, groups, tiles,
                rowBlocks, tileValues, data);
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");

  // A team's first warp has rows 0 to 31, its second the others. A lane has the quads q and q + 4
  // of these 8 quads of rows, and q and q + 8 of 16 quads of sequences.
  const int team = warp / 2, ownRow = warp % 2 * 32 + lane % 4 * 4, ownSequence = lane / 4 * 4;
  const int ownColumns = team * slotColumns * edge;
  const char* const ownRows = ring + (ownColumns + ownRow) * 4;
  const char* const ownSequences = ring + halfBytes + (ownColumns + ownSequence) * 4;
  float4* const park = memory + threadIdx.x;
  batch::Turn turn = {0, 0};

  auto partialSum = [&](float (&sum)[sums]) {
#pragma unroll
    for (float& each : sum) each = 0.0f;
#pragma unroll 1
    for (int slot = 0; slot < slotsOfSum; slot++) {
      batch::await(full + turn.slot * 8, turn.parity);
      const char* const ws = ownRows + turn.slot * slotBytes;
      const char* const xs = ownSequences + turn.slot * slotBytes;
#pragma unroll
      for (int k = 0; k < slotColumns; k++) {
        const float4 w0 = *reinterpret_cast<const float4*>(ws + k * edge * 4), w1 = *reinterpret_cast<const float4*>(ws + (k * edge + 16) * 4);
        const float4 x0 = *reinterpret_cast<const float4*>(xs + k * edge * 4), x1 = *reinterpret_cast<const float4*>(xs + (k * edge + 32) * 4);
        const float w[8] = {w0.x, w0.y, w0.z, w0.w, w1.x, w1.y, w1.z, w1.w}, x[8] = {x0.x, x0.y, x0.z, x0.w, x1.x, x1.y, x1.z, x1.w};
#pragma unroll
        for (int s = 0; s < 8; s++)
#pragma unroll
          for (int r = 0; r < threadRows; r++) sum[s * threadRows + r] = portable::mulAdd(w[r], x[s], sum[s * threadRows + r]);
      }
      __syncwarp();
      // Each lane for what it has read itself.
      batch::arrive(empty + turn.slot * 8);
      turn.next(slots);
    }
  };

  batch::eachTile<edge>(data, shared.lengths, group, groups, tiles, [&](int t, int tile) {
    // A thread ends the step of `ownQuads` quads of rows, of those that one thread of each team
    // sums.
    const int owner = threadIdx.x % teamThreads, firstQuad = threadIdx.x / teamThreads * ownQuads;
    const int firstRow = rowBlock * edge + owner / 32 * 32 + lane % 4 * 4;
    auto neuronOf = [&](int quad) { return firstRow + quad % 2 * 16; };
    auto inTileOf = [&](int quad) { return ownSequence + quad / 2 % 4 + quad / 8 * 32; };
    auto withinOf = [&](int quad) { return (size_t)min(tile * edge + inTileOf(quad), data.sequences - 1); };
#pragma unroll
    for (int quad = firstQuad; quad < firstQuad + ownQuads; quad++) {
      const float* const driven = data.drive + (withinOf(quad) * data.steps + t) * size + min(neuronOf(quad), size - 1);
      asm volatile("prefetch.global.L2 [%0];" ::"l"(driven));
    }

    batch::await(full + turn.slot * 8, turn.parity);
    // Read by a lane that gives the slot back later, which is what the word's writer waits for.
    if (__any_sync(0xffffffffu, lane == 0 && shared.lost != 0)) return false;
    float sum[sums];
#pragma unroll 1
    for (int pair = 0; pair < turns / 2; pair++) {
      float before[sums];
      // One copy of the products' code: two would not fit the first caches of instructions.
#pragma unroll 1
      for (int half = 0; half < 2; half++) {
        if (half == 1) {
#pragma unroll
          for (int i = 0; i < sums; i++) before[i] = sum[i];
        }
        partialSum(sum);
      }
#pragma unroll
      for (int i = 0; i < sums; i++) sum[i] = portable::add(before[i], sum[i]);
      int stage = 0;
      for (; pair >> stage & 1; stage++) {
#pragma unroll
        for (int q = 0; q < quads; q++) {
          const float4 parked = park[(stage * quads + q) * threads];
          sum[q * 4] = portable::add(parked.x, sum[q * 4]), sum[q * 4 + 1] = portable::add(parked.y, sum[q * 4 + 1]);
          sum[q * 4 + 2] = portable::add(parked.z, sum[q * 4 + 2]), sum[q * 4 + 3] = portable::add(parked.w, sum[q * 4 + 3]);
        }
      }
      const int buffer = pair + 1 < turns / 2 ? stage : 0;
#pragma unroll
      for (int q = 0; q < quads; q++)
        park[(buffer * quads + q) * threads] = make_float4(sum[q * 4], sum[q * 4 + 1], sum[q * 4 + 2], sum[q * 4 + 3]);
    }

    // Read a quad ahead of its end.
    float driven[4], x[4];
    int length;
    auto read = [&](int quad) {
      loadQuad(data.drive + (withinOf(quad) * data.steps + t) * size, neuronOf(quad), size, driven);
      loadQuad(data.state + withinOf(quad) * size, neuronOf(quad), size, x);
      length = data.lengths[withinOf(quad)];
    };
    read(firstQuad);
    together();
#pragma unroll 1
    for (int quad = firstQuad; quad < firstQuad + ownQuads; quad++) {
      const int inTile = inTileOf(quad), sequence = tile * edge + inTile, neuron = neuronOf(quad);
      const bool live = sequence < data.sequences && neuron < size && t < length;
      float of[teams][4], dot[4], input[4], next[4], leak[4];
#pragma unroll
      for (int each = 0; each < teams; each++) {
        const float4 four = memory[quad * threads + each * teamThreads + owner];
        of[each][0] = four.x, of[each][1] = four.y, of[each][2] = four.z, of[each][3] = four.w;
      }
#pragma unroll
      for (int e = 0; e < 4; e++) {
        dot[e] = portable::add(portable::add(of[0][e], of[2][e]), portable::add(of[1][e], of[3][e]));
        input[e] = driven[e], next[e] = x[e], leak[e] = shared.leak[neuron - rowBlock * edge + e];
      }
      if (quad + 1 < firstQuad + ownQuads) read(quad + 1);
      if (!live) continue;
      batch::finishSteps(data, sequence, neuron, t, input, dot, leak, next);
      float* const to = exchange + ((t & 1 ? 0 : tiles) + tile) * tileValues + inTile;
#pragma unroll
      for (int e = 0; e < 4; e++)
        if (neuron + e < size) to[slotOf(neuron + e, slotsOfSum)] = next[e];
      storeQuad(data.state + (size_t)sequence * size, neuron, size, next);
      if (data.states) storeQuad(data.states + ((size_t)sequence * data.steps + t) * size, neuron, size, next);
    }
    batch::fenceCopies();
    together();
    if (threadIdx.x == 0) batch::storeRelease(arrived + (size_t)tile * rowBlocks + rowBlock, t + 1);
    return true;
  });
}

}  // namespace

extern "C" __global__ void __launch_bounds__(threads + copyThreads, 1)
    reservoir_batch_slices(const float* weights, float* exchange, unsigned* arrived, int* stalled, long long limit, int groups, const float* drive,
                           const float* feedback, const float* leak, float* states, float* state, const int* lengths, const int* numbers,
                           unsigned long long* failures, unsigned key0, unsigned key1, float noise, int size, int sequences, int steps, int firstStep,
                           int activation) {
  run(weights, exchange, arrived, stalled, limit, groups,
      Data{drive, feedback, leak, states, state, lengths, numbers, failures, key0, key1, noise, size, sequences, steps, firstStep, activation});
}
