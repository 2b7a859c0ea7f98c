// States handed between blocks without a barrier: each value carries in its own bits whether it has
// arrived. Bounded waits. No reservoir is in here.
//
// A reader may meet the value of generation g or, in the same slot, that of g - 2, and never
// another: there are two slots by the parity of g, and who writes g has read all of g - 1, which
// its writers made from all of g - 2. So one bit that changes from g - 2 to g is enough to tell
// them apart.
#pragma once

/** Who hands states to each other: threads of one device, or "sys" if several devices do. */
#ifndef EXCHANGE_SCOPE
#define EXCHANGE_SCOPE "gpu"
#endif

namespace exchange {

typedef unsigned long long Wide;

/**
 * How a value of one generation is written down. Bounded values, |x| <= 1, leave the top bit of
 * their exponent free, and it holds the generation; a NaN is no longer one. Any others stand beside
 * the number of their generation, a binary64 in two halves. Memory of zeros holds no generation
 * from 0 on.
 */
template <typename Real, bool Bounded> struct Cell;

template <> struct Cell<float, true> {
  typedef unsigned Word;
  static constexpr int words = 1;
  static __device__ __forceinline__ unsigned mark(unsigned generation) { return (generation & 2u) ? 0u : 0x40000000u; }
  static __device__ __forceinline__ void pack(float x, unsigned generation, Word (&out)[1]) {
    out[0] = (__float_as_uint(x) & 0xbfffffffu) | mark(generation);
  }
  static __device__ __forceinline__ bool arrived(const Word* in, unsigned generation) { return (in[0] & 0x40000000u) == mark(generation); }
  static __device__ __forceinline__ float value(const Word* in) { return __uint_as_float(in[0] & 0xbfffffffu); }
};

template <> struct Cell<double, true> {
  typedef Wide Word;
  static constexpr int words = 1;
  static __device__ __forceinline__ Wide mark(unsigned generation) { return (generation & 2u) ? 0ull : 0x4000000000000000ull; }
  static __device__ __forceinline__ void pack(double x, unsigned generation, Word (&out)[1]) {
    out[0] = ((Wide)__double_as_longlong(x) & 0xbfffffffffffffffull) | mark(generation);
  }
  static __device__ __forceinline__ bool arrived(const Word* in, unsigned generation) {
    return (in[0] & 0x4000000000000000ull) == mark(generation);
  }
  static __device__ __forceinline__ double value(const Word* in) { return __longlong_as_double((long long)(in[0] & 0xbfffffffffffffffull)); }
};

template <> struct Cell<float, false> {
  typedef Wide Word;
  static constexpr int words = 1;
  static __device__ __forceinline__ void pack(float x, unsigned generation, Word (&out)[1]) {
    out[0] = (Wide)(generation + 1) << 32 | __float_as_uint(x);
  }
  static __device__ __forceinline__ bool arrived(const Word* in, unsigned generation) { return (unsigned)(in[0] >> 32) == generation + 1; }
  static __device__ __forceinline__ float value(const Word* in) { return __uint_as_float((unsigned)in[0]); }
};

template <> struct Cell<double, false> {
  typedef Wide Word;
  static constexpr int words = 2;
  static __device__ __forceinline__ void pack(double x, unsigned generation, Word (&out)[2]) {
    out[0] = (Wide)(generation + 1) << 32 | (unsigned)__double2loint(x);
    out[1] = (Wide)(generation + 1) << 32 | (unsigned)__double2hiint(x);
  }
  static __device__ __forceinline__ bool arrived(const Word* in, unsigned generation) {
    return (unsigned)(in[0] >> 32) == generation + 1 && (unsigned)(in[1] >> 32) == generation + 1;
  }
  static __device__ __forceinline__ double value(const Word* in) { return __hiloint2double((int)(unsigned)in[1], (int)(unsigned)in[0]); }
};

/** Where values stand: four in a row, for accesses of 16 bytes. */
template <typename Real, bool Bounded> struct Quad {
  typedef Cell<Real, Bounded> Code;
  typedef typename Code::Word Word;
  static constexpr int words = 4 * Code::words;
  Word word[words];
  __device__ __forceinline__ bool arrived(unsigned generation) const {
    bool all = true;
#pragma unroll
    for (int c = 0; c < 4; c++) all = all && Code::arrived(word + c * Code::words, generation);
    return all;
  }
  __device__ __forceinline__ Real value(int c) const { return Code::value(word + c * Code::words); }
};

static __device__ __forceinline__ void load16(const unsigned* from, unsigned* to) {
  asm volatile("ld.relaxed." EXCHANGE_SCOPE ".global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "l"(from) : "memory");
}
static __device__ __forceinline__ void load16(const Wide* from, Wide* to) {
  asm volatile("ld.relaxed." EXCHANGE_SCOPE ".global.v2.u64 {%0, %1}, [%2];" : "=l"(to[0]), "=l"(to[1]) : "l"(from) : "memory");
}
static __device__ __forceinline__ void store(unsigned* to, unsigned word) {
  asm volatile("st.relaxed." EXCHANGE_SCOPE ".global.u32 [%0], %1;" ::"l"(to), "r"(word) : "memory");
}
static __device__ __forceinline__ void store(Wide* to, Wide word) {
  asm volatile("st.relaxed." EXCHANGE_SCOPE ".global.u64 [%0], %1;" ::"l"(to), "l"(word) : "memory");
}

/** Four values that other blocks write to global memory. */
template <typename Real, bool Bounded>
static __device__ __forceinline__ void load(const typename Cell<Real, Bounded>::Word* from, Quad<Real, Bounded>& quad) {
  constexpr int step = 16 / (int)sizeof(typename Cell<Real, Bounded>::Word);
#pragma unroll
  for (int k = 0; k < Quad<Real, Bounded>::words; k += step) load16(from + k, quad.word + k);
}

/**
 * What the blocks of a persistent kernel keep between launches and tell the host: 64-bit words in
 * global memory, zeros at first.
 */
struct Report {
  /** Generations so far of bounded values and of any others. */
  Wide generations[2];
  /** 0, or block + 1 and the step at which its wait ended without what it waited for. */
  Wide stalled;
};

static __device__ __forceinline__ void reportStall(Report* report, unsigned block, unsigned step) {
  atomicCAS(&report->stalled, 0ull, (Wide)(block + 1) << 32 | step);
}

/**
 * A bound on a wait, in ticks of the multiprocessor's clock; the clock is looked at now and then,
 * and so is `ended` if it is not null: a wait ends when that is no longer 0.
 */
struct Patience {
  long long limit, end;
  const Wide* ended;
  unsigned tries;
  __device__ __forceinline__ explicit Patience(long long ticks, const Wide* elsewhere = nullptr)
      : limit(ticks), end(0), ended(elsewhere), tries(0) {}
  __device__ __forceinline__ bool over() {
    if ((++tries & 63u) != 0) return false;
    if (ended != nullptr && *static_cast<const volatile Wide*>(ended) != 0) return true;
    const long long now = clock64();
    if (end == 0) end = now + limit;
    return now > end;
  }
};

template <typename Real> struct alignas(16) Four {
  Real value[4];
};

/**
 * Takes the values of a generation to shared memory, four at a time, shared out over the block's
 * threads. Each thread asks for `Batch` fours at once. False in a thread whose wait ran past its
 * limit.
 */
template <typename Real, bool Bounded, int Threads, int Batch>
static __device__ __forceinline__ bool collect(const typename Cell<Real, Bounded>::Word* from, int quads, unsigned generation, Four<Real>* to,
                                               long long limit, const Wide* ended = nullptr) {
  Patience patience(limit, ended);
  for (int base = threadIdx.x; base < quads; base += Batch * Threads) {
    unsigned missing = 0;
#pragma unroll
    for (int k = 0; k < Batch; k++) missing |= (base + k * Threads < quads ? 1u : 0u) << k;
    while (missing != 0) {
      Quad<Real, Bounded> quad[Batch];
#pragma unroll
      for (int k = 0; k < Batch; k++)
        if (missing >> k & 1u) load<Real, Bounded>(from + (base + k * Threads) * Quad<Real, Bounded>::words, quad[k]);
#pragma unroll
      for (int k = 0; k < Batch; k++)
        if ((missing >> k & 1u) && quad[k].arrived(generation)) {
          Four<Real> four;
#pragma unroll
          for (int c = 0; c < 4; c++) four.value[c] = quad[k].value(c);
          to[base + k * Threads] = four;
          missing &= ~(1u << k);
        }
      if (missing != 0 && patience.over()) return false;
    }
  }
  return true;
}

/** States that are handed on within one launch. across.cuh has the other reach. */
struct Within {
  /** Where a lane puts its row's value: one of the copies, if there are as many. */
  template <typename Word, int Words, int Lanes> struct Target {
    Word* mine;
    bool publishes;
    __device__ __forceinline__ Target(const Within&, const Wide*, Word* slots, int copyWords, int copies, int copy, int value, bool real)
        : mine(slots + copy * copyWords + value), publishes(real && copy < copies) {}
    __device__ __forceinline__ void put(size_t parity, const Word (&words)[Words]) const {
#pragma unroll
      for (int k = 0; k < Words; k++) store(mine + parity + k, words[k]);
    }
  };
  __device__ __forceinline__ int block() const { return blockIdx.x; }
  __device__ __forceinline__ void fence() const { __threadfence(); }
  __device__ __forceinline__ const Wide* ended(const Report*) const { return nullptr; }
  template <typename Real, bool Bounded>
  __device__ __forceinline__ void stall(Report* report, const typename Cell<Real, Bounded>::Word*, int, unsigned, unsigned step) const {
    reportStall(report, blockIdx.x, step);
  }
  template <typename Neuron, typename Steps> __device__ __forceinline__ void end(Neuron& neuron, const Steps& steps) const {
    neuron.end(steps);
  }
};

}  // namespace exchange
