// target: sm_75
// Spiking networks, docs/numerics.md rule 12: whole chunks of steps in one launch, blocks that own
// their neurons and stay. Synaptic input is summed by atomics on whole numbers: no order matters.
// Neurons are leaky (0), adaptive (1) or Izhikevich's (2).
#include "exchange.cuh"
#include "philox.cuh"

namespace spiking {

using portable::add;
using portable::mul;
using portable::sub;

/**
 * Synapses by source: those of source j are offsets[j] to offsets[j + 1]. A cell is a target, + N
 * if the weight is below 0.
 */
struct Synapses {
  const unsigned *offsets, *cells;
  const int* weights;
  const unsigned short* delays;
};

/** A launch. Lists over neurons stand one after the other, N values each. */
template <typename Real> struct Network {
  Synapses synapses, inputSynapses;
  /**
   * keep (dt a), driveGain, excitatoryGain, inhibitoryGain, threshold, reset (c), recoveryKeep (b),
   * recoveryStep (d), bias.
   */
  const Real* constants;
  /** potential, recovery, excitatory, inhibitory, filtered spikes. */
  Real* network;
  const int* refractory;
  int* held;
  /**
   * Rows of 2 N: excitatory and then inhibitory input. There is one row more than the longest delay
   * needs: nobody writes to the row that is being read.
   */
  int* ring;
  const Real *inputs, *inputWeights;
  Real* states;
  /** slices, inputSlices: warps that share the synapses of one spike, and of one input spike. */
  int size, inputSize, rows, row, steps, neuron, subtracts, slices, inputSlices;
  Real unit, excitatoryKeep, inhibitoryKeep, stateKeep, noiseScale, halfStep;
  unsigned backgroundChance, key0, key1, firstStep, sequence;
  int backgroundWeight;
  /** Blocks that have come to the barrier since the launch. */
  unsigned* arrived;
  /**
   * The first potential that is not finite as (2^32 - 1 - step) << 32 | 2^32 - 1 - neuron, 0 for
   * none; then block + 1 << 32 | step of a wait without end.
   */
  unsigned long long* report;
  long long spinLimit;
};

static __device__ __forceinline__ float rounded(float x) { return rintf(x); }
static __device__ __forceinline__ double rounded(double x) { return rint(x); }
static __device__ __forceinline__ void convert(int x, float& to) { to = __int2float_rn(x); }
static __device__ __forceinline__ void convert(int x, double& to) { to = (double)x; }

static __device__ __forceinline__ unsigned acquire(const unsigned* from) {
  unsigned value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
  return value;
}

/**
 * Waits until all blocks have come here `round` times. False if one did not come in time, in all
 * threads of the block.
 */
static __device__ __forceinline__ bool barrier(unsigned* arrived, unsigned round, unsigned long long* report, unsigned step, long long limit) {
  __shared__ int lost;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrived, 1u);
    lost = 0;
    exchange::Patience patience(limit);
    while (acquire(arrived) < round * gridDim.x) {
      if (patience.over()) {
        atomicCAS(report + 1, 0ull, (unsigned long long)(blockIdx.x + 1) << 32 | step);
        lost = 1;
        break;
      }
    }
    __threadfence();
  }
  __syncthreads();
  return lost == 0;
}

/** Adds a share of one source's synapses to the ring: every `stride`-th from `first` on. */
template <typename Real>
static __device__ __forceinline__ void deliver(const Network<Real>& net, const Synapses& synapses, unsigned source, int row, Real amplitude, unsigned first,
                                               unsigned stride) {
  const unsigned end = synapses.offsets[source + 1];
  for (unsigned s = synapses.offsets[source] + first; s < end; s += stride) {
    int units = synapses.weights[s];
    if (amplitude != (Real)1) {
      Real exact;
      convert(units, exact);
      units = (int)rounded(mul(exact, amplitude));
    }
    int target = row + synapses.delays[s];
    if (target >= net.rows) target -= net.rows;
    atomicAdd(net.ring + (size_t)target * 2 * net.size + synapses.cells[s], units);
  }
}

/** The input spikes of one step, slices of channels distributed over the warps of all blocks. */
template <typename Real> static __device__ __forceinline__ void deliverInput(const Network<Real>& net, int step, int row) {
  if (net.inputSynapses.offsets == nullptr) return;
  const int warps = blockDim.x >> 5, slices = net.inputSlices;
  const long long pieces = (long long)net.inputSize * slices;
  for (long long k = blockIdx.x * warps + (threadIdx.x >> 5); k < pieces; k += gridDim.x * warps) {
    const int c = (int)(k / slices), slice = (int)(k - (long long)c * slices);
    const Real amplitude = net.inputs[(size_t)step * net.inputSize + c];
    if (amplitude != (Real)0) deliver(net, net.inputSynapses, c, row, amplitude, slice * 32 + (threadIdx.x & 31), slices * 32);
  }
}

template <typename Real> static __device__ __forceinline__ Real slope(Real v, Real u, Real current) {
  const Real square = mul(mul((Real)0.04, v), v);
  return add(sub(add(add(square, mul((Real)5, v)), (Real)140), u), current);
}

/** Bias, W_in u and noise of one neuron. */
template <typename Real> static __device__ __forceinline__ Real driveOf(const Network<Real>& net, int r, int step) {
  Real drive = net.constants[(size_t)8 * net.size + r];
  if (net.inputWeights != nullptr)
    for (int c = 0; c < net.inputSize; c++)
      drive = add(drive, mul(net.inputWeights[(size_t)c * net.size + r], net.inputs[(size_t)step * net.inputSize + c]));
  if (net.noiseScale != (Real)0) {
    const unsigned word = philox::word(philox::block(net.key0, net.key1, net.firstStep + step, r >> 2, net.sequence, 0), r & 3);
    Real sum;
    convert((int)((word & 255u) + (word >> 8 & 255u) + (word >> 16 & 255u) + (word >> 24)) - 510, sum);
    drive = add(drive, mul(net.noiseScale, sum));
  }
  return drive;
}

/** One neuron's step; says whether it fires. */
template <typename Real> static __device__ __forceinline__ bool advance(const Network<Real>& net, int r, int step, int row) {
  const size_t n = net.size;
  int* const cells = net.ring + (size_t)row * 2 * n;
  int arrivedNow = __ldcg(cells + r);
  const int inhibition = __ldcg(cells + n + r);
  if (arrivedNow != 0) __stcg(cells + r, 0);
  if (inhibition != 0) __stcg(cells + n + r, 0);
  if (net.backgroundChance != 0) {
    const unsigned word = philox::word(philox::block(net.key0, net.key1, net.firstStep + step, r >> 2, net.sequence, 1), r & 3);
    if (word < net.backgroundChance) arrivedNow += net.backgroundWeight;
  }
  Real* const at = net.network + r;
  const Real* const constant = net.constants + r;
  Real e, i;
  convert(arrivedNow, e);
  convert(inhibition, i);
  e = add(at[2 * n], mul(e, net.unit));
  i = add(at[3 * n], mul(i, net.unit));
  const Real drive = driveOf(net, r, step);
  const Real before = at[0];
  bool fires;
  if (net.neuron == 2) {
    const Real u = at[n], current = add(add(e, i), drive);
    const Real middle = add(before, mul(net.halfStep, slope(before, u, current)));
    const Real v = add(middle, mul(net.halfStep, slope(middle, u, current)));
    const Real next = add(u, mul(constant[0], sub(mul(constant[6 * n], v), u)));
    if (!portable::finite(v) || !portable::finite(next))
      atomicMax(net.report, (unsigned long long)(0xffffffffu - step) << 32 | (0xffffffffu - (unsigned)r));
    fires = v >= (Real)30;
    at[0] = fires ? constant[5 * n] : v;
    at[n] = fires ? add(next, constant[7 * n]) : next;
  } else {
    const int held = net.held[r];
    Real v = add(mul(constant[0], before), mul(constant[2 * n], e));
    v = add(add(v, mul(constant[3 * n], i)), mul(constant[n], drive));
    if (held > 0) v = before;
    if (!portable::finite(v)) atomicMax(net.report, (unsigned long long)(0xffffffffu - step) << 32 | (0xffffffffu - (unsigned)r));
    Real limit = constant[4 * n];
    if (net.neuron == 1) limit = add(limit, at[n]);
    fires = held == 0 && v >= limit;
    const Real reset = constant[5 * n];
    at[0] = !fires ? v : net.subtracts ? sub(v, reset) : reset;
    if (net.neuron == 1) {
      const Real kept = mul(constant[6 * n], at[n]);
      at[n] = fires ? add(kept, constant[7 * n]) : kept;
    }
    const int next = fires ? net.refractory[r] : held > 0 ? held - 1 : 0;
    if (next != held) net.held[r] = next;
  }
  at[2 * n] = mul(net.excitatoryKeep, e);
  at[3 * n] = mul(net.inhibitoryKeep, i);
  Real x = mul(net.stateKeep, at[4 * n]);
  if (fires) x = add(x, (Real)1);
  at[4 * n] = x;
  if (net.states != nullptr) net.states[(size_t)step * n + r] = x;
  return fires;
}

template <typename Real> static __device__ __forceinline__ void run(const Network<Real>& net, unsigned* fired) {
  __shared__ unsigned count;
  const int perBlock = (net.size + gridDim.x - 1) / gridDim.x;
  const int first = blockIdx.x * perBlock, last = min(net.size, first + perBlock);
  const int warps = blockDim.x >> 5, warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  unsigned round = 1;
  deliverInput(net, 0, net.row);
  if (net.inputSynapses.offsets != nullptr && !barrier(net.arrived, round++, net.report, net.firstStep, net.spinLimit)) return;
  int row = net.row;
  for (int step = 0; step < net.steps; step++) {
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    for (int r = first + threadIdx.x; r < last; r += blockDim.x)
      if (advance(net, r, step, row)) fired[atomicAdd(&count, 1u)] = r;
    __syncthreads();
    row = row + 1 == net.rows ? 0 : row + 1;
    const int pieces = count * net.slices;
    for (int k = warp; k < pieces; k += warps) {
      const int spike = k / net.slices, slice = k - spike * net.slices;
      deliver(net, net.synapses, fired[spike], row, (Real)1, slice * 32 + lane, net.slices * 32);
    }
    if (step + 1 < net.steps) {
      deliverInput(net, step + 1, row);
      if (!barrier(net.arrived, round++, net.report, net.firstStep + step, net.spinLimit)) return;
    }
  }
}

}  // namespace spiking

#define SPIKING_KERNEL(name, Real)                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(1024, 1)                                                                                               \
      name(const unsigned* offsets, const unsigned* cells, const int* weights, const unsigned short* delays, const unsigned* inputOffsets,            \
           const unsigned* inputCells, const int* inputUnits, const unsigned short* inputDelays, const Real* constants, Real* network,                \
           const int* refractory, int* held, int* ring, const Real* inputs, const Real* inputWeights, Real* states, int size, int inputSize, int rows, \
           int row, int steps, int neuron, int subtracts, int slices, int inputSlices, Real unit, Real excitatoryKeep, Real inhibitoryKeep,           \
           Real stateKeep, Real noiseScale, Real halfStep, unsigned backgroundChance, unsigned key0, unsigned key1, unsigned firstStep,               \
           unsigned sequence, int backgroundWeight, unsigned* arrived, unsigned long long* report, long long spinLimit) {                             \
    extern __shared__ unsigned fired[];                                                                                                               \
    const spiking::Network<Real> net = {{offsets, cells, weights, delays},                                                                            \
                                        {inputOffsets, inputCells, inputUnits, inputDelays},                                                          \
                                        constants,                                                                                                    \
                                        network,                                                                                                      \
                                        refractory,                                                                                                   \
                                        held,                                                                                                         \
                                        ring,                                                                                                         \
                                        inputs,                                                                                                       \
                                        inputWeights,                                                                                                 \
                                        states,                                                                                                       \
                                        size,                                                                                                         \
                                        inputSize,                                                                                                    \
                                        rows,                                                                                                         \
                                        row,                                                                                                          \
                                        steps,                                                                                                        \
                                        neuron,                                                                                                       \
                                        subtracts,                                                                                                    \
                                        slices,                                                                                                       \
                                        inputSlices,                                                                                                  \
                                        unit,                                                                                                         \
                                        excitatoryKeep,                                                                                               \
                                        inhibitoryKeep,                                                                                               \
                                        stateKeep,                                                                                                    \
                                        noiseScale,                                                                                                   \
                                        halfStep,                                                                                                     \
                                        backgroundChance,                                                                                             \
                                        key0,                                                                                                         \
                                        key1,                                                                                                         \
                                        firstStep,                                                                                                    \
                                        sequence,                                                                                                     \
                                        backgroundWeight,                                                                                             \
                                        arrived,                                                                                                      \
                                        report,                                                                                                       \
                                        spinLimit};                                                                                                   \
    spiking::run(net, fired);                                                                                                                         \
  }

SPIKING_KERNEL(leaky_integrate_fire_f32, float)
SPIKING_KERNEL(leaky_integrate_fire_f64, double)
