// target: sm_75
// Scores of spike patterns that go by phases, with the bits of src/spikes/detection: travelling and
// standing waves, rhythm, and the coherence of a bank of Kuramoto oscillators. What is counted is
// in pattern_measures.cu.
#include "elementary.cuh"
#include "measures.cuh"

namespace phases {

/**
 * sum over s of z_s e^(-i angle s), and of the conjugate of z_s, both squared and divided by n^2.
 */
struct Strengths {
  Exact up, down;
};
static __device__ __forceinline__ Strengths strengths(const double2* z, unsigned steps, Exact angle, Exact spikes) {
  const elementary::SineCosine turn = elementary::sincos(angle.value);
  const Exact stepRe = turn.cosine, stepIm = -turn.sine;
  Exact re = 1.0, im = 0.0, upRe = 0.0, upIm = 0.0, downRe = 0.0, downIm = 0.0;
#pragma unroll 1
  for (unsigned s = 0; s < steps; s++) {
    const Exact a = z[s].x, b = z[s].y;
    upRe = upRe + (a * re - b * im);
    upIm = upIm + (a * im + b * re);
    downRe = downRe + (a * re + b * im);
    downIm = downIm + (a * im - b * re);
    const Exact next = re * stepRe - im * stepIm;
    im = re * stepIm + im * stepRe;
    re = next;
  }
  return {(upRe * upRe + upIm * upIm) / (spikes * spikes), (downRe * downRe + downIm * downIm) / (spikes * spikes)};
}

/** The numbers of m of a tile of phasors, and the warps that make one each. */
constexpr unsigned tileWidth = 16, warps = 4;

/**
 * Adds e^(i 2 pi (m + 4) / 2 share) over the spikes of a train, in their order, for m = 0, 1, ...
 * to real and imaginary. By a full warp: a lane turns the phasor of a spike, and half of them each
 * sum real and imaginary parts.
 */
static __device__ __forceinline__ void phasorsOf(const measures::Pattern& pattern, unsigned train, unsigned frequencies, double2 (*tile)[tileWidth + 1], double* real, double* imaginary) {
  const unsigned start = pattern.starts[train], length = pattern.lengthOf(train), lane = measures::lane();
  for (unsigned base = 0; base < length; base += 32) {
    const unsigned some = length - base < 32 ? length - base : 32;
    Exact re = 0.0, im = 0.0, stepRe = 0.0, stepIm = 0.0;
    if (lane < some) {
      const Exact share = Exact(pattern.trainTimes[start + base + lane]) / pattern.duration;
      const elementary::SineCosine first = elementary::sincos((Exact(measures::twoPi) * 2.0 * share).value);
      const elementary::SineCosine step = elementary::sincos((Exact(measures::twoPi) * share / 2.0).value);
      re = first.cosine;
      im = first.sine;
      stepRe = step.cosine;
      stepIm = step.sine;
    }
    for (unsigned from = 0; from < frequencies; from += tileWidth) {
#pragma unroll 2
      for (unsigned m = 0; m < tileWidth; m++) {
        tile[lane][m] = make_double2(re.value, im.value);
        const Exact next = re * stepRe - im * stepIm;
        im = re * stepIm + im * stepRe;
        re = next;
      }
      __syncwarp();
      const unsigned m = lane % tileWidth;
      if (from + m < frequencies) {
        double* const sums = lane < tileWidth ? real : imaginary;
        Exact sum = base == 0 ? 0.0 : sums[from + m];
#pragma unroll 4
        for (unsigned j = 0; j < some; j++) sum = sum + (lane < tileWidth ? tile[j][m].x : tile[j][m].y);
        sums[from + m] = sum.value;
      }
      __syncwarp();
    }
  }
}

}  // namespace phases

/**
 * Travelling and standing waves: the frequency of number m is m / duration. `scratch` has 8
 * doubles a step of 2 ms for each block.
 */
extern "C" __global__ void __launch_bounds__(256) pattern_phases_waves(PATTERNS, double* scratch, unsigned long long scratchOfBlock, double* out) {
  __shared__ measures::Ranked shared[8];
  const measures::Patterns all = ALL_PATTERNS;
  double2* const z = (double2*)(scratch + blockIdx.x * scratchOfBlock);
  for (unsigned p = blockIdx.x; p < count; p += gridDim.x) {
    const measures::Pattern pattern = all[p];
    const unsigned waveNumbers = neuronCount / 4 < 4 ? neuronCount / 4 : 4;
    const unsigned steps = (unsigned)ceil(portable::div(pattern.duration, 2.0));
    const unsigned frequencies = (unsigned)floor(portable::div(portable::mul(100.0, pattern.duration), 1000.0));
    const unsigned waves = waveNumbers * frequencies;
    if (waves == 0) continue;
    const measures::Steps bins = {2.0, steps};
    for (unsigned i = threadIdx.x; i < waveNumbers * steps; i += blockDim.x) {
      const unsigned k = i / steps + 1, step = i % steps;
      const unsigned end = step + 1 < steps ? bins.firstIn(pattern, step + 1) : pattern.spikes;
      Exact real = 0.0, imaginary = 0.0;
      for (unsigned j = bins.firstIn(pattern, step); j < end; j++) {
        const Exact position = (double)pattern.neurons[j] + 0.5;
        const Exact angle = Exact(measures::twoPi) * (double)k * position / (double)neuronCount;
        const elementary::SineCosine at = elementary::sincos(angle.value);
        real = real + at.cosine;
        imaginary = imaginary + at.sine;
      }
      z[i] = make_double2(real.value, imaginary.value);
    }
    __syncthreads();
    const Exact spikes = (double)pattern.spikes;
    const Exact travels = Exact(elementary::log(200.0 * (double)waves)) / spikes, stands = Exact(elementary::log(100.0 * (double)waves)) / (2.0 * spikes);
    measures::Ranked travelling = {0.0, 0xffffffffu}, standing = travelling;
    bool down = false;
    for (unsigned i = threadIdx.x; i < waves; i += blockDim.x) {
      const unsigned k = i / frequencies, m = i % frequencies + 1;
      const Exact angle = Exact(measures::twoPi) * (double)m * 2.0 / pattern.duration;
      const phases::Strengths found = phases::strengths(z + (measures::Wide)k * steps, steps, angle, spikes);
      const Exact difference = root(measures::aboveChance(found.up, travels)) - root(measures::aboveChance(found.down, travels));
      // The last bit of an index says which way the wave goes: of equals the first still goes
      // first.
      travelling.take(fabs(difference.value), 2 * i + (difference < 0.0));
      standing.take(root(measures::aboveChance(least(found.up, found.down), stands)).value, i);
    }
    travelling = measures::firstOfGreatest(travelling, shared);
    standing = measures::firstOfGreatest(standing, shared);
    if (threadIdx.x != 0) continue;
    down = travelling.index & 1;
    const unsigned i = travelling.index / 2;
    const double wave = (double)(i / frequencies + 1);
    measures::report(out, p, measures::TRAVELLING, travelling.value, (double)(i % frequencies + 1), down ? -wave : wave);
    measures::report(out, p, measures::STANDING, standing.value, (double)(standing.index % frequencies + 1), (double)(standing.index / frequencies + 1));
  }
}

/**
 * Phase locking of each neuron to a clock of its own. `scratch` has 9 doubles a frequency for each
 * block.
 */
extern "C" __global__ void __launch_bounds__(128) pattern_phases_rhythmic(PATTERNS, double* scratch, unsigned long long scratchOfBlock, double* out) {
  __shared__ double2 tiles[phases::warps][32][phases::tileWidth + 1];
  __shared__ measures::Ranked shared[phases::warps];
  const measures::Patterns all = ALL_PATTERNS;
  const unsigned warp = threadIdx.x >> 5;
  double* const sums = scratch + blockIdx.x * scratchOfBlock;
  for (unsigned p = blockIdx.x; p < count; p += gridDim.x) {
    const measures::Pattern pattern = all[p];
    const double most = floor(portable::div(portable::mul(200.0, pattern.duration), 1000.0)) - 3.0;
    const unsigned frequencies = most > 0.0 ? (unsigned)most : 0;
    const measures::Wide pairs = measures::sumOfWhole(pattern.trains, [&](unsigned train) {
      const measures::Wide length = pattern.lengthOf(train);
      return length * (length - 1);
    });
    if (pairs == 0 || frequencies == 0) continue;
    const measures::Wide spikes = measures::sumOfWhole(pattern.trains, [&](unsigned train) -> measures::Wide {
      return pattern.lengthOf(train) >= 2 ? pattern.lengthOf(train) : 0;
    });
    __syncthreads();
    for (unsigned m = threadIdx.x; m < frequencies; m += blockDim.x) sums[m] = -(double)spikes;
    // As many trains at a time as there are warps, added one after the other.
    for (unsigned base = 0; base < pattern.trains; base += phases::warps) {
      double* const real = sums + frequencies * (1 + 2 * (measures::Wide)warp);
      if (base + warp < pattern.trains && pattern.lengthOf(base + warp) >= 2)
        phases::phasorsOf(pattern, base + warp, frequencies, tiles[warp], real, real + frequencies);
      __syncthreads();
      for (unsigned m = threadIdx.x; m < frequencies; m += blockDim.x) {
        Exact sum = sums[m];
        for (unsigned w = 0; w < phases::warps && base + w < pattern.trains; w++) {
          if (pattern.lengthOf(base + w) < 2) continue;
          const Exact re = sums[frequencies * (1 + 2 * (measures::Wide)w) + m], im = sums[frequencies * (2 + 2 * (measures::Wide)w) + m];
          sum = sum + re * re + im * im;
        }
        sums[m] = sum.value;
      }
      __syncthreads();
    }
    const Exact chance = Exact(elementary::log(100.0 * (double)frequencies)) / root(Exact((double)pairs));
    measures::Ranked best = {-__longlong_as_double(0x7ff0000000000000ll), 0xffffffffu};
    for (unsigned m = threadIdx.x; m < frequencies; m += blockDim.x) {
      const Exact cycles = Exact((double)(m + 4)) / 2.0;
      const Exact ends = m % 2 == 0 ? Exact(0.0) : 4.0 / (Exact(measures::twoPi) * cycles * measures::twoPi * cycles);
      best.take((Exact(sums[m]) / (double)pairs - ends).value, m);
    }
    best = measures::firstOfGreatest(best, shared);
    if (threadIdx.x == 0) measures::report(out, p, measures::RHYTHMIC, root(measures::aboveChance(best.value, chance)), (double)best.index);
  }
}

namespace phases {

/**
 * A bank of oscillators and how it is stepped: docs of KuramotoOscillators. M oscillators of
 * `channels` channels.
 */
struct Bank {
  /** 2 pi f, M values, and the phases that every pattern finds. */
  const double* turns;
  const double* starts;
  /** The channel of each oscillator. */
  const unsigned* channelOf;
  unsigned size, channels;
  double coupling, drive;
};

/** The parts of a step, and how long one is in s. */
struct Parts {
  unsigned count;
  double seconds;
};

/** What a warp keeps of its bank. */
struct State {
  double2* turned;
  double* phases;
  double* slopes;
  /** The last step in which a channel fired, from 1. */
  unsigned* fired;
};

struct Sums {
  Exact sine, cosine;
};

/** Over the oscillators in their order, in every lane, once every lane has turned its own. */
static __device__ __forceinline__ Sums sumsOf(const double2* turned, unsigned size) {
  __syncwarp();
  Sums sums = {0.0, 0.0};
#pragma unroll 8
  for (unsigned i = 0; i < size; i++) {
    const double2 at = turned[i];
    sums.sine = sums.sine + at.x;
    sums.cosine = sums.cosine + at.y;
  }
  __syncwarp();
  return sums;
}

static __device__ __forceinline__ double2 turnedTo(double phase) {
  const elementary::SineCosine at = elementary::sincos(phase);
  return make_double2(at.sine, at.cosine);
}

/**
 * One part of a step by the classical scheme of order 4. Takes the sums of where it starts, and
 * gives those of where it ends.
 */
static __device__ __forceinline__ Sums advance(const Bank& bank, const State& state, Exact h, unsigned step, bool driven, Sums sums) {
  const Exact scale = Exact(bank.coupling) / (double)bank.size;
  for (int stage = 0; stage < 4; stage++) {
    for (unsigned i = measures::lane(); i < bank.size; i += 32) {
      const double2 at = state.turned[i];
      const Exact own = at.x, pull = scale * (sums.sine * at.y - sums.cosine * own);
      const Exact input = driven && state.fired[bank.channelOf[i]] == step + 1 ? 1.0 : 0.0;
      const Exact slope = Exact(bank.turns[i]) + pull - (driven ? Exact(bank.drive) * input * own : Exact(0.0));
      const Exact phase = state.phases[i], before = stage == 0 ? Exact(0.0) : Exact(state.slopes[i]);
      const Exact all = stage == 0 ? slope : before + (stage == 3 ? slope : 2.0 * slope);
      const Exact next = phase + (stage == 3 ? (h / 6.0) * all : (stage == 2 ? h : h / 2.0) * slope);
      if (stage == 3) state.phases[i] = next.value;
      else state.slopes[i] = all.value;
      state.turned[i] = turnedTo(next.value);
    }
    sums = sumsOf(state.turned, bank.size);
  }
  return sums;
}

}  // namespace phases

/**
 * The largest order parameter that each pattern brings a bank of oscillators to. A warp a pattern.
 * A bank takes 32 bytes an oscillator and 4 a channel, in shared memory if `scratch` is null.
 */
extern "C" __global__ void __launch_bounds__(32)
    pattern_phases_coherence(PATTERNS, const double* turns, const double* startPhases, const unsigned* channelOf, unsigned size, unsigned channels,
                             double coupling, double drive, double stepMs, unsigned freeParts, unsigned drivenParts, double* scratch,
                             unsigned long long scratchOfBlock, double* out) {
  extern __shared__ double2 own[];
  const measures::Patterns all = ALL_PATTERNS;
  const phases::Bank bank = {turns, startPhases, channelOf, size, channels, coupling, drive};
  double2* const turned = scratch != nullptr ? (double2*)(scratch + blockIdx.x * scratchOfBlock) : own;
  double* const values = (double*)(turned + size);
  const phases::State state = {turned, values, values + size, (unsigned*)(values + 2 * (measures::Wide)size)};
  const Exact seconds = Exact(stepMs) / 1000.0, h[2] = {seconds / (double)freeParts, seconds / (double)drivenParts};
  for (unsigned p = blockIdx.x; p < count; p += gridDim.x) {
    const measures::Pattern pattern = all[p];
    const measures::Steps steps = measures::binsOf(pattern.duration, stepMs);
    for (unsigned i = measures::lane(); i < channels; i += 32) state.fired[i] = 0;
    for (unsigned i = measures::lane(); i < size; i += 32) {
      state.phases[i] = startPhases[i];
      turned[i] = phases::turnedTo(startPhases[i]);
    }
    phases::Sums sums = phases::sumsOf(turned, size);
    Exact largest = 0.0;
    unsigned next = 0;
    for (unsigned step = 0; step < steps.count; step++) {
      const unsigned before = next;
      for (;;) {
        const unsigned i = next + measures::lane();
        const bool within = i < pattern.spikes && steps.of(pattern.times[i]) <= step;
        if (within) {
          const double neuron = (double)pattern.neurons[i];
          const double channel = channels == neuronCount ? neuron : floor(portable::div(portable::mul(neuron, (double)channels), (double)neuronCount));
          state.fired[(unsigned)channel] = step + 1;
        }
        const unsigned some = __popc(__ballot_sync(0xffffffffu, within));
        next += some;
        if (some < 32) break;
      }
      __syncwarp();
      const bool driven = next > before;
      const unsigned parts = driven ? drivenParts : freeParts;
      for (unsigned part = 0; part < parts; part++) sums = phases::advance(bank, state, driven ? h[1] : h[0], step, driven, sums);
      largest = greatest(largest, root(sums.cosine * sums.cosine + sums.sine * sums.sine) / (double)size);
    }
    if (measures::lane() == 0) out[p] = largest.value;
  }
}
