// A dense reservoir over the whole device in one launch: W in registers, shared memory and, if
// neither holds them, streamed through L2, which keeps a part of that; the states handed on through
// L2. Compiled for some shapes by reservoir_grid.cu, and for any by NVRTC.
#pragma once
#include "packing.cuh"
#include "recurrence.cuh"

namespace grid {

using exchange::Four;
using exchange::Quad;
using exchange::Wide;
using recurrence::Neuron;
using recurrence::Steps;

/**
 * Reads what is streamed, and says what L2 is to keep of it and what is the first to give way
 * there.
 */
struct Stream {
#if __CUDA_ARCH__ >= 800
  unsigned long long keeping, passing;
  __device__ __forceinline__ Stream() {
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(keeping));
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(passing));
  }
  __device__ __forceinline__ uint4 load16(const void* from, bool keep) const {
    uint4 words;
    asm volatile("ld.global.L1::no_allocate.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
                 : "=r"(words.x), "=r"(words.y), "=r"(words.z), "=r"(words.w)
                 : "l"(from), "l"(keep ? keeping : passing));
    return words;
  }
#else
  __device__ __forceinline__ uint4 load16(const void* from, bool keep) const {
    const uint4* const words = static_cast<const uint4*>(from);
    return keep ? *words : __ldcs(words);
  }
#endif
  __device__ __forceinline__ void load(const uint4* from, bool keep, uint4& to) const { to = load16(from, keep); }
  __device__ __forceinline__ void load(const Four<float>* from, bool keep, Four<float>& to) const {
    const uint4 words = load16(from, keep);
    to = {__uint_as_float(words.x), __uint_as_float(words.y), __uint_as_float(words.z), __uint_as_float(words.w)};
  }
  __device__ __forceinline__ void load(const Four<double>* from, bool keep, Four<double>& to) const {
    const uint4 low = load16(from, keep), high = load16(from->value + 2, keep);
    to = {__hiloint2double(low.y, low.x), __hiloint2double(low.w, low.z), __hiloint2double(high.y, high.x), __hiloint2double(high.w, high.z)};
  }
};

/**
 * What one lane has of one row and tile of W: its columns of one group of 128, or with weights of
 * bfloat16 of two, in rising order.
 */
template <typename Real, typename Weight> struct Piece;

template <typename Real> struct Piece<Real, Real> {
  static constexpr int groups = 1;
  Four<Real> four;
  __device__ __forceinline__ void take(const Stream& stream, const Piece* from, bool keep) { stream.load(&from->four, keep, four); }
  __device__ __forceinline__ Real weight(int, int c) const { return four.value[c]; }
};

template <typename Real> struct Piece<Real, packing::bfloat16> {
  static constexpr int groups = 2;
  uint4 pairs;
  __device__ __forceinline__ void take(const Stream& stream, const Piece* from, bool keep) { stream.load(&from->pairs, keep, pairs); }
  __device__ __forceinline__ Real weight(int group, int c) const {
    const unsigned pair = group == 0 ? (c < 2 ? pairs.x : pairs.y) : (c < 2 ? pairs.z : pairs.w);
    return (Real)__uint_as_float((c & 1) ? pair & 0xffff0000u : pair << 16);
  }
};

/**
 * What a launch over blocks adds to its steps. W comes as [block][warp][tile][row][lane], a piece
 * each; a group is 128 columns.
 */
template <typename Weight> struct Layout {
  const Weight* weights;
  /**
   * Slots of the values: [parity][copy][group][lane], four values each; those of bounded values,
   * and behind them those of any.
   */
  Wide* slots;
  exchange::Report* report;
  /**
   * Groups that hold columns at all; tiles held in shared memory, and those streamed (a multiple of
   * Depth).
   */
  int groups, shared, streamed;
  /**
   * The share of the streamed tiles, in 2^-32, that L2 is to keep from step to step; others are the
   * first to give way.
   */
  unsigned kept;
  /** Copies of every value, so that blocks share out the reads; a power of two. */
  int copies;
  /**
   * Buffers of x in shared memory: with 1, a second barrier keeps the step's readers apart from the
   * next one's writer.
   */
  int buffers;
  long long spinLimit;
};

/** Tiles streamed at once: what is in flight from L2. The loop names both. */
constexpr int Depth = 2;

/**
 * Fours of states that a thread asks for at once, if W lies in more than registers. Kernels made for
 * a model may have another number: foursAtOnce of src/engine/cuda/persistent/shapes.ts.
 */
#ifndef GRID_BATCH
#define GRID_BATCH 4
#endif

static constexpr __host__ __device__ int powerOfTwoFrom(int rows) { return rows <= 1 ? 1 : rows <= 2 ? 2 : rows <= 4 ? 4 : 8; }

template <typename Real, typename Weight, int Rows, int Held, int Warps, bool Mixed, bool Bounded, typename Between, typename Reach>
static __device__ __forceinline__ void run(const Steps<Real>& steps, const Layout<Weight>& layout, Four<Real>* sharedMemory, int* stop,
                                           const Between& between, const Reach& reach) {
  typedef exchange::Cell<Real, Bounded> Cell;
  typedef typename Cell::Word Word;
  typedef Piece<Real, Weight> P;
  // Sums of rows that there are not fill the butterfly up.
  constexpr int Summed = powerOfTwoFrom(Rows);
  constexpr int threads = Warps * 32, lanesOfRow = 32 / Summed;
  const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5;
  const int stored = Held + (Mixed ? layout.shared + layout.streamed : 0);
  const int xQuads = stored * P::groups * 32, first = (reach.block() * Warps + warp) * Rows;
  Four<Real>* const x = sharedMemory;
  P* const tiles = reinterpret_cast<P*>(sharedMemory + layout.buffers * xQuads) + warp * layout.shared * Rows * 32 + lane;

  const P* const source = reinterpret_cast<const P*>(layout.weights) + (size_t)(blockIdx.x * Warps + warp) * stored * Rows * 32 + lane;
  P w[Held][Rows];
  P next[Depth][Rows];
  const Stream stream;
  const P* const streamedFrom = source + (size_t)(Held + layout.shared) * Rows * 32;
#pragma unroll
  for (int g = 0; g < Held; g++)
#pragma unroll
    for (int r = 0; r < Rows; r++) w[g][r] = source[(g * Rows + r) * 32];
  if (Mixed) {
    for (int k = 0; k < layout.shared * Rows; k++) tiles[k * 32] = source[(Held * Rows + k) * 32];
    if (layout.streamed > 0)
#pragma unroll
      for (int d = 0; d < Depth; d++)
#pragma unroll
        for (int r = 0; r < Rows; r++) next[d][r] = streamedFrom[(d * Rows + r) * 32];
  }
  for (int i = tid; i < layout.buffers * xQuads; i += threads) {
    Four<Real> four;
#pragma unroll
    for (int c = 0; c < 4; c++) {
      const int neuron = recurrence::neuronAt(4 * i + c);
      four.value[c] = i < xQuads && neuron < steps.size ? steps.state[neuron] : (Real)0;
    }
    x[i] = four;
  }
  const int slot = lane / lanesOfRow, copy = lane % lanesOfRow;
  Neuron<Real> neuron(steps, slot < Rows ? recurrence::neuronAt(first + slot) : steps.size, copy == 0);
  const unsigned generation0 = (unsigned)layout.report->generations[Bounded ? 0 : 1];
  const int quads = layout.groups * 32;
  Four<Real>* const start = reinterpret_cast<Four<Real>*>(layout.slots) + (Bounded ? 0 : 2 * layout.copies * quads);
  Word* const slots = reinterpret_cast<Word*>(start);
  const int copyWords = quads * Quad<Real, Bounded>::words;
  const Word* const theirs = slots + (blockIdx.x & (layout.copies - 1)) * copyWords;
  const typename Reach::template Target<Word, Cell::words, lanesOfRow> target(reach, layout.slots, slots, copyWords, layout.copies, copy,
                                                                              (first + slot) * Cell::words,
                                                                              slot < Rows && first + slot < quads * 4);
  if (tid == 0) *stop = 0;
  __syncthreads();
  // What was read up to here may be written once others have read a state of this block, and the
  // reverse at the end.
  reach.fence();

  int step = 0;
  for (; step < steps.steps; step++) {
    const int stoppedAt = *static_cast<volatile int*>(stop);
    const bool stopped = stoppedAt != 0 && stoppedAt <= step;
    const Four<Real>* column = x + (layout.buffers == 2 && (step & 1) ? xQuads : 0) + lane;
    between.before(steps, neuron, step, recurrence::ByPosition<Real>{(column - lane)->value});
    recurrence::Partial<Real, Summed> partial;
    auto take = [&](const P(&tile)[Rows]) {
#pragma unroll
      for (int group = 0; group < P::groups; group++) {
        const Four<Real> four = *column;
        column += 32;
#pragma unroll
        for (int c = 0; c < 4; c++)
#pragma unroll
          for (int r = 0; r < Rows; r++) partial.add(r, c, tile[r].weight(group, c), four.value[c]);
      }
    };
    // Adds a streamed tile, and sets out for the one that is `Depth` behind it: of this step, or of
    // the next.
    auto pass = [&](P(&tile)[Rows], int s) {
      take(tile);
      const int ahead = s + Depth < layout.streamed ? s + Depth : s + Depth - layout.streamed;
      // Kept tiles lie evenly among the others: L2 and memory are read at once.
      const unsigned share = ahead * layout.kept;
      const bool keep = share + layout.kept < share;
#pragma unroll
      for (int r = 0; r < Rows; r++) tile[r].take(stream, streamedFrom + (ahead * Rows + r) * 32, keep);
    };
    if (!Mixed) {
#pragma unroll
      for (int g = 0; g < Held; g++) take(w[g]);
    } else {
      int m = 0, s = 0;
      const int rounds = (Held + 1) / 2;
#pragma unroll
      for (int i = 0; i < rounds; i++) {
        take(w[2 * i]);
        if (2 * i + 1 < Held) take(w[2 * i + 1 < Held ? 2 * i + 1 : 0]);
        for (const int end = layout.shared * (i + 1) / rounds; m < end; m++) {
          P tile[Rows];
#pragma unroll
          for (int r = 0; r < Rows; r++) tile[r] = tiles[(m * Rows + r) * 32];
          take(tile);
        }
        for (const int end = layout.streamed * (i + 1) / rounds; s + Depth <= end || (i == rounds - 1 && s < layout.streamed); s += Depth) {
          pass(next[0], s);
          pass(next[1], s + 1);
        }
      }
    }
    const Real dot = recurrence::sumRows<Real, Summed, 32>(partial.rows());
    if (stopped) break;
    const Real value = neuron.advance(steps, dot);
    const unsigned generation = generation0 + step;
    const size_t parity = (size_t)(generation & 1u) * layout.copies * copyWords;
    if (target.publishes) {
      Word words[Cell::words];
      Cell::pack(neuron.real ? value : (Real)0, generation, words);
      target.put(parity, words);
    }
    neuron.finish(steps, step);
    if (layout.buffers == 1) __syncthreads();
    Four<Real>* const to = x + (layout.buffers == 2 && !(step & 1) ? xQuads : 0);
    constexpr int batch = Mixed ? GRID_BATCH : Held * 32 <= threads ? 1 : Held * 32 <= 2 * threads ? 2 : 4;
    if (!exchange::collect<Real, Bounded, threads, batch>(theirs + parity, quads, generation, to, layout.spinLimit,
                                                         reach.ended(layout.report))) {
      reach.template stall<Real, Bounded>(layout.report, theirs + parity, quads, generation, steps.firstStep + step);
      atomicExch(stop, step + 1);
    }
    __syncthreads();
  }
  if (*stop != 0) return;
  between.after(steps, recurrence::ByPosition<Real>{(x + (layout.buffers == 2 && (steps.steps & 1) ? xQuads : 0))->value});
  reach.fence();
  reach.end(neuron, steps);
  if (blockIdx.x == 0 && tid == 0) layout.report->generations[Bounded ? 0 : 1] = generation0 + steps.steps;
}

}  // namespace grid
