// Cooperative groups: tiles of 2 to 32 lanes, labelled and binary partitions, coalesced lanes, the
// grid, clusters. Each kernel is right if `bug` is 0; else it does what the comment says, and a
// line that may be named for it ends with "bug", kernel and kind.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

template <int Size> __device__ int tile_sum(int value) {
  auto tile = cg::tiled_partition<Size>(cg::this_thread_block());
  for (int step = Size / 2; step > 0; step /= 2) value += tile.shfl_down(value, step);
  return tile.shfl(value, 0);
}

// bug 1: one tile in three leaves out the lanes above its sixth.
extern "C" __global__ void tiles(const int* x, int* y, int bug) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  y[5 * t] = tile_sum<2>(x[t]);
  y[5 * t + 1] = tile_sum<4>(x[t]);
  int eight = 0;
  if (bug != 1 || (t / 8) % 3 != 1 || t % 8 < 6)
    eight = tile_sum<8>(x[t]);  // bug tiles: warpDivergence
  y[5 * t + 2] = eight;
  y[5 * t + 3] = tile_sum<16>(x[t]);
  y[5 * t + 4] = tile_sum<32>(x[t]);
}

// bug 1: a lane reads beyond the last.
extern "C" __global__ void labels(const int* x, int* y, int bug) {
  int t = threadIdx.x;
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  auto same = cg::labeled_partition(warp, x[t + (bug == 1)]);  // bug labels: outOfBounds
  auto odd = cg::binary_partition(warp, (t & 1) != 0);
  y[4 * t] = same.size();
  y[4 * t + 1] = cg::reduce(same, t, cg::plus<int>());
  y[4 * t + 2] = cg::inclusive_scan(warp, x[t], cg::plus<int>());
  y[4 * t + 3] = cg::reduce(odd, t, cg::greater<int>());
}

// bug 1: a lane asks a lane that is not in the group.
extern "C" __global__ void coalesced(const int* x, int* found, int bug) {
  int t = threadIdx.x;
  if (x[t] > 0) {
    auto active = cg::coalesced_threads();
    int first = 0;
    if (active.thread_rank() == 0) first = atomicAdd(found, (int)active.size());
    first = active.shfl(first, 0);
    if (bug == 1) first = __shfl_sync(__activemask(), first, 31);  // bug coalesced: inactiveLane
    found[1 + first + active.thread_rank()] = t;
  }
}

// bug 1: the block adds to a sum that its first thread may not have cleared yet. bug 2: the blocks
// do not wait for one another.
extern "C" __global__ void grid_sum(const int* x, int* parts, int* y, int bug) {
  auto grid = cg::this_grid();
  auto block = cg::this_thread_block();
  __shared__ int sums[2];
  if (threadIdx.x == 0) sums[0] = sums[1] = 0;  // bug 1 grid_sum: race
  if (bug != 1) block.sync();
  atomicAdd(&sums[threadIdx.x & 1], x[grid.thread_rank()]);  // bug 1 grid_sum: race
  block.sync();
  if (threadIdx.x == 0) parts[blockIdx.x] = sums[0] + sums[1];  // bug 2 grid_sum: race
  if (bug != 2) grid.sync();
  if (grid.thread_rank() == 0) {
    int total = 0;
    for (int k = 0; k < gridDim.x; k++) total += parts[k];  // bug 2 grid_sum: race
    *y = total;
  }
}

// Tiles of several warps. bug 1: a warp reads what the other of its tile may not have written yet.
// bug 2: one warp of a tile does not come along.
extern "C" __global__ void wide_tiles(const int* x, int* y, int bug) {
  __shared__ cg::block_tile_memory<256> memory;
  __shared__ int box[256];
  auto block = cg::this_thread_block(memory);
  auto two = cg::tiled_partition<64>(block);
  auto four = cg::tiled_partition<128>(block);
  int t = threadIdx.x;
  box[t] = x[t];  // bug 1 wide_tiles: race
  if (bug != 1) two.sync();
  y[5 * t] = box[t ^ 63];  // bug 1 wide_tiles: race uninitialised
  y[5 * t + 1] = cg::reduce(two, x[t], cg::plus<int>());
  y[5 * t + 2] = cg::inclusive_scan(four, x[t], cg::plus<int>());
  y[5 * t + 3] = two.any(x[t] == 100) + 2 * two.all(x[t] > 1);
  y[5 * t + 4] = 1000 * two.meta_group_rank() + four.thread_rank();
  if (bug == 2 && t / 32 == 5) return;
  four.sync();  // bug 2 wide_tiles: spin
}

#if __CUDA_ARCH__ >= 900
// bug 1: a block reads from one that may have exited.
extern "C" __global__ void __cluster_dims__(2, 1, 1) exchange(int* y, int bug) {
  __shared__ int box[32];
  auto cluster = cg::this_cluster();
  box[threadIdx.x] = 100 * cluster.block_rank() + threadIdx.x;
  cluster.sync();
  if (bug == 1 && cluster.block_rank() == 0) return;
  int* other = cluster.map_shared_rank(box, cluster.block_rank() ^ 1);
  y[blockIdx.x * 32 + threadIdx.x] = other[31 - threadIdx.x];  // bug exchange: useAfterFree
  cluster.sync();
}
#endif
