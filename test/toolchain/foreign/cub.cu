// Primitives of CUB for warps and blocks. Each kernel is right if `bug` is 0.
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_merge_sort.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>

// bug 1: twenty lanes of a warp reduce, as if tiles of eight had them all.
extern "C" __global__ void warp_reduce(const float* x, float* y, int bug) {
  using Reduce = cub::WarpReduce<float, 8>;
  __shared__ typename Reduce::TempStorage storage[8];
  int t = threadIdx.x;
  float sum = 0;
  if (bug != 1 || t < 20)
    sum = Reduce(storage[t / 8]).Sum(x[t]);  // bug warp_reduce: warpDivergence
  if (t % 8 == 0) y[t / 8] = sum;
}

// bug 1: the storage of one reduction is used for the next without a barrier.
extern "C" __global__ void block_reduce(const int* x, int* y, int bug) {
  using Reduce = cub::BlockReduce<int, 128>;
  __shared__ typename Reduce::TempStorage storage;
  int t = threadIdx.x;
  int sum = Reduce(storage).Sum(x[t]);  // bug block_reduce: race
  if (bug != 1) __syncthreads();
  int most = Reduce(storage).Reduce(x[t], cuda::maximum<>{});  // bug block_reduce: race
  if (t == 0) {
    y[0] = sum;
    y[1] = most;
  }
}

// bug 1: each thread takes four numbers, and the last takes one too many.
extern "C" __global__ void block_scan(const int* x, int* y, int bug) {
  using Load = cub::BlockLoad<int, 64, 4, cub::BLOCK_LOAD_TRANSPOSE>;
  using Scan = cub::BlockScan<int, 64>;
  using Store = cub::BlockStore<int, 64, 4, cub::BLOCK_STORE_WARP_TRANSPOSE>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Scan::TempStorage scan;
    typename Store::TempStorage store;
  } storage;
  int items[4];
  Load(storage.load).Load(x + (bug == 1), items);  // bug block_scan: outOfBounds
  __syncthreads();
  int total;
  Scan(storage.scan).ExclusiveSum(items, items, total);
  __syncthreads();
  Store(storage.store).Store(y, items);
  if (threadIdx.x == 0) y[256] = total;
}

// bug 1: half of the block sorts.
extern "C" __global__ void block_sort(const unsigned* keys, const int* values, unsigned* sorted, int* moved, int bug) {
  using Sort = cub::BlockRadixSort<unsigned, 64, 3, int>;
  __shared__ typename Sort::TempStorage storage;
  unsigned key[3];
  int value[3];
  for (int k = 0; k < 3; k++) {
    key[k] = keys[3 * threadIdx.x + k];
    value[k] = values[3 * threadIdx.x + k];
  }
  if (bug != 1 || threadIdx.x < 32)
    Sort(storage).Sort(key, value);  // bug block_sort: barrierDivergence
  for (int k = 0; k < 3; k++) {
    sorted[3 * threadIdx.x + k] = key[k];
    moved[3 * threadIdx.x + k] = value[k];
  }
}

struct Less {
  __device__ bool operator()(int a, int b) const { return a < b; }
};

// bug 1: two warps share one storage.
extern "C" __global__ void merge_sort(const int* x, int* y, int bug) {
  using Sort = cub::WarpMergeSort<int, 2, 16>;
  __shared__ typename Sort::TempStorage storage[4];
  int part = threadIdx.x / 16;
  int items[2] = {x[2 * threadIdx.x], x[2 * threadIdx.x + 1]};
  Sort(storage[bug == 1 ? part & 1 : part]).Sort(items, Less());  // bug merge_sort: race
  y[2 * threadIdx.x] = items[0];
  y[2 * threadIdx.x + 1] = items[1];
}
