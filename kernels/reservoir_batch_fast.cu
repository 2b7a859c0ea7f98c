// Many sequences through one dense W by tensor cores: products of binary16 weights and states, sums
// and states in binary32. It does not give the bits of portable arithmetic; docs/internals/many-reservoirs.md has
// the tolerance. Only for states between -1 and 1.
// target: sm_80
#include "approximate.cuh"
#include "batch.cuh"

namespace {

using batch::Data;
using approximate::half_bits;

static __device__ __forceinline__ void loadMatrices(unsigned (&to)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address));
}

static __device__ __forceinline__ void multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/**
 * A block has `Rows` rows of W in shared memory for all steps and every `groups`-th tile of
 * `Sequences` sequences; `RowWarps` x `SequenceWarps` x `ColumnWarps` warps share a tile and its
 * columns. `weights` is [row][column] and `exchange` two of [sequence][column], columns padded to a
 * multiple of `Chunk`.
 */
template <int Rows, int Sequences, int RowWarps, int SequenceWarps, int ColumnWarps, int Chunk, int Stages>
__device__ __forceinline__ void run(const half_bits* __restrict__ weights, half_bits* exchange, unsigned* arrived, int* stalled, long long limit, int groups,
                                    const Data& data) {
  constexpr int threads = RowWarps * SequenceWarps * ColumnWarps * 32;
  constexpr int rowParts = Rows / RowWarps / 16, sequenceParts = Sequences / SequenceWarps / 8, stagePitch = Chunk + 8;
  constexpr int pace = threads / Rows, owned = Sequences / pace, sumPitch = Rows + 4;
  static_assert(sequenceParts % 2 == 0 && Sequences % pace == 0, "pairs of parts, and as many sequences for each thread");
  extern __shared__ float4 shared[];
  __shared__ int lengths[Sequences];
  __shared__ batch::TileLengths tileLengths;
  const int size = data.size, padded = (size + Chunk - 1) / Chunk * Chunk, chunks = padded / Chunk, weightPitch = padded + 8;
  half_bits* const residents = reinterpret_cast<half_bits*>(shared);
  half_bits* const ring = residents + (size_t)Rows * weightPitch;
  float* const sums = reinterpret_cast<float*>(ring);
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const int warpRow = warp % RowWarps, warpSequence = warp / RowWarps % SequenceWarps, warpColumn = warp / RowWarps / SequenceWarps;
  const int rowBlock = blockIdx.x / groups, group = blockIdx.x % groups, rowBlocks = (size + Rows - 1) / Rows;
  const int tiles = (data.sequences + Sequences - 1) / Sequences;
  const size_t buffer = (size_t)tiles * Sequences * padded;
  const int row = rowBlock * Rows + threadIdx.x % Rows, firstSequence = threadIdx.x / Rows;
  const float leak = row < size ? data.leak[row] : 0.0f;

  for (int i = threadIdx.x; i < Rows * padded / 8; i += threads) {
    const int row = i / (padded / 8), k = i % (padded / 8) * 8;
    batch::copyAsync(batch::sharedAddress(residents + (size_t)row * weightPitch + k), weights + ((size_t)rowBlock * Rows + row) * padded + k);
  }
  batch::commitCopies();

  tileLengths.load<Sequences>(data, group, groups, tiles);
  // Each thread copies 16 bytes of every `copyPace`-th sequence, and reads matrices from fixed
  // slots of a chunk.
  constexpr int copiesOfRow = Chunk / 8, copyPace = threads / copiesOfRow, slotBytes = Sequences * stagePitch * 2;
  const int copyFrom = threadIdx.x / copiesOfRow * padded + threadIdx.x % copiesOfRow * 8;
  const unsigned ringStart = batch::sharedAddress(ring), copyTo = ringStart + (threadIdx.x / copiesOfRow * stagePitch + threadIdx.x % copiesOfRow * 8) * 2;
  const int firstColumn = warpColumn * (Chunk / ColumnWarps);
  const unsigned stateStart =
      ringStart + (((warpSequence * sequenceParts + lane / 16) * 8 + lane % 8) * stagePitch + firstColumn + lane / 8 % 2 * 8) * 2;
  const unsigned weightStart = batch::sharedAddress(residents) + ((warpRow * rowParts * 16 + lane % 16) * weightPitch + firstColumn + lane / 16 * 8) * 2;
  __syncthreads();

  for (int t = 0; t < data.steps; t++) {
    const half_bits* const now = exchange + (t & 1 ? buffer : 0);
    half_bits* const next = exchange + (t & 1 ? 0 : buffer);
    for (int tile = group, index = 0; tile < tiles; tile += groups, index++) {
      if (tileLengths.of<Sequences>(data, index, group, groups) <= t) break;
      // What the step's end reads is asked for before the wait for others and the products, which
      // hide it. Beyond the edges the reads are from within them, so no read waits for another. A
      // thread has one row, and its sequences are `pace` apart.
      if (threadIdx.x < Sequences) {
        const int sequence = tile * Sequences + threadIdx.x;
        lengths[threadIdx.x] = sequence < data.sequences ? data.lengths[sequence] : 0;
      }
      float driven[owned], x[owned];
      const int first = min(tile * Sequences + firstSequence, data.sequences - 1), others = (data.sequences - 1 - first) / pace;
      const size_t driveStride = (size_t)pace * data.steps * size, stateStride = (size_t)pace * size;
      const float* driveFrom = data.drive + ((size_t)first * data.steps + t) * size + min(row, size - 1);
      const float* stateFrom = data.state + (size_t)first * size + min(row, size - 1);
#pragma unroll
      for (int own = 0; own < owned; own++) {
        driven[own] = *driveFrom;
        x[own] = *stateFrom;
        if (own < others) driveFrom += driveStride, stateFrom += stateStride;
      }

      if (t > 0) {
        __shared__ bool came;
        if (threadIdx.x == 0) came = batch::waitFor(arrived + tile, (unsigned)(rowBlocks * t), limit, stalled, data.firstStep + t);
        __syncthreads();
        if (!came) return;
      }
      const half_bits* from = now + (size_t)tile * Sequences * padded + copyFrom;
      auto stage = [&](int c) {
        if (c < chunks) {
          const unsigned to = copyTo + c % Stages * slotBytes;
#pragma unroll
          for (int i = 0; i < Sequences / copyPace; i++)
            batch::copyAsync(to + i * copyPace * stagePitch * 2, from + (size_t)(i * copyPace) * padded);
          from += Chunk;
        }
        batch::commitCopies();
      };
#pragma unroll
      for (int c = 0; c < Stages - 1; c++) stage(c);

      float sum[rowParts][sequenceParts][4];
#pragma unroll
      for (int r = 0; r < rowParts; r++)
#pragma unroll
        for (int s = 0; s < sequenceParts; s++)
#pragma unroll
          for (int i = 0; i < 4; i++) sum[r][s][i] = 0.0f;
      for (int c = 0; c < chunks; c++) {
        batch::waitForCopies<Stages - 2>();
        __syncthreads();
        stage(c + Stages - 1);
        const unsigned xs = stateStart + c % Stages * slotBytes, ws = weightStart + c * Chunk * 2;
#pragma unroll
        for (int k = 0; k < Chunk / ColumnWarps; k += 16) {
          unsigned a[rowParts][4], b[sequenceParts / 2][4];
#pragma unroll
          for (int r = 0; r < rowParts; r++) loadMatrices(a[r], ws + r * 16 * weightPitch * 2 + k * 2);
#pragma unroll
          for (int s = 0; s < sequenceParts / 2; s++) loadMatrices(b[s], xs + (s * 16 * stagePitch + k) * 2);
#pragma unroll
          for (int r = 0; r < rowParts; r++)
#pragma unroll
            for (int s = 0; s < sequenceParts; s++) multiply(sum[r][s], a[r], b[s / 2][s % 2 * 2], b[s / 2][s % 2 * 2 + 1]);
        }
      }

      __syncthreads();
#pragma unroll
      for (int r = 0; r < rowParts; r++)
#pragma unroll
        for (int s = 0; s < sequenceParts; s++)
#pragma unroll
          for (int i = 0; i < 4; i++) {
            const int rowInBlock = (warpRow * rowParts + r) * 16 + lane / 4 + i / 2 * 8;
            const int sequenceInTile = (warpSequence * sequenceParts + s) * 8 + lane % 4 * 2 + i % 2;
            sums[(warpColumn * Sequences + sequenceInTile) * sumPitch + rowInBlock] = sum[r][s][i];
          }
      __syncthreads();
      const float* sumFrom = sums + firstSequence * sumPitch + threadIdx.x % Rows;
      half_bits* nextTo = next + (size_t)(tile * Sequences + firstSequence) * padded + row;
      const size_t stateAt = (size_t)(tile * Sequences + firstSequence) * size + row;
      const size_t stepAt = ((size_t)(tile * Sequences + firstSequence) * data.steps + t) * size + row;
#pragma unroll
      for (int own = 0; own < owned; own++, nextTo += pace * padded) {
        if (row >= size || t >= lengths[firstSequence + own * pace]) continue;
        float z = driven[own];
#pragma unroll
        for (int part = 0; part < ColumnWarps; part++) z += sumFrom[(part * Sequences + own * pace) * sumPitch];
        if (data.feedback) z += data.feedback[stepAt + own * driveStride];
        if (data.noise != 0.0f) {
          const int sequence = tile * Sequences + firstSequence + own * pace;
          z += philox::noise(data.noise, data.key0, data.key1, data.firstStep + t, row, data.numbers[sequence]);
        }
        const float f = approximate::activateBounded(data.activation, z);
        x[own] = fmaf(leak, f - x[own], x[own]);
        *nextTo = approximate::toHalf(x[own]);
        if (!portable::finite(x[own]))
          atomicMin(data.failures + tile * Sequences + firstSequence + own * pace, (unsigned long long)(data.firstStep + t) << 32 | (unsigned)row);
      }
      __syncthreads();
      if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(arrived + tile, 1u);
      }
      // Nobody waits for these.
#pragma unroll
      for (int own = 0; own < owned; own++) {
        if (row >= size || t >= lengths[firstSequence + own * pace]) continue;
        data.state[stateAt + own * stateStride] = x[own];
        if (data.states) data.states[stepAt + own * driveStride] = x[own];
      }
      __syncthreads();
    }
  }
  batch::waitForCopies<0>();
}

}  // namespace

#define BATCH(name, rows, sequencesOfTile, rowWarps, sequenceWarps, columnWarps, chunk, stages)                                                             \
  extern "C" __global__ void __launch_bounds__(rowWarps * sequenceWarps * columnWarps * 32, 1)                                                                                        \
      name(const half_bits* weights, half_bits* exchange, unsigned* arrived, int* stalled, long long limit, int groups, const float* drive,         \
           const float* feedback, const float* leak, float* states, float* state, const int* lengths, const int* numbers,                           \
           unsigned long long* failures, unsigned key0, unsigned key1, float noise, int size, int sequences, int steps, int firstStep,              \
           int activation) {                                                                                                                        \
    run<rows, sequencesOfTile, rowWarps, sequenceWarps, columnWarps, chunk, stages>(                                                                        \
        weights, exchange, arrived, stalled, limit, groups,                                                                                        \
        Data{drive, feedback, leak, states, state, lengths, numbers, failures, key0, key1, noise, size, sequences, steps, firstStep, activation});  \
  }

BATCH(reservoir_batch_fast_16, 32, 16, 2, 1, 4, 256, 4)
BATCH(reservoir_batch_fast_64, 64, 64, 2, 4, 2, 128, 4)
BATCH(reservoir_batch_fast_128, 64, 128, 2, 4, 2, 64, 4)
