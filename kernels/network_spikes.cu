// target: sm_75
// Puts the spikes that a network recorded (kernels/network_slots.cu, network_step.cu) in order of
// step, and of neuron within a step. A spike is step << 32 | neuron.

/**
 * offsets[step + 1] += the spikes of each step; offsets hold zeros. Blocks (region, share of it).
 */
extern "C" __global__ void __launch_bounds__(256)
    network_spikes_count(unsigned* __restrict__ offsets, const unsigned long long* __restrict__ spikes, const unsigned* __restrict__ counts, unsigned capacity) {
  const unsigned long long* const region = spikes + (size_t)blockIdx.x * capacity;
  for (unsigned s = blockIdx.y * blockDim.x + threadIdx.x; s < counts[blockIdx.x]; s += gridDim.y * blockDim.x) atomicAdd(offsets + (region[s] >> 32) + 1, 1u);
}

/** offsets[t] = the spikes before step t, and next[t] the same. One block of 1024. */
extern "C" __global__ void __launch_bounds__(1024) network_spikes_offsets(unsigned* __restrict__ offsets, unsigned* __restrict__ next, unsigned steps) {
  __shared__ unsigned sums[32];
  const unsigned lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  unsigned before = 0;
  for (unsigned first = 0; first <= steps; first += 1024) {
    const unsigned t = first + threadIdx.x;
    unsigned sum = t <= steps ? offsets[t] : 0;
#pragma unroll
    for (int distance = 1; distance < 32; distance <<= 1) {
      const unsigned other = __shfl_up_sync(0xffffffffu, sum, distance);
      if (lane >= distance) sum += other;
    }
    if (lane == 31) sums[warp] = sum;
    __syncthreads();
    unsigned all = 0;
    for (unsigned w = 0; w < 32; w++) {
      if (w == warp) sum += before + all;
      all += sums[w];
    }
    if (t <= steps) offsets[t] = sum;
    if (t < steps) next[t] = sum;
    before += all;
    __syncthreads();
  }
}

/** The neurons of each step side by side, in any order. */
extern "C" __global__ void __launch_bounds__(256)
    network_spikes_place(unsigned* __restrict__ neurons, unsigned* __restrict__ next, const unsigned long long* __restrict__ spikes,
                         const unsigned* __restrict__ counts, unsigned capacity) {
  const unsigned long long* const region = spikes + (size_t)blockIdx.x * capacity;
  for (unsigned s = blockIdx.y * blockDim.x + threadIdx.x; s < counts[blockIdx.x]; s += gridDim.y * blockDim.x) neurons[atomicAdd(next + (region[s] >> 32), 1u)] = (unsigned)region[s];
}

/** The neurons of each step in order: each goes where as many are smaller. A warp a step. */
extern "C" __global__ void __launch_bounds__(256)
    network_spikes_order(unsigned* __restrict__ ordered, const unsigned* __restrict__ neurons, const unsigned* __restrict__ offsets, unsigned steps) {
  const unsigned lane = threadIdx.x & 31, warps = gridDim.x * blockDim.x >> 5;
  for (unsigned t = (blockIdx.x * blockDim.x + threadIdx.x) >> 5; t < steps; t += warps) {
    const unsigned from = offsets[t], to = offsets[t + 1];
    for (unsigned s = from + lane; s < to; s += 32) {
      const unsigned own = neurons[s];
      unsigned smaller = 0;
      for (unsigned other = from; other < to; other++) smaller += neurons[other] < own;
      ordered[from + smaller] = own;
    }
  }
}
