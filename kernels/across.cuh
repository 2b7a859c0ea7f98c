// States handed on across several devices: a launch on each has some of the blocks, and puts its
// values into the memory of all. docs/internals/one-reservoir.md has the protocol. With SHARDED the kernels of
// reservoir_grid.cu and reservoir_sparse.cu are compiled for this reach.
#pragma once
#ifdef SHARDED
#define EXCHANGE_SCOPE "sys"
#endif
#include "exchange.cuh"

namespace exchange {

/** The most devices that share a reservoir. */
constexpr int mostDevices = 8;

template <typename Real> struct Across {
  /** Addresses of every device's slots, and behind them those of its report. */
  const Wide* peers;
  int devices;
  /** The number of this launch's first block among those of all devices. */
  int firstBlock;
  /** Where x after the last step goes: memory of one device, for all. */
  Real* after;

  /** Where a lane puts its row's value: the lanes of a row share out the devices. */
  template <typename Word, int Words, int Lanes> struct Target {
    static constexpr int each = (mostDevices + Lanes - 1) / Lanes;
    Word* to[each];
    bool publishes;
    __device__ __forceinline__ Target(const Across& across, const Wide* own, Word* slots, int, int, int lane, int value, bool real)
        : publishes(real && lane < across.devices) {
      const size_t begin = reinterpret_cast<unsigned char*>(slots) - reinterpret_cast<const unsigned char*>(own);
#pragma unroll
      for (int k = 0; k < each; k++) {
        const int device = lane + k * Lanes;
        to[k] = device < across.devices ? reinterpret_cast<Word*>(across.peers[device] + begin) + value : nullptr;
      }
    }
    __device__ __forceinline__ void put(size_t parity, const Word (&words)[Words]) const {
#pragma unroll
      for (int k = 0; k < each; k++)
        if (to[k] != nullptr)
#pragma unroll
          for (int w = 0; w < Words; w++) store(to[k] + parity + w, words[w]);
    }
  };

  __device__ __forceinline__ int block() const { return firstBlock + blockIdx.x; }
  __device__ __forceinline__ void fence() const { __threadfence_system(); }
  __device__ __forceinline__ const Wide* ended(const Report* report) const { return &report->stalled; }

  /**
   * Tells every device of the first four values that did not come, so that all end: their number +
   * 1, and the step. A wait that ended because another had told changes nothing.
   */
  template <typename Real_, bool Bounded>
  __device__ __noinline__ void stall(Report* report, const typename Cell<Real_, Bounded>::Word* from, int quads, unsigned generation,
                                     unsigned step) const {
    int missing = 0;
    for (Quad<Real_, Bounded> quad; missing < quads; missing++) {
      load<Real_, Bounded>(from + missing * Quad<Real_, Bounded>::words, quad);
      if (!quad.arrived(generation)) break;
    }
    const Wide told = (Wide)(missing + 1) << 32 | step;
    if (atomicCAS(&report->stalled, 0ull, told) != 0) return;
    for (int device = 0; device < devices; device++) {
      Report* const theirs = reinterpret_cast<Report*>(peers[devices + device]);
      if (theirs != report) store(&theirs->stalled, told);
    }
  }

  template <typename Neuron, typename Steps> __device__ __forceinline__ void end(Neuron& neuron, const Steps&) const {
    if (neuron.writes) after[neuron.index] = neuron.x;
  }
};

}  // namespace exchange

/** What a launch of several has beside the rest, and the reach that its states have. */
#ifdef SHARDED
#define REACH_PARAMETERS(Real) , const unsigned long long *peers, int devices, int firstBlock, Real *after
#define REACH(Real) (exchange::Across<Real>{peers, devices, firstBlock, after})
#else
#define REACH_PARAMETERS(Real)
#define REACH(Real) (exchange::Within())
#endif
