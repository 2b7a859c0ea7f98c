// A dense reservoir over the whole device in one launch: W in registers, shared memory and, where neither has room, streamed from L2; the states
// handed on through L2. Compiled for some shapes by reservoir_grid.cu, and for any by NVRTC.
#pragma once
#include "recurrence.cuh"

namespace grid {

using exchange::Four;
using exchange::Quad;
using exchange::Wide;
using recurrence::Neuron;
using recurrence::Steps;

/** What a launch over blocks adds to its steps. A group is 128 columns; W comes as [block][warp][group][row][lane][4]. */
template <typename Real> struct Layout {
  const Real* weights;
  /** Places of the values: [parity][copy][group][lane], four values each; those of bounded values, and behind them those of any. */
  Wide* places;
  exchange::Report* report;
  /** Groups that hold columns at all, those held in shared memory, and those streamed (a multiple of Depth). */
  int groups, shared, streamed;
  /** Copies of every value, so that not all blocks read one place; a power of two. */
  int copies;
  /** Buffers of x in shared memory: with 1, a second barrier keeps the step's readers apart from the next one's writer. */
  int buffers;
  long long spinLimit;
};

/** Groups streamed at once: what is in flight from L2. */
constexpr int Depth = 2;

template <typename Real, int Rows, int Held, int Warps, bool Mixed, bool Bounded, typename Between>
static __device__ __forceinline__ void run(const Steps<Real>& steps, const Layout<Real>& layout, Four<Real>* sharedMemory, int* stop,
                                           const Between& between) {
  typedef exchange::Cell<Real, Bounded> Cell;
  typedef typename Cell::Word Word;
  constexpr int threads = Warps * 32, lanesOfRow = 32 / Rows;
  const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5;
  const int held = Held + (Mixed ? layout.shared + layout.streamed : 0);
  const int xQuads = held * 32, first = (blockIdx.x * Warps + warp) * Rows;
  Four<Real>* const x = sharedMemory;
  Four<Real>* const tiles = sharedMemory + layout.buffers * xQuads + warp * layout.shared * Rows * 32 + lane;

  const Four<Real>* const source = reinterpret_cast<const Four<Real>*>(layout.weights) + (size_t)(blockIdx.x * Warps + warp) * held * Rows * 32 + lane;
  Four<Real> w[Held][Rows];
  Four<Real> next[Depth][Rows];
  const Four<Real>* const streamedFrom = source + (size_t)(Held + layout.shared) * Rows * 32;
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
  Neuron<Real> neuron(steps, recurrence::neuronAt(first + slot), copy == 0);
  const unsigned generation0 = (unsigned)layout.report->generations[Bounded ? 0 : 1];
  const int quads = layout.groups * 32;
  Four<Real>* const start = reinterpret_cast<Four<Real>*>(layout.places) + (Bounded ? 0 : 2 * layout.copies * quads);
  Word* const places = reinterpret_cast<Word*>(start);
  const int copyWords = quads * Quad<Real, Bounded>::words;
  Word* const mine = places + copy * copyWords + (first + slot) * Cell::words;
  const Word* const theirs = places + (blockIdx.x & (layout.copies - 1)) * copyWords;
  const bool publishes = copy < layout.copies && first + slot < quads * 4;
  if (tid == 0) *stop = 0;
  __syncthreads();
  // What was read up to here may be written once others have seen a state of this block, and the reverse at the end.
  __threadfence();

  int step = 0;
  for (; step < steps.steps; step++) {
    const int stoppedAt = *static_cast<volatile int*>(stop);
    const bool stopped = stoppedAt != 0 && stoppedAt <= step;
    const Four<Real>* column = x + (layout.buffers == 2 && (step & 1) ? xQuads : 0) + lane;
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
          Four<Real> tile[Rows];
#pragma unroll
          for (int r = 0; r < Rows; r++) tile[r] = tiles[(m * Rows + r) * 32];
          take(tile);
        }
        for (const int end = layout.streamed * (i + 1) / rounds; s + Depth <= end || (i == rounds - 1 && s < layout.streamed);) {
#pragma unroll
          for (int d = 0; d < Depth; d++) {
            take(next[d]);
            const int ahead = s + Depth < layout.streamed ? s + Depth : s + Depth - layout.streamed;
#pragma unroll
            for (int r = 0; r < Rows; r++) next[d][r] = streamedFrom[(ahead * Rows + r) * 32];
            s++;
          }
        }
      }
    }
    const Real dot = recurrence::sumRows<Real, Rows, 32>(partial.rows());
    if (stopped) break;
    const Real value = neuron.advance(steps, dot);
    const unsigned generation = generation0 + step;
    const size_t parity = (size_t)(generation & 1u) * layout.copies * copyWords;
    if (publishes) {
      Word words[Cell::words];
      Cell::pack(neuron.real ? value : (Real)0, generation, words);
#pragma unroll
      for (int k = 0; k < Cell::words; k++) exchange::store(mine + parity + k, words[k]);
    }
    neuron.finish(steps, step);
    if (layout.buffers == 1) __syncthreads();
    Four<Real>* const to = x + (layout.buffers == 2 && !(step & 1) ? xQuads : 0);
    constexpr int batch = Mixed ? 4 : Held * 32 <= threads ? 1 : Held * 32 <= 2 * threads ? 2 : 4;
    if (!exchange::collect<Real, Bounded, threads, batch>(theirs + parity, quads, generation, to, layout.spinLimit)) {
      exchange::reportStall(layout.report, blockIdx.x, steps.firstStep + step);
      atomicExch(stop, step + 1);
    }
    __syncthreads();
  }
  if (*stop != 0) return;
  between.after(steps, recurrence::ByPosition<Real>{(x + (layout.buffers == 2 && (steps.steps & 1) ? xQuads : 0))->value});
  __threadfence();
  neuron.end(steps);
  if (blockIdx.x == 0 && tid == 0) layout.report->generations[Bounded ? 0 : 1] = generation0 + steps.steps;
}

}  // namespace grid
