// target: sm_75
// Spike patterns put in order, and their scores for the types that are counted: synchronous,
// chaotic, emergent, sparse, burst, with the bits of src/spikes/detection/types. A warp or a block
// takes a pattern after the other. What goes by phases is in pattern_phases.cu.
#include "exponential.cuh"
#include "measures.cuh"

namespace measures {

/**
 * Sorts spikes in place by a block: a bitonic network whose smaller element always goes to the
 * front, which therefore takes any number of them.
 */
template <typename Before> static __device__ __forceinline__ void sort(double* times, unsigned* neurons, unsigned count, Before before) {
  for (int widest = 0; (1ull << widest) < count; widest++)
    for (int shift = widest; shift >= 0; shift--) {
      const Wide step = 1ull << shift;
      for (Wide pair = threadIdx.x;; pair += blockDim.x) {
        const Wide base = pair >> shift << (shift + 1), i = pair & (step - 1);
        const Wide low = base + i, high = shift == widest ? base + 2 * step - 1 - i : low + step;
        if (low >= count) break;
        if (high >= count) continue;
        const double a = times[low], b = times[high];
        const unsigned m = neurons[low], n = neurons[high];
        if (!before(b, n, a, m)) continue;
        times[low] = b;
        times[high] = a;
        neurons[low] = n;
        neurons[high] = m;
      }
      __syncthreads();
    }
}

/**
 * Where runs of equal neurons start, and behind the last the number of spikes; how many runs there
 * are. By a full warp.
 */
static __device__ __forceinline__ unsigned startsOf(const unsigned* neurons, unsigned count, unsigned* starts) {
  unsigned found = 0;
  for (unsigned base = 0; base < count; base += 32) {
    const unsigned i = base + lane();
    const bool first = i < count && (i == 0 || neurons[i] != neurons[i - 1]);
    const unsigned firsts = __ballot_sync(0xffffffffu, first);
    if (first) starts[found + __popc(firsts & ((1u << lane()) - 1))] = i;
    found += __popc(firsts);
  }
  if (lane() == 0) starts[found] = count;
  return found;
}

/** Pairs of successive intervals with the one that followed: at most so many. */
constexpr unsigned mostTriples = 1000, neighbours = 4;

/** Those of all trains, one train after the other; how many. By a full warp. */
static __device__ unsigned triplesOf(const Pattern& pattern, double (*triples)[mostTriples]) {
  unsigned found = 0;
  for (unsigned base = 0; base < pattern.trains && found < mostTriples; base += 32) {
    const unsigned train = base + lane(), length = train < pattern.trains ? pattern.lengthOf(train) : 0;
    const unsigned own = length > 3 ? length - 3 : 0;
    // Sums of more than 2^32 spikes do not occur: a pattern has fewer.
    unsigned last = own;
    for (int distance = 1; distance < 32; distance *= 2) {
      const unsigned before = __shfl_up_sync(0xffffffffu, last, distance);
      if (lane() >= (unsigned)distance) last += before;
    }
    const double* const times = pattern.trainTimes + (own > 0 ? pattern.starts[train] : 0);
#pragma unroll 1
    for (unsigned i = 0, at = found + last - own; i < own && at < mostTriples; i++, at++)
      for (int k = 0; k < 3; k++) triples[k][at] = portable::sub(times[i + k + 1], times[i + k]);
    found += __shfl_sync(0xffffffffu, last, 31);
  }
  return found < mostTriples ? found : mostTriples;
}

/**
 * The squared error of predicting the third number of triple i as the mean of those of the nearest
 * other pairs.
 */
static __device__ Exact analogueError(const double (*triples)[mostTriples], unsigned count, unsigned i) {
  double distances[neighbours], values[neighbours];
  for (int k = 0; k < (int)neighbours; k++) {
    distances[k] = __longlong_as_double(0x7ff0000000000000ll);
    values[k] = 0.0;
  }
  const Exact a = triples[0][i], b = triples[1][i];
#pragma unroll 1
  for (unsigned j = 0; j < count; j++) {
    if (j == i) continue;
    const Exact c = triples[0][j], d = triples[1][j];
    const double distance = ((a - c) * (a - c) + (b - d) * (b - d)).value;
    if (distance >= distances[neighbours - 1]) continue;
    // What is further away moves back by one, and the new one goes where that began.
    const double value = triples[2][j];
#pragma unroll
    for (int k = neighbours - 1; k >= 0; k--) {
      const bool moves = k > 0 && distances[k - 1] > distance, goes = k == (int)neighbours - 1 || distances[k] > distance;
      if (!goes) continue;
      distances[k] = moves ? distances[k - 1] : distance;
      values[k] = moves ? values[k - 1] : value;
    }
  }
  Exact sum = 0.0;
  for (int k = 0; k < (int)neighbours; k++) sum = sum + values[k];
  const Exact error = Exact(triples[2][i]) - sum / (double)neighbours;
  return error * error;
}

static __device__ Exact cubeRoot(Exact x) {
  Exact value = x < 1.0 ? Exact(1.0) : x;
  for (int i = 0; i < 60; i++) value = (2.0 * value + x / (value * value)) / 3.0;
  return value;
}

}  // namespace measures

/**
 * Copies of the spikes of each pattern in order of time, and train by train; a block each. A spike
 * outside its pattern becomes one at 0 of neuron 0, and the least number of one goes to *outside.
 */
extern "C" __global__ void __launch_bounds__(1024)
    pattern_measures_sort(const double* givenTimes, const unsigned* givenNeurons, const unsigned long long* offsets, const double* durations,
                          unsigned count, unsigned neuronCount, double* times, unsigned* neurons, double* trainTimes, unsigned* trainNeurons,
                          unsigned* starts, unsigned* trainCounts, unsigned long long* outside) {
  for (unsigned p = blockIdx.x; p < count; p += gridDim.x) {
    const measures::Wide first = offsets[p];
    const unsigned spikes = (unsigned)(offsets[p + 1] - first);
    double* const byTime = times + first;
    unsigned* const neuronByTime = neurons + first;
    for (unsigned i = threadIdx.x; i < spikes; i += blockDim.x) {
      const double time = givenTimes[first + i];
      const unsigned neuron = givenNeurons[first + i];
      const bool fits = time >= 0.0 && time <= durations[p] && neuron < neuronCount;
      if (!fits) atomicMin(outside, first + i);
      byTime[i] = fits ? time : 0.0;
      neuronByTime[i] = fits ? neuron : 0;
    }
    __syncthreads();
    const auto earlier = [](double a, unsigned m, double b, unsigned n) { return a < b || (a == b && m < n); };
    bool sorted = true;
    for (unsigned i = threadIdx.x + 1; i < spikes; i += blockDim.x)
      if (earlier(byTime[i], neuronByTime[i], byTime[i - 1], neuronByTime[i - 1])) sorted = false;
    if (!__syncthreads_and(sorted)) measures::sort(byTime, neuronByTime, spikes, earlier);
    double* const byTrain = trainTimes + first;
    unsigned* const neuronByTrain = trainNeurons + first;
    for (unsigned i = threadIdx.x; i < spikes; i += blockDim.x) {
      byTrain[i] = byTime[i];
      neuronByTrain[i] = neuronByTime[i];
    }
    __syncthreads();
    measures::sort(byTrain, neuronByTrain, spikes, [](double a, unsigned m, double b, unsigned n) { return m < n || (m == n && a < b); });
    if (threadIdx.x >= 32) continue;
    const unsigned found = measures::startsOf(neuronByTrain, spikes, starts + first + p);
    if (threadIdx.x == 0) trainCounts[p] = found;
  }
}

/** Synchrony of counts in 5 ms. A warp a pattern. */
extern "C" __global__ void __launch_bounds__(32) pattern_measures_synchronous(PATTERNS, double* out) {
  const measures::Patterns all = ALL_PATTERNS;
  for (unsigned p = blockIdx.x; p < count; p += gridDim.x) {
    const measures::Pattern pattern = all[p];
    const measures::Steps bins = measures::binsOf(pattern.duration, 5.0);
    if (neuronCount < 2 || bins.count < 4) continue;
    const Exact rows = (double)bins.count, cols = (double)neuronCount;
    const Exact single = measures::sumInOrder(pattern.trains, [&](unsigned train) -> Exact {
      const unsigned end = pattern.starts[train + 1];
      measures::Wide squares = 0, run = 0;
      unsigned bin = 0;
#pragma unroll 1
      for (unsigned i = pattern.starts[train]; i < end; i++) {
        const unsigned at = bins.of(pattern.trainTimes[i]);
        if (at != bin) {
          squares += run * run;
          run = 0;
          bin = at;
        }
        run++;
      }
      squares += run * run;
      const Exact mean = Exact((double)pattern.lengthOf(train)) / rows;
      return Exact((double)squares) / rows - mean * mean;
    });
    const auto share = [&](unsigned bin) {
      const unsigned end = bin + 1 < bins.count ? bins.firstIn(pattern, bin + 1) : pattern.spikes;
      return Exact((double)(end - bins.firstIn(pattern, bin))) / cols;
    };
    const Exact sum = measures::sumInOrder(bins.count, share);
    const Exact square = measures::sumInOrder(bins.count, [&](unsigned bin) {
      const Exact own = share(bin);
      return own * own;
    });
    const Exact whole = square / rows - (sum / rows) * (sum / rows);
    if (!(single > 0.0)) continue;
    const Exact chance = (1.0 + 4.0 * root(2.0 / rows)) / cols;
    if (measures::lane() == 0) measures::report(out, p, measures::SYNCHRONOUS, root(measures::aboveChance(whole / (single / cols), chance)));
  }
}

/** Nonlinear prediction of intervals against linear. A block a pattern, of 8 warps. */
extern "C" __global__ void __launch_bounds__(256) pattern_measures_chaotic(PATTERNS, double* out) {
  __shared__ double triples[3][measures::mostTriples], errors[measures::mostTriples], means[3], sums[6];
  __shared__ unsigned found;
  const measures::Patterns all = ALL_PATTERNS;
  const unsigned warp = threadIdx.x >> 5;
  for (unsigned p = blockIdx.x; p < count; p += gridDim.x) {
    const measures::Pattern pattern = all[p];
    __syncthreads();
    if (warp == 0) {
      const unsigned n = measures::triplesOf(pattern, triples);
      if (threadIdx.x == 0) found = n;
    }
    __syncthreads();
    const unsigned n = found;
    if (n < 30) continue;
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x) errors[i] = measures::analogueError(triples, n, i).value;
    if (warp < 3) {
      const Exact sum = measures::sumInOrder(n, [&](unsigned i) -> Exact { return triples[warp][i]; });
      if (measures::lane() == 0) means[warp] = (sum / (double)n).value;
    }
    __syncthreads();
    if (warp < 6) {
      // aa, ab, bb, ac, bc, cc.
      const unsigned left = warp == 5 ? 2 : warp == 2 || warp == 4 ? 1 : 0, right = warp >= 3 ? 2 : warp > 0;
      const Exact sum = measures::sumInOrder(n, [&](unsigned i) {
        return (Exact(triples[left][i]) - means[left]) * (Exact(triples[right][i]) - means[right]);
      });
      if (measures::lane() == 0) sums[warp] = sum.value;
    }
    __syncthreads();
    if (warp != 0) continue;
    const Exact error = measures::sumInOrder(n, [&](unsigned i) -> Exact { return errors[i]; });
    const Exact aa = sums[0], ab = sums[1], bb = sums[2], an = sums[3], bn = sums[4], nn = sums[5];
    if (!(nn > 0.0)) continue;
    const Exact determinant = aa * bb - ab * ab;
    const Exact linearError = !(determinant > 1e-12 * aa * bb) ? (aa > 0.0 ? nn - (an * an) / aa : nn)
                                                               : nn - (an * (bb * an - ab * bn) + bn * (aa * bn - ab * an)) / determinant;
    const Exact analogue = 1.0 - error / nn, linear = 1.0 - linearError / nn;
    if (threadIdx.x == 0) measures::report(out, p, measures::CHAOTIC, least(1.0, greatest(0.0, analogue - greatest(0.0, linear))));
  }
}

/**
 * The largest eigenvalue of the correlations of counts in 20 ms. `scratch` has (trains + 1)
 * (bins + 3) doubles for each block.
 */
extern "C" __global__ void __launch_bounds__(256) pattern_measures_emergent(PATTERNS, double* scratch, unsigned long long scratchOfBlock, double* out) {
  __shared__ unsigned used;
  __shared__ double scalar;
  const measures::Patterns all = ALL_PATTERNS;
  for (unsigned p = blockIdx.x; p < count; p += gridDim.x) {
    const measures::Pattern pattern = all[p];
    const measures::Steps bins = measures::binsOf(pattern.duration, 20.0);
    const unsigned rows = bins.count, stride = pattern.trains;
    if (stride < 3 || rows < 10) continue;
    const Exact ofRows = (double)rows;
    // z[t, train], then a number a column three times, then a number a row.
    double* const z = scratch + blockIdx.x * scratchOfBlock;
    double* const vector = z + (measures::Wide)rows * stride;
    double* const weights = vector + stride;
    unsigned* const columns = (unsigned*)(weights + stride);
    double* const projected = weights + 2 * (measures::Wide)stride;
    for (unsigned train = threadIdx.x; train < stride; train += blockDim.x) {
      double* const column = z + train;
#pragma unroll 1
      for (unsigned t = 0; t < rows; t++) column[(measures::Wide)t * stride] = 0.0;
#pragma unroll 1
      for (unsigned i = pattern.starts[train]; i < pattern.starts[train + 1]; i++) column[(measures::Wide)bins.of(pattern.trainTimes[i]) * stride] += 1.0;
      const Exact mean = Exact((double)pattern.lengthOf(train)) / ofRows;
      Exact squares = 0.0;
#pragma unroll 1
      for (unsigned t = 0; t < rows; t++) {
        const Exact difference = Exact(column[(measures::Wide)t * stride]) - mean;
        squares = squares + difference * difference;
      }
      const Exact variance = squares / ofRows;
      vector[train] = variance.value;
      if (!(variance > 0.0)) continue;
      const Exact deviation = root(variance);
#pragma unroll 1
      for (unsigned t = 0; t < rows; t++) column[(measures::Wide)t * stride] = ((Exact(column[(measures::Wide)t * stride]) - mean) / deviation).value;
    }
    __syncthreads();
    if (threadIdx.x < 32) {
      unsigned found = 0;
      for (unsigned base = 0; base < stride; base += 32) {
        const unsigned train = base + measures::lane();
        const bool varies = train < stride && vector[train] > 0.0;
        const unsigned mask = __ballot_sync(0xffffffffu, varies);
        if (varies) columns[found + __popc(mask & ((1u << measures::lane()) - 1))] = train;
        found += __popc(mask);
      }
      if (threadIdx.x == 0) used = found;
    }
    __syncthreads();
    const unsigned n = used;
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x) vector[i] = (1.0 + Exact((double)((measures::Wide)i * 7919 % 13)) / 13.0).value;
    __syncthreads();
    Exact value = 0.0;
    for (int iteration = 0; n >= 3 && iteration < 300; iteration++) {
      if (threadIdx.x < 32) {
        const Exact square = measures::sumInOrder(n, [&](unsigned i) { return Exact(vector[i]) * vector[i]; });
        if (threadIdx.x == 0) scalar = root(square).value;
      }
      __syncthreads();
      for (unsigned i = threadIdx.x; i < n; i += blockDim.x) weights[i] = (Exact(vector[i]) / scalar).value;
      __syncthreads();
      for (unsigned t = threadIdx.x; t < rows; t += blockDim.x) {
        const double* const row = z + (measures::Wide)t * stride;
        Exact sum = 0.0;
        for (unsigned i = 0; i < n; i++) sum = sum + Exact(weights[i]) * row[columns[i]];
        projected[t] = sum.value;
      }
      __syncthreads();
      if (threadIdx.x < 32) {
        const Exact square = measures::sumInOrder(rows, [&](unsigned t) { return Exact(projected[t]) * projected[t]; });
        if (threadIdx.x == 0) scalar = (square / ofRows).value;
      }
      for (unsigned i = threadIdx.x; i < n; i += blockDim.x) {
        const double* const column = z + columns[i];
        Exact sum = 0.0;
        for (unsigned t = 0; t < rows; t++) sum = sum + Exact(column[(measures::Wide)t * stride]) * projected[t];
        vector[i] = (sum / ofRows).value;
      }
      __syncthreads();
      const Exact before = value;
      value = scalar;
      __syncthreads();
      if (fabs((value - before).value) <= (1e-6 * value).value) break;
    }
    if (threadIdx.x != 0 || n < 3) continue;
    const Exact edge = 1.0 + root(Exact((double)n) / ofRows);
    const Exact width = (edge * measures::cubeRoot(edge)) / (root(measures::cubeRoot(Exact((double)n) * ofRows)) * root(ofRows));
    measures::report(out, p, measures::EMERGENT, greatest(0.0, 1.0 - (edge * edge + 4.0 * width) / value));
  }
}

/** How unevenly neurons fire. A warp a pattern. */
extern "C" __global__ void __launch_bounds__(32) pattern_measures_sparse(PATTERNS, double* out) {
  const measures::Patterns all = ALL_PATTERNS;
  for (unsigned p = blockIdx.x; p < count; p += gridDim.x) {
    const measures::Pattern pattern = all[p];
    if (neuronCount < 2 || pattern.spikes < 2) continue;
    const measures::Wide pairs = measures::sumOfWhole(pattern.trains, [&](unsigned train) {
      const measures::Wide length = pattern.lengthOf(train);
      return length * (length - 1);
    });
    const Exact neurons = (double)neuronCount, mean = Exact((double)pattern.spikes) / neurons;
    const Exact square = Exact((double)pairs) / neurons - 4.0 * root((4.0 * mean * mean * mean + 2.0 * mean * mean) / neurons);
    if (!(square > mean * mean) || measures::lane() != 0) continue;
    measures::report(out, p, measures::SPARSE, least(1.0, (1.0 - (mean * mean) / square) / (1.0 - 1.0 / neurons)));
  }
}

/** The share of spikes in bursts. A warp a pattern, a lane a train. */
extern "C" __global__ void __launch_bounds__(32) pattern_measures_burst(PATTERNS, double* out) {
  const measures::Patterns all = ALL_PATTERNS;
  for (unsigned p = blockIdx.x; p < count; p += gridDim.x) {
    const measures::Pattern pattern = all[p];
    if (pattern.spikes < 5 || pattern.duration == 0.0) continue;
    const auto intervalOf = [&](Exact length) { return least(20.0, 0.25 / (length / pattern.duration)); };
    const auto chanceOf = [&](Exact length) {
      const Exact rate = length / pattern.duration, q = 1.0 - Exact(elementary::expOfNegative((-rate * intervalOf(length)).value));
      return 1.0 - (1.0 - q) * (1.0 - q) * (1.0 + 2.0 * q);
    };
    const Exact expected = measures::sumInOrder(pattern.trains, [&](unsigned train) {
      const Exact length = (double)pattern.lengthOf(train);
      return length < 3.0 ? Exact(0.0) : length * chanceOf(length);
    });
    const Exact variance = measures::sumInOrder(pattern.trains, [&](unsigned train) {
      const Exact length = (double)pattern.lengthOf(train), chance = chanceOf(length);
      return length < 3.0 ? Exact(0.0) : 3.0 * length * chance * (1.0 - chance);
    });
    const measures::Wide inBursts = measures::sumOfWhole(pattern.trains, [&](unsigned train) {
      const unsigned end = pattern.starts[train + 1];
      const Exact longest = intervalOf((double)pattern.lengthOf(train));
      measures::Wide total = 0;
      unsigned run = 1;
#pragma unroll 1
      for (unsigned i = pattern.starts[train] + 1; i <= end; i++) {
        if (i < end && Exact(pattern.trainTimes[i]) - pattern.trainTimes[i - 1] <= longest) {
          run++;
          continue;
        }
        if (run >= 3) total += run;
        run = 1;
      }
      return total;
    });
    const Exact spikes = (double)pattern.spikes, share = (expected + 4.0 * root(variance)) / spikes;
    if (share >= 1.0 || measures::lane() != 0) continue;
    measures::report(out, p, measures::BURST, greatest(0.0, (Exact((double)inBursts) / spikes - share) / (1.0 - share)));
  }
}
