// Barriers, pipelines, copies and atomics of libcu++. Each kernel is right if `bug` is 0.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
namespace cg = cooperative_groups;

// Half of the block makes what the other half sums. bug 1: who sums does so before it waits.
extern "C" __global__ void handover(const int* x, int* y, int bug) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ Barrier full;
  __shared__ Barrier empty;
  __shared__ int box[32];
  auto block = cg::this_thread_block();
  if (block.thread_rank() == 0) {
    init(&full, block.size());
    init(&empty, block.size());
  }
  block.sync();
  int t = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    for (int k = 0; k < 4; k++) {
      empty.arrive_and_wait();
      box[t] = 2 * x[32 * k + t];  // bug handover: race
      (void)full.arrive();
    }
  } else {
    int sum = 0;
    (void)empty.arrive();
    for (int k = 0; k < 4; k++) {
      if (bug == 1) sum += box[31 - t];  // bug handover: race
      full.arrive_and_wait();
      if (bug != 1) sum += box[31 - t];
      if (k < 3) (void)empty.arrive();
    }
    y[t] = sum;
  }
}

// bug 1: a stage is read before its copies have come.
extern "C" __global__ void pipeline(const int* x, int* y, int count, int bug) {
  constexpr int stages = 2;
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
  __shared__ alignas(16) int box[stages][64];
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  int sum = 0;
  for (int fetch = 0, k = 0; k < count; k++) {
    for (; fetch < count && fetch < k + stages; fetch++) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, box[fetch % stages], x + 64 * fetch, cuda::aligned_size_t<16>(sizeof(box[0])), pipe);
      pipe.producer_commit();
    }
    if (bug != 1) pipe.consumer_wait();
    sum += box[k % stages][63 - threadIdx.x];  // bug pipeline: race
    pipe.consumer_release();
  }
  y[threadIdx.x] = sum;
}

// bug 1: nobody waits for the copy.
extern "C" __global__ void group_copy(const int* x, int* y, int bug) {
  __shared__ alignas(16) int box[128];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, box, x, sizeof(box));
  if (bug != 1) cg::wait(block);
  y[threadIdx.x] = box[127 - threadIdx.x];  // bug group_copy: race
}

// bug 1: one thread counts without the atomic.
extern "C" __global__ void atomics(const int* x, int* bins, float* most, int bug) {
  __shared__ int local[8];
  if (threadIdx.x < 8) local[threadIdx.x] = 0;
  __syncthreads();
  int bin = x[blockIdx.x * blockDim.x + threadIdx.x] & 7;
  cuda::atomic_ref<int, cuda::thread_scope_block>(local[bin]).fetch_add(1, cuda::memory_order_relaxed);
  __syncthreads();
  if (threadIdx.x < 8) {
    if (bug == 1)
      bins[threadIdx.x] += local[threadIdx.x];  // bug atomics: race
    else
      cuda::atomic_ref<int, cuda::thread_scope_device>(bins[threadIdx.x]).fetch_add(local[threadIdx.x], cuda::memory_order_relaxed);
  }
  cuda::atomic_ref<float, cuda::thread_scope_device>(*most).fetch_max((float)bin * blockIdx.x);
}

// Blocks hand a message on by a flag. bug 1: the flag is not released.
extern "C" __global__ void message(int* data, int* flag, int* y, int bug) {
  cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
  if (blockIdx.x == 0) {
    *data = 42;  // bug message: race
    ready.store(1, bug == 1 ? cuda::memory_order_relaxed : cuda::memory_order_release);
  } else {
    while (ready.load(cuda::memory_order_acquire) == 0) {}
    *y = *data + 1;  // bug message: race
  }
}
