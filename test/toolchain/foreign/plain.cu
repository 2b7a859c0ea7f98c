// CUDA C++ without a header, so that clang compiles it with no toolkit and nvcc with its own:
// structs by value, memory that the host frees, and what can be wrong with shared memory, warps and
// blocks. Each kernel is right if `bug` is 0.
#ifdef __clang__
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __noinline__ __attribute__((noinline))
#define THREAD __nvvm_read_ptx_sreg_tid_x()
#define BLOCK __nvvm_read_ptx_sreg_ctaid_x()
#define THREADS __nvvm_read_ptx_sreg_ntid_x()
#define BARRIER() __nvvm_bar_sync(0)
#define SHUFFLE_DOWN(mask, value, lanes) __nvvm_shfl_sync_down_i32(mask, value, lanes, 31)
#define ADD(address, value) __nvvm_atom_add_gen_i(address, value)
#define FENCE() __nvvm_membar_gl()
#else
#define THREAD threadIdx.x
#define BLOCK blockIdx.x
#define THREADS blockDim.x
#define BARRIER() __syncthreads()
#define SHUFFLE_DOWN(mask, value, lanes) __shfl_down_sync(mask, value, lanes)
#define ADD(address, value) atomicAdd(address, value)
#define FENCE() __threadfence()
#endif

struct alignas(16) Quad {
  float x, y, z, w;
};
struct Item {
  char kind;
  double weight;
  short counts[3];
  bool on;
};
struct Settings {
  unsigned char flags;
  Quad color;
  Item items[2];
  long long key;
  const float* table;
};

// bug 1: an index beyond what the struct points to.
extern "C" __global__ void settings(Settings s, double* y, int bug) {
  int t = THREAD;
  const Item& item = s.items[t & 1];
  float from = s.table[t + (bug == 1)];  // bug settings: outOfBounds
  y[t] = s.flags + s.color.z * from + item.kind + item.weight + item.counts[t % 3] + (item.on ? 1000 : 0) + (double)(s.key >> 32);
}

template <int Power> struct Scaled {
  const float* weights;
  float factor;
  __device__ float operator()(float x, int k) const {
    float result = factor * weights[k % 4];
    for (int j = 0; j < Power; j++) result *= x;
    return result;
  }
};
template <class Function> __device__ void apply(const float* x, float* y, int n, Function f, int bug) {
  int k = BLOCK * THREADS + THREAD;
  if (k < n + (bug == 1)) y[k] = f(x[k], k);  // bug functor: outOfBounds
}
// bug 1: an element too many.
extern "C" __global__ void functor(const float* x, float* y, int n, Scaled<2> f, int bug) { apply(x, y, n, f, bug); }

// The host frees what the device remembers.
extern "C" __global__ void remember(const int** place, const int* x) { *place = x; }
extern "C" __global__ void recall(const int* const* place, int* y) {
  const int* x = *place;
  y[THREAD] = x[THREAD] + 1;  // bug 1 recall: useAfterFree
}

// bug 1: the sums of warps are read before all are there. bug 2: half of the warp shuffles. bug 3:
// a branch of a warp waits for the block. bug 4: a word that nothing wrote.
extern "C" __global__ void block_sum(const int* x, int* y, int bug) {
  __shared__ int sums[4];
  int t = THREAD, value = x[BLOCK * THREADS + t];
  if (bug != 2 || t % 32 < 16)
    for (int step = 16; step > 0; step /= 2)
      value += SHUFFLE_DOWN(0xffffffff, value, step);  // bug 2 block_sum: warpDivergence
  if (t % 32 == 0 && (bug != 4 || t != 64)) sums[t / 32] = value;  // bug 1 block_sum: race
  if (bug == 3 && t % 32 < 7) {
    y[BLOCK] = 0;
    BARRIER();  // bug 3 block_sum: barrierDivergence
    y[BLOCK] = 1;
  } else if (bug != 1)
    BARRIER();  // bug 3 block_sum: barrierDivergence
  if (t == 0) y[BLOCK] = sums[0] + sums[1] + sums[2] + sums[3];  // bug 1 block_sum: race uninitialised // bug 4 block_sum: uninitialised
}

// bug 1: four floats at once from the second on. bug 2: blocks write the same places without order.
extern "C" __global__ void fours(const float* x, float* y, int bug) {
  int k = BLOCK * THREADS + THREAD;
  const Quad v = *(const Quad*)(x + 4 * k + (bug == 1));  // bug 1 fours: misaligned
  int place = bug == 2 ? THREAD : k;
  y[place] = v.x + v.y * v.z - v.w;  // bug 2 fours: race
}

__device__ __noinline__ long long power(long long base, int exponent) {
  return exponent == 0 ? 1 : exponent % 2 ? base * power(base, exponent - 1) : power(base * base, exponent / 2);
}
// A switch, recursion, 64-bit arithmetic, a counter. bug 1: the last block looks before the others
// have written.
extern "C" __global__ void ticket(const int* x, int* counter, long long* parts, long long* y, int bug) {
  int t = THREAD;
  long long value;
  switch (x[BLOCK]) {
    case 0: value = power(3, t % 30); break;
    case 1: value = power(-2, t); break;
    case 2: value = 0x123456789aLL / (t + 1); break;
    case 3: value = -1000000007LL % (t + 2); break;
    default: value = ~0LL;
  }
  parts[BLOCK * THREADS + t] = value;  // bug 1 ticket: race
  __shared__ int last;
  if (bug != 1) FENCE();
  BARRIER();
  if (t == 0) last = ADD(counter, 1) == 3;
  BARRIER();
  if (!last) return;
  if (bug != 1) FENCE();
  long long sum = 0;
  for (int b = 0; b < 4; b++) sum ^= parts[b * THREADS + t];  // bug 1 ticket: race
  y[t] = sum;
}
