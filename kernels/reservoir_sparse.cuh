// A sparse reservoir over the whole device in one launch: eight lanes a row (docs/numerics.md, rule
// 2), entries in registers, shared memory and, if neither holds them, streamed from L2; the states
// handed on through L2. Compiled for some shapes by reservoir_sparse.cu, and for any by NVRTC.
#pragma once
#include "recurrence.cuh"

namespace sparse {

using exchange::Four;
using exchange::Quad;
using exchange::Wide;
using recurrence::Neuron;
using recurrence::Steps;

/**
 * Eight entries of a lane: their values and the indices of their columns. A row's entry m is in
 * lane m mod 8, padded by zeros at index 0.
 */
template <typename Real> struct alignas(16) Unit {
  Real value[8];
  unsigned short index[8];
};

template <typename Real> struct InOrder {
  const Real* x;
  __device__ __forceinline__ Real operator[](int neuron) const { return x[neuron]; }
};

/** What a launch over blocks adds to its steps. Neurons stand in order. */
template <typename Real> struct Layout {
  /**
   * [block][warp][round][unit][16 bytes of a Unit][lane]: rounds of four rows, one after another in
   * the same lanes.
   */
  const uint4* entries;
  /**
   * Slots of the values: [parity][copy][slot]; those of bounded values, and behind them those of
   * any.
   */
  Wide* slots;
  exchange::Report* report;
  /**
   * Slots in all, a multiple of 4; units of a round in registers, at most `Held`, in shared
   * memory, and streamed.
   */
  int count, held, shared, streamed;
  int copies;
  long long spinLimit;
};

template <typename Real, int Rounds, int Held, int Warps, bool Mixed, bool Bounded, typename Between, typename Reach>
static __device__ __forceinline__ void run(const Steps<Real>& steps, const Layout<Real>& layout, unsigned char* memory, int* stop,
                                           const Between& between, const Reach& reach) {
  typedef exchange::Cell<Real, Bounded> Cell;
  typedef typename Cell::Word Word;
  constexpr int threads = Warps * 32, lanesOfRow = 8 / Rounds, parts = (int)sizeof(Unit<Real>) / 16;
  union Loaded {
    uint4 part[parts];
    Unit<Real> unit;
  };
  // Streamed units that may hold no entries, so that those before them are loaded ahead.
  constexpr int padded = 4;
  constexpr int batch = Mixed ? 4 : 2;
  const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5;
  const int units = layout.held + (Mixed ? layout.shared + layout.streamed : 0), first = (reach.block() * Warps + warp) * 4 * Rounds;
  Real* const x = reinterpret_cast<Real*>(memory);
  const int xBytes = (layout.count * (int)sizeof(Real) + 15) / 16 * 16;
  uint4* const kept = reinterpret_cast<uint4*>(memory + xBytes) + warp * Rounds * layout.shared * parts * 32 + lane;
  const uint4* const source = layout.entries + (size_t)(blockIdx.x * Warps + warp) * Rounds * units * parts * 32 + lane;
  auto load = [&](const uint4* from, Loaded& to) {
#pragma unroll
    for (int p = 0; p < parts; p++) to.part[p] = from[p * 32];
  };
  Loaded w[Held > 0 ? Rounds : 1][Held > 0 ? Held : 1];
#pragma unroll
  for (int r = 0; r < Rounds; r++) {
    const uint4* const row = source + r * units * parts * 32;
#pragma unroll
    for (int u = 0; u < Held; u++)
      if (u < layout.held) load(row + u * parts * 32, w[r][u]);
    if (Mixed)
      for (int k = 0; k < layout.shared * parts; k++) kept[(r * layout.shared * parts + k) * 32] = row[(layout.held * parts + k) * 32];
  }
  // Rows are padded to the longest of all: the last streamed units may hold no entry of this warp's.
  int filled[Rounds];
#pragma unroll
  for (int r = 0; r < Rounds; r++) {
    filled[r] = layout.streamed;
    while (Mixed && filled[r] > 0) {
      Loaded last;
      load(source + (r * units + layout.held + layout.shared + filled[r] - 1) * parts * 32, last);
      bool any = false;
#pragma unroll
      for (int k = 0; k < 8; k++) any |= last.unit.value[k] != (Real)0;
      if (__any_sync(0xffffffffu, any)) break;
      filled[r]--;
    }
  }
  for (int i = tid; i < layout.count; i += threads) {
    x[i] = i < steps.size ? steps.state[i] : (Real)0;
  }
  const int octet = lane >> 3, slot = (lane & 7) / lanesOfRow, copy = (lane & 7) % lanesOfRow;
  const int neuronIndex = first + octet * Rounds + slot;
  Neuron<Real> neuron(steps, neuronIndex, copy == 0);
  const unsigned generation0 = (unsigned)layout.report->generations[Bounded ? 0 : 1];
  const int copyWords = layout.count * Cell::words, quads = layout.count / 4;
  Four<Real>* const start = reinterpret_cast<Four<Real>*>(layout.slots) + (Bounded ? 0 : 2 * layout.copies * quads);
  const Word* const theirs = reinterpret_cast<const Word*>(start) + (blockIdx.x & (layout.copies - 1)) * copyWords;
  const typename Reach::template Target<Word, Cell::words, lanesOfRow> target(reach, layout.slots, reinterpret_cast<Word*>(start), copyWords,
                                                                              layout.copies, copy, neuronIndex * Cell::words, neuronIndex < layout.count);
  if (tid == 0) *stop = 0;
  __syncthreads();
  // What was read up to here may be written once others have read a state of this block, and the
  // reverse at the end.
  reach.fence();

  for (int step = 0; step < steps.steps; step++) {
    const int stoppedAt = *static_cast<volatile int*>(stop);
    const bool stopped = stoppedAt != 0 && stoppedAt <= step;
    between.before(steps, neuron, step, InOrder<Real>{x});
    recurrence::Partial<Real, Rounds> partial;
#pragma unroll
    for (int r = 0; r < Rounds; r++) {
      const uint4* const row = source + r * units * parts * 32;
      auto take = [&](const Unit<Real>& unit) {
        Real gathered[8];
#pragma unroll
        for (int k = 0; k < 8; k++) gathered[k] = x[unit.index[k]];
#pragma unroll
        for (int k = 0; k < 8; k++) partial.add(r, k, unit.value[k], gathered[k]);
      };
      if (!Mixed) {
#pragma unroll
        for (int u = 0; u < Held; u++)
          if (u < layout.held) take(w[r][u].unit);
      } else {
        int m = 0, s = 0;
        constexpr int rounds = Held > 0 ? Held : 1;
#pragma unroll
        for (int i = 0; i < rounds; i++) {
          if (i < layout.held) take(w[r][i < Held ? i : 0].unit);
          const int sharedEnd = layout.shared * (i + 1) / rounds, streamedEnd = layout.streamed * (i + 1) / rounds;
          while (m < sharedEnd || s < streamedEnd) {
            if (m < sharedEnd) {
              Loaded unit;
              load(kept + (r * layout.shared + m) * parts * 32, unit);
              take(unit.unit);
              m++;
            }
            if (s < streamedEnd) {
              if (s < layout.streamed - padded || s < filled[r]) {
                Loaded unit;
                load(row + (layout.held + layout.shared + s) * parts * 32, unit);
                take(unit.unit);
              }
              s++;
            }
          }
        }
      }
    }
    const Real dot = recurrence::sumRows<Real, Rounds, 8>(partial.rows());
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
    // One buffer of x: nobody writes the next states before all have read these.
    __syncthreads();
    if (!exchange::collect<Real, Bounded, threads, batch>(theirs + parity, quads, generation, reinterpret_cast<Four<Real>*>(x), layout.spinLimit,
                                                         reach.ended(layout.report))) {
      reach.template stall<Real, Bounded>(layout.report, theirs + parity, quads, generation, steps.firstStep + step);
      atomicExch(stop, step + 1);
    }
    __syncthreads();
  }
  if (*stop != 0) return;
  between.after(steps, InOrder<Real>{x});
  reach.fence();
  reach.end(neuron, steps);
  if (blockIdx.x == 0 && tid == 0) layout.report->generations[Bounded ? 0 : 1] = generation0 + steps.steps;
}

}  // namespace sparse
