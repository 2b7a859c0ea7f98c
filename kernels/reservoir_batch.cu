// Many sequences through one dense W of binary32, in portable arithmetic (docs/internals/many-reservoirs.md). A
// warp's tile is rows x sequences; lane l sums the columns k with k mod 32 = l, and the tile's sums
// go over the lanes once, at the end.
// target: sm_80
#include "batch.cuh"

namespace {

using batch::Data;

constexpr int threads = 512, rowsOfBlock = 32;

/**
 * The butterfly over 32 lanes of `Count` sums at once: each stage halves the sums that a lane still
 * has.
 */
template <int Distance, int Count> __device__ __forceinline__ void acrossLanes(float (&sum)[Count]) {
  float half[Count / 2];
  const bool upper = threadIdx.x & Distance;
#pragma unroll
  for (int i = 0; i < Count / 2; i++) {
    const float sent = upper ? sum[i] : sum[i + Count / 2], kept = upper ? sum[i + Count / 2] : sum[i];
    half[i] = portable::add(kept, __shfl_xor_sync(0xffffffffu, sent, Distance));
  }
  if constexpr (Distance > 1) acrossLanes<Distance / 2>(half);
#pragma unroll
  for (int i = 0; i < Count / 2; i++) sum[i] = half[i];
}

/** The first sum that a lane ends with. */
template <int Count> __device__ __forceinline__ int firstSumOf(int lane) {
  int first = 0;
#pragma unroll
  for (int stage = 0; stage < 5; stage++) first += lane >> (4 - stage) & 1 ? Count >> (stage + 1) : 0;
  return first;
}

/**
 * Rows and sequences come in quads: [quad][column][4], columns padded to a multiple of 32. Lane l
 * reads four of them at column l + 32 j with one access.
 *
 * A block has 32 rows and every `groups`-th tile of 4 `SequenceQuads` sequences times 4.
 * `Resident`: its rows of W stay in shared memory for all steps, and a tile's step waits until all
 * blocks have made its last one. Otherwise W streams by beside the states, and a launch makes one
 * step.
 */
template <int SequenceQuads, bool Resident, int chunk, int stages>
__device__ __forceinline__ void run(const float4* __restrict__ weights, float4* exchange, unsigned* arrived, int* stalled, long long limit, int firstStep,
                                    int lastStep, int groups, const Data& data) {
  constexpr int warpRows = 8, sequencesOfWarp = 4 * SequenceQuads, tileSequences = 4 * sequencesOfWarp, tileQuads = tileSequences / 4;
  constexpr int rowQuads = rowsOfBlock / 4, stageQuads = tileQuads + (Resident ? 0 : rowQuads);
  constexpr int sums = warpRows * sequencesOfWarp, owned = sums / 32;
  extern __shared__ float4 shared[];
  __shared__ bool came;
  __shared__ batch::TileLengths tileLengths;
  const int size = data.size, padded = (size + 31) / 32 * 32, chunks = (padded + chunk - 1) / chunk;
  float4* const residents = shared;
  float4* const ring = shared + (Resident ? (size_t)rowQuads * padded : 0);
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warpRow = warp & 3, warpSequence = warp >> 2;
  const int rowBlock = blockIdx.x / groups, group = blockIdx.x % groups, rowBlocks = (size + rowsOfBlock - 1) / rowsOfBlock;
  const int tiles = (data.sequences + tileSequences - 1) / tileSequences;
  const size_t buffer = (size_t)tiles * tileQuads * padded;
  const float4* const ownWeights = weights + (size_t)rowBlock * rowQuads * padded;

  if (Resident) {
    for (int i = threadIdx.x; i < rowQuads * padded; i += threads) batch::copyAsync(batch::sharedAddress(residents + i), ownWeights + i);
    batch::commitCopies();
  }
  tileLengths.load<tileSequences>(data, group, groups, tiles);
  __syncthreads();
  auto lengthOf = [&](int tile) { return tileLengths.of<tileSequences>(data, (tile - group) / groups, group, groups); };

  // Lengths fall: the first sequence of a tile is its longest, and a tile that has ended ends its
  // step.
  auto follows = [&](int& t, int& tile) {
    tile += groups;
    if (tile < tiles && lengthOf(tile) > t) return true;
    tile = group;
    return ++t < lastStep && lengthOf(tile) > t;
  };
  /** Waits until the states that a tile's step begins with have come from every block. */
  auto await = [&](int t, int tile) {
    if (Resident && threadIdx.x == 0)
      came = t == firstStep || batch::waitFor(arrived + tile, (unsigned)(rowBlocks * (t - firstStep)), limit, stalled, data.firstStep + t);
  };
  constexpr int quadsAtOnce = threads / chunk, ringBytes = stages * stageQuads * chunk * 16, slotBytes = stageQuads * chunk * 16;
  const int column = threadIdx.x % chunk, firstQuad = threadIdx.x / chunk;
  const unsigned ringStart = batch::sharedAddress(ring + threadIdx.x);
  unsigned staged = 0;
  /** Asks for chunk `c` of a tile's states, and of W if that is not resident. */
  auto stage = [&](int t, int tile, int c) {
    if (c < chunks) {
      const float4* from = exchange + (t & 1 ? buffer : 0) + ((size_t)tile * tileQuads + firstQuad) * padded + c * chunk + column;
      const unsigned to = ringStart + staged;
      if (c * chunk + column < padded) {
#pragma unroll
        for (int quad = 0; quad < tileQuads; quad += quadsAtOnce) batch::copyAsync(to + quad * chunk * 16, from + (size_t)quad * padded);
        if (!Resident) {
          from = ownWeights + (size_t)firstQuad * padded + c * chunk + column;
#pragma unroll
          for (int quad = 0; quad < rowQuads; quad += quadsAtOnce)
            batch::copyAsync(to + (tileQuads + quad) * chunk * 16, from + (size_t)quad * padded);
        }
      }
      staged = staged + slotBytes == ringBytes ? 0 : staged + slotBytes;
    }
    batch::commitCopies();
  };

  int t = firstStep, tile = group, used = 0;
  bool more = t < lastStep && tile < tiles && lengthOf(tile) > t, ahead = false;
  while (more) {
    int nextStep = t, nextTile = tile;
    more = follows(nextStep, nextTile);
    // All blocks computed another tile's states before this one's: its chunks may be asked for
    // while this one's are used up.
    const bool overlap = more && nextTile != tile && chunks >= stages;
    const float* const now = reinterpret_cast<const float*>(exchange + (t & 1 ? buffer : 0));
    float* const next = reinterpret_cast<float*>(exchange + (t & 1 ? 0 : buffer));
    const int firstSum = firstSumOf<sums>(lane);
    const int sequence = tile * tileSequences + warpSequence * sequencesOfWarp + firstSum / warpRows;
    const int row = rowBlock * rowsOfBlock + warpRow * warpRows + firstSum % warpRows;
    // Everything that the step's end reads is this block's own. It is asked for before the wait and
    // the products. Beyond the edges the reads are from within them, so no read waits for another.
    const size_t within = min(sequence, data.sequences - 1);
    const int length = data.lengths[within];
    float driven[owned], x[owned], leak[owned];
#pragma unroll
    for (int i = 0; i < owned; i++) {
      const int neuron = min(row + i, size - 1);
      leak[i] = data.leak[neuron];
      driven[i] = data.drive[(within * data.steps + t) * size + neuron];
      x[i] = __ldcg(now + ((within / 4) * padded + neuron) * 4 + within % 4);
    }

    if (!ahead) {
      await(t, tile);
      __syncthreads();
      if (Resident && !came) return;
#pragma unroll
      for (int c = 0; c < stages - 1; c++) stage(t, tile, c);
    }

    float sum[sums];
#pragma unroll
    for (int i = 0; i < sums; i++) sum[i] = 0.0f;
    for (int c = 0; c < chunks; c++) {
      const int asked = c + stages - 1;
      batch::waitForCopies<stages - 2>();
      if (overlap && asked == chunks) await(nextStep, nextTile);
      __syncthreads();
      if (Resident && overlap && asked == chunks && !came) return;
      if (overlap && asked >= chunks) stage(nextStep, nextTile, asked - chunks);
      else stage(t, tile, asked);
      const float4* const current = ring + (size_t)used * stageQuads * chunk;
      used = used + 1 == stages ? 0 : used + 1;
      const float4* const xs = current + (size_t)warpSequence * SequenceQuads * chunk;
      const float4* const ws = Resident ? residents + (size_t)warpRow * 2 * padded + c * chunk : current + (size_t)(tileQuads + warpRow * 2) * chunk;
      const int pitch = Resident ? padded : chunk;
      auto columns = [&](int k) {
        const float4 w0 = ws[k], w1 = ws[pitch + k];
        const float w[warpRows] = {w0.x, w0.y, w0.z, w0.w, w1.x, w1.y, w1.z, w1.w};
#pragma unroll
        for (int quad = 0; quad < SequenceQuads; quad++) {
          const float4 x4 = xs[quad * chunk + k];
          const float v[4] = {x4.x, x4.y, x4.z, x4.w};
#pragma unroll
          for (int s = 0; s < 4; s++)
#pragma unroll
            for (int r = 0; r < warpRows; r++)
              sum[(quad * 4 + s) * warpRows + r] = portable::mulAdd(w[r], v[s], sum[(quad * 4 + s) * warpRows + r]);
        }
      };
      if ((c + 1) * chunk <= padded) {
#pragma unroll
        for (int k = 0; k < chunk; k += 32) columns(k + lane);
      } else {
        for (int k = 0; k < padded - c * chunk; k += 32) columns(k + lane);
      }
    }

    acrossLanes<16>(sum);
    const bool live = sequence < data.sequences && t < length;
#pragma unroll
    for (int i = 0; i < owned; i++) {
      if (!live || row + i >= size) continue;
      x[i] = batch::finishStep(data, sequence, row + i, t, driven[i], sum[i], x[i], leak[i]);
      next[((size_t)(sequence / 4) * padded + row + i) * 4 + sequence % 4] = x[i];
    }
    __syncthreads();
    if (Resident && threadIdx.x == 0) {
      __threadfence();
      atomicAdd(arrived + tile, 1u);
    }
    // Nobody waits for these.
#pragma unroll
    for (int i = 0; i < owned; i++) {
      if (!live || row + i >= size) continue;
      if (data.states) data.states[((size_t)sequence * data.steps + t) * size + row + i] = x[i];
      if (t + 1 == length) data.state[(size_t)sequence * size + row + i] = x[i];
    }
    t = nextStep;
    tile = nextTile;
    ahead = overlap;
  }
  batch::waitForCopies<0>();
}

}  // namespace

#define BATCH(name, sequenceQuads, resident, chunk, stages)                                                                                                        \
  extern "C" __global__ void __launch_bounds__(threads, 1)                                                                                          \
      name(const float* weights, float* exchange, unsigned* arrived, int* stalled, long long limit, int first, int last, int groups,                \
           const float* drive, const float* feedback, const float* leak, float* states, float* state, const int* lengths, const int* numbers,       \
           unsigned long long* failures, unsigned key0, unsigned key1, float noise, int size, int sequences, int steps, int firstStep,              \
           int activation) {                                                                                                                        \
    run<sequenceQuads, resident, chunk, stages>(                                                                                                                   \
        reinterpret_cast<const float4*>(weights), reinterpret_cast<float4*>(exchange), arrived, stalled, limit, first, last, groups,               \
        Data{drive, feedback, leak, states, state, lengths, numbers, failures, key0, key1, noise, size, sequences, steps, firstStep, activation});  \
  }

/**
 * Tiles of 32 rows x 16 sequences and of 32 x 32; W in shared memory for all steps, or read again
 * in each.
 */
BATCH(reservoir_batch_16, 1, true, 128, 4)
BATCH(reservoir_batch_32, 2, true, 256, 2)
BATCH(reservoir_batch_step_16, 1, false, 128, 4)
BATCH(reservoir_batch_step_32, 2, false, 128, 4)
