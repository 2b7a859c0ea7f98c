// Plain kernels and what goes wrong with memory and barriers in them. Each kernel is right if `bug`
// is 0.

// bug 1: off by one.
extern "C" __global__ void stencil(const float* x, float* y, int n, int bug) {
  __shared__ float tile[66];
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  if (i >= n) return;
  tile[t + 1] = x[i];
  if (t == 0) tile[0] = i > 0 ? x[i - 1] : 0;
  if (t == 63 || i == n - 1) tile[t + 2] = i + 1 < n + (bug == 1) ? x[i + 1] : 0;  // bug stencil: outOfBounds
  __syncthreads();
  y[i] = tile[t] - 2 * tile[t + 1] + tile[t + 2];
}

// bug 1: no barrier after the loads. bug 2: none before the next tile.
extern "C" __global__ void product(const float* a, const float* b, float* c, int n, int bug) {
  __shared__ float left[8][8], right[8][8];
  int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * 8 + x, row = blockIdx.y * 8 + y;
  float sum = 0;
  for (int k = 0; k < n; k += 8) {
    left[y][x] = a[row * n + k + x];  // bug product: race
    right[y][x] = b[(k + y) * n + column];  // bug product: race
    if (bug != 1) __syncthreads();
    for (int j = 0; j < 8; j++) sum += left[y][j] * right[j][x];  // bug product: race
    if (bug != 2) __syncthreads();
  }
  c[row * n + column] = sum;
}

// bug 1: half of a warp comes to one barrier and half to another. bug 2: some threads come to none.
// bug 3: a loop has its barrier for some more often.
extern "C" __global__ void branches(int* y, int bug) {
  __shared__ int box[64];
  int t = threadIdx.x;
  if (bug == 1 && (t & 1)) {
    box[t] = 2 * t;
    __syncthreads();  // bug 1 branches: barrierDivergence
  } else {
    box[t] = 2 * t;
    if (bug != 2 || t < 40)
      __syncthreads();  // bug 1 branches: barrierDivergence // bug 2 branches: barrierDivergence
  }
  int rounds = bug == 3 ? t / 16 : 3;
  for (int k = 0; k < rounds; k++) {
    box[t] += k;
    __syncthreads();  // bug 3 branches: barrierDivergence
  }
  y[t] = box[t];
}

// bug 1: only the lower lanes shuffle. bug 2: the sum is of lanes that are not there.
extern "C" __global__ void warp_sum(const int* x, int* y, int n, int bug) {
  int t = threadIdx.x;
  int value = t < n ? x[t] : 0;
  if (bug != 1 || t < 20)
    for (int step = 16; step > 0; step /= 2)
      value += __shfl_down_sync(0xffffffff, value, step);  // bug 1 warp_sum: warpDivergence
  if (bug == 2 && t < 16) value += __shfl_xor_sync(0xffff, value, 16);  // bug 2 warp_sum: inactiveLane
  y[t] = value;
}

// bug 1: nothing writes the upper half.
extern "C" __global__ void reversed(const int* x, int* y, int bug) {
  __shared__ int box[64];
  int t = threadIdx.x;
  if (bug != 1 || t < 32) box[t] = x[t];
  __syncthreads();
  y[t] = 3 * box[63 - t];  // bug reversed: uninitialised
}

// bug 1: four floats at an address of one.
extern "C" __global__ void vectors(const float* x, float4* y, int bug) {
  y[threadIdx.x] = *(const float4*)(x + 4 * threadIdx.x + (bug == 1));  // bug vectors: misaligned
}

// bug 1: two warps write what the third reads. bug 2: warps leave different values at one place.
extern "C" __global__ void flags(const int* x, int* y, int bug) {
  __shared__ int found, last;
  int t = threadIdx.x;
  if (t == 0) found = 0;
  __syncthreads();
  if (x[t] == 5) found = bug == 2 ? t : 1;  // bug 1 flags: race // bug 2 flags: race
  last = 3;
  if (bug != 1) __syncthreads();
  y[t] = found + last;  // bug 1 flags: race
}

// Each block makes its part, and the last that is done adds the parts up. bug 1: there is no fence.
// bug 2: a block adds to the one before it.
__device__ unsigned done;
extern "C" __global__ void last_block(const int* x, int* parts, int* y, int bug) {
  __shared__ bool last;
  int t = threadIdx.x;
  parts[blockIdx.x * 32 + t] = x[blockIdx.x * 32 + t];  // bug 1 last_block: race
  if (bug == 2 && blockIdx.x > 0) parts[(blockIdx.x - 1) * 32 + t] += 1;  // bug 2 last_block: race
  if (bug != 1) __threadfence();
  __syncthreads();
  if (t == 0) last = atomicInc(&done, gridDim.x - 1) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  __threadfence();
  int sum = 0;
  for (int k = 0; k < gridDim.x; k++) sum += parts[k * 32 + t];  // bug 1 last_block: race
  y[t] = sum;
}

// bug 1: threads of a block hand numbers over in global memory without a barrier.
extern "C" __global__ void neighbours(const int* x, int* work, int* y, int bug) {
  int t = threadIdx.x;
  work[t] = x[t];  // bug neighbours: race
  if (bug != 1) __syncthreads();
  y[t] = work[(t + 32) % 64];  // bug neighbours: race
}

struct Pair {
  char tag;
  double value;
};
// Structs with padding go through shared and local memory as they are. bug 1: one field of one was
// never set.
extern "C" __global__ void padded(const double* x, Pair* y, int pick, int bug) {
  __shared__ Pair box[32];
  int t = threadIdx.x;
  Pair own[4];
  for (int k = 0; k < 4; k++) {
    own[k].tag = k;
    own[k].value = x[t] + k;
  }
  box[t].tag = own[(t + pick) & 3].tag;
  if (bug != 1 || t != 9) box[t].value = own[(t + pick) & 3].value;
  __syncwarp();
  Pair moved = box[31 - t];  // bug padded: uninitialised
  y[t] = moved;
  y[t].value = moved.value + moved.tag;  // bug padded: uninitialised
}

// Only the first n of the shared numbers are there, and only they are used.
extern "C" __global__ void partial(const int* x, int* y, int n) {
  __shared__ int box[64];
  int t = threadIdx.x;
  if (t < n) box[t] = x[t];
  __syncthreads();
  int value = box[63 - t];
  int mine = value * 3;
  if (63 - t < n) y[t] = mine;
}
