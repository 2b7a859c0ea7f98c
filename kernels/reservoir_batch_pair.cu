// Large batches through one dense W on Hopper's tensor cores, two tiles of sequences a block, out
// of step with one another: while one tile's step ends and its states go round, the other's
// products are made (docs/internals/many-reservoirs.md). Arithmetic and tolerance are those of
// reservoir_batch_fast.cu.
// target: sm_90a
#include "approximate.cuh"
#include "batch.cuh"
#include "batch_ring.cuh"

namespace {

using batch::Data;
using approximate::half_bits;

/**
 * A block has 64 rows of W and two teams: four warps with a tile of 64 sequences, and one that
 * copies states for them. Columns come in blocks of 64, and in slots of two such blocks.
 */
constexpr int edge = 64, teams = 2, teamThreads = 128, threads = teams * (teamThreads + 32), mostSlots = 3;
constexpr int blockValues = edge * edge, blockBytes = 2 * blockValues, slotBlocks = 2, slotBytes = slotBlocks * blockBytes;
/**
 * What a thread has of its team's 64 sequences x 64 rows: two sequences, eight pairs of
 * neighbouring rows.
 */
constexpr int parts = 2, pairs = 8;

/**
 * Where a pair of columns of a row of a 64 x 64 block of binary16 lies: the 128-byte swizzle, in
 * which eight rows meet no bank twice.
 */
static __device__ __forceinline__ unsigned offsetOf(unsigned row, unsigned column) {
  return row * 128 + ((column / 8 ^ row % 8) * 16) + column % 8 * 2;
}

/** A barrier of a team's four warps. */
static __device__ __forceinline__ void together(int team) { asm volatile("bar.sync %0, %1;" ::"r"(1 + team), "n"(teamThreads) : "memory"); }

/**
 * A team's sums: 64 sequences x 64 rows; warp w has sequences 16 w to 16 w + 15. PTX ISA 9.0,
 * "wgmma.mma_async", matrix fragments for D.
 */
struct Sums {
  float sum[parts * pairs * 2];

  static __device__ __forceinline__ int sequence(int warp, int lane, int part) { return warp * 16 + part * 8 + lane / 4; }
  static __device__ __forceinline__ int row(int lane, int pair) { return pair * 8 + lane % 4 * 2; }
  __device__ __forceinline__ float of(int part, int pair, int which) const { return sum[pair * 4 + part * 2 + which]; }

  /**
   * A block in shared memory, its rows 128 bytes wide and swizzled: eight of them take 1024 bytes.
   */
  static __device__ __forceinline__ unsigned long long descriptor(unsigned address) {
    return (unsigned long long)(address >> 4 & 0x3fffu) | 1ull << 16 | (unsigned long long)(1024 >> 4) << 32 | 1ull << 62;
  }
  /** Adds the products of 16 columns, or begins with them. */
  __device__ __forceinline__ void multiply(unsigned long long states, unsigned long long weights, bool first) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, "
                 "%18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, p, 1, 1, 0, 0;\n}"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]), "+f"(sum[4]), "+f"(sum[5]), "+f"(sum[6]), "+f"(sum[7]), "+f"(sum[8]),
                   "+f"(sum[9]), "+f"(sum[10]), "+f"(sum[11]), "+f"(sum[12]), "+f"(sum[13]), "+f"(sum[14]), "+f"(sum[15]), "+f"(sum[16]),
                   "+f"(sum[17]), "+f"(sum[18]), "+f"(sum[19]), "+f"(sum[20]), "+f"(sum[21]), "+f"(sum[22]), "+f"(sum[23]), "+f"(sum[24]),
                   "+f"(sum[25]), "+f"(sum[26]), "+f"(sum[27]), "+f"(sum[28]), "+f"(sum[29]), "+f"(sum[30]), "+f"(sum[31])
                 : "l"(states), "l"(weights), "r"(first ? 0 : 1));
  }
  /** Begins the products of a slot. */
  __device__ __forceinline__ void add(unsigned states, unsigned weights, bool first) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int block = 0; block < slotBlocks; block++) {
      const unsigned long long a = descriptor(states + block * blockBytes), b = descriptor(weights + block * blockBytes);
#pragma unroll
      for (int k = 0; k < edge / 16; k++) multiply(a + 2 * k, b + 2 * k, first && block + k == 0);
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  }
  /** Waits for the products of all slots but the last `Pending`. */
  template <int Pending> __device__ __forceinline__ void wait() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
    if constexpr (Pending == 0) {
      // The compiler, which knows nothing of what is under way, must not read them before.
#pragma unroll
      for (float& each : sum) asm volatile("" : "+f"(each));
    }
  }
};

/** What a block's warps share beside W and the rings. */
struct Shared {
  unsigned long long full[teams][mostSlots], empty[teams][mostSlots], weights;
  /** Whether a wait for other blocks went past its limit: no more states come then. */
  int lost[teams];
  batch::TileLengths lengths[teams];
  float2 leak[edge / 2];
};

/**
 * Two neighbouring neurons of a row of `size`, which may begin anywhere if that is odd; beyond the
 * edge from within it.
 */
static __device__ __forceinline__ void loadPair(const float* from, int neuron, int size, float (&to)[2]) {
  if (size % 2 == 0) {
    const float2 two = *reinterpret_cast<const float2*>(from + min(neuron, size - 2));
    to[0] = two.x, to[1] = two.y;
  } else {
    to[0] = from[min(neuron, size - 1)], to[1] = from[min(neuron + 1, size - 1)];
  }
}
static __device__ __forceinline__ void storePair(float* to, int neuron, int size, const float (&values)[2]) {
  if (size % 2 == 0) {
    if (neuron < size) *reinterpret_cast<float2*>(to + neuron) = make_float2(values[0], values[1]);
  } else {
    if (neuron < size) to[neuron] = values[0];
    if (neuron + 1 < size) to[neuron + 1] = values[1];
  }
}

/**
 * `weights` is [row block][column block] and `exchange` two of [tile][column block], of blocks of
 * 64 x 64 as `offsetOf` says, an even number of columns of them. `arrived` is [tile][row block]:
 * the steps that a row block has made of a tile. A team has `slots` slots for states behind the
 * weights. The blocks of a group have the same tiles: team i of group g every `teams * groups`-th
 * from i groups + g on.
 */
__device__ __forceinline__ void run(const half_bits* __restrict__ weights, half_bits* exchange, unsigned* arrived, int* stalled, long long limit, int groups,
                                    int slots, const Data& data) {
  extern __shared__ unsigned char memory[];
  __shared__ Shared shared;
  const int size = data.size, rowBlocks = (size + edge - 1) / edge, blocks = (rowBlocks + slotBlocks - 1) / slotBlocks * slotBlocks;
  const int tiles = (data.sequences + edge - 1) / edge, group = blockIdx.x / rowBlocks, rowBlock = blockIdx.x % rowBlocks;
  const int lane = threadIdx.x & 31, warp = __shfl_sync(0xffffffffu, threadIdx.x >> 5, 0);
  const bool copies = warp >= teams * 4;
  const int team = copies ? warp - teams * 4 : warp / 4, first = team * groups + group, stride = teams * groups;
  const size_t tileValues = (size_t)blocks * blockValues, buffer = tiles * tileValues;
  const unsigned residents = batch::sharedAddress(memory) + 1023u & ~1023u, ring = residents + blocks * blockBytes + team * slots * slotBytes;
  const unsigned full = batch::sharedAddress(shared.full[team]), empty = batch::sharedAddress(shared.empty[team]);
  const unsigned weightsCame = batch::sharedAddress(&shared.weights);

  for (int i = 0; i < teams; i++) shared.lengths[i].load<edge>(data, i * groups + group, stride, tiles);
  if (threadIdx.x < edge) reinterpret_cast<float*>(shared.leak)[threadIdx.x] = data.leak[min(rowBlock * edge + (int)threadIdx.x, size - 1)];
  if (threadIdx.x == 0) {
    for (int i = 0; i < teams; i++) {
      shared.lost[i] = 0;
      for (int slot = 0; slot < slots; slot++) {
        batch::initialise(batch::sharedAddress(&shared.full[i][slot]), 1);
        batch::initialise(batch::sharedAddress(&shared.empty[i][slot]), teamThreads / 32);
      }
    }
    batch::initialise(weightsCame, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    batch::expect(weightsCame, blocks * blockBytes);
    for (int c = 0; c < blocks; c++) batch::copy(residents + c * blockBytes, weights + ((size_t)rowBlock * blocks + c) * blockValues, blockBytes, weightsCame);
  }
  __syncthreads();

  if (copies) {
    batch::Turn turn = {0, 1};
    batch::eachTile<edge>(data, shared.lengths[team], first, stride, tiles, [&](int t, int tile) {
      if (!batch::haveMade(arrived + (size_t)tile * rowBlocks, rowBlocks, t, limit, stalled, data.firstStep + t)) {
        if (lane != 0) return false;
        // When all that was copied is used up, the next slot comes with nothing in it but this
        // word.
        for (int slot = 0; slot < slots; slot++, turn.next(slots)) batch::await(empty + turn.slot * 8, turn.parity);
        shared.lost[team] = 1;
        batch::arrive(full + turn.slot * 8);
        return false;
      }
      if (lane != 0) return true;
      batch::fenceCopies();
      const half_bits* const from = exchange + (t & 1 ? buffer : 0) + tile * tileValues;
      for (int c = 0; c < blocks; c += slotBlocks, turn.next(slots)) {
        const unsigned came = full + turn.slot * 8;
        batch::await(empty + turn.slot * 8, turn.parity);
        batch::expect(came, slotBytes);
        batch::copy(ring + turn.slot * slotBytes, from + (size_t)c * blockValues, slotBytes, came);
      }
      return true;
    });
    return;
  }

  const int within = warp % 4, firstRow = rowBlock * edge;
  // A team with one tile has its states in registers from step to step.
  const bool stays = tiles <= stride;
  batch::Turn turn = {0, 0};
  float x[parts][pairs][2];
  batch::await(weightsCame, 0);
  batch::eachTile<edge>(data, shared.lengths[team], first, stride, tiles, [&](int t, int tile) {
    // What the step's end reads is asked for before the products, which hide it; of sequences
    // beyond the last, the last one's.
    float driven[parts][pairs][2];
    int lengths[parts];
#pragma unroll
    for (int s = 0; s < parts; s++) {
      const int sequence = tile * edge + Sums::sequence(within, lane, s);
      const size_t near = min(sequence, data.sequences - 1), step = near * data.steps + t;
      lengths[s] = sequence < data.sequences ? data.lengths[near] : 0;
#pragma unroll
      for (int p = 0; p < pairs; p++) {
        const int neuron = firstRow + Sums::row(lane, p);
        loadPair(data.drive + step * size, neuron, size, driven[s][p]);
        if (!stays || t == 0) loadPair(data.state + near * size, neuron, size, x[s][p]);
      }
      if (data.feedback) {
#pragma unroll
        for (int p = 0; p < pairs; p++) {
          float fed[2];
          loadPair(data.feedback + step * size, firstRow + Sums::row(lane, p), size, fed);
          driven[s][p][0] += fed[0], driven[s][p][1] += fed[1];
        }
      }
      if (data.noise != 0.0f) {
#pragma unroll
        for (int p = 0; p < pairs; p++) {
          const unsigned neuron = firstRow + Sums::row(lane, p);
          const uint4 words = philox::block(data.key0, data.key1, data.firstStep + t, neuron >> 2, data.numbers[near], 0);
          driven[s][p][0] += data.noise * philox::centred(neuron & 2 ? words.z : words.x);
          driven[s][p][1] += data.noise * philox::centred(neuron & 2 ? words.w : words.y);
        }
      }
    }

    batch::await(full + turn.slot * 8, turn.parity);
    // Read by the lane that gives slots back, which is what the word's writer waits for.
    if (__any_sync(0xffffffffu, lane == 0 && shared.lost[team] != 0)) return false;
    Sums sums;
    unsigned before = 0;
    auto release = [&](unsigned slot) {
      __syncwarp();
      if (lane == 0) batch::arrive(empty + slot * 8);
    };
    for (int c = 0; c < blocks; c += slotBlocks, turn.next(slots)) {
      batch::await(full + turn.slot * 8, turn.parity);
      __syncwarp();
      sums.add(ring + turn.slot * slotBytes, residents + c * blockBytes, c == 0);
      sums.wait<1>();
      if (c > 0) release(before);
      before = turn.slot;
    }
    sums.wait<0>();
    release(before);

    unsigned char* const next = reinterpret_cast<unsigned char*>(exchange + (t & 1 ? 0 : buffer) + tile * tileValues + (size_t)rowBlock * blockValues);
#pragma unroll
    for (int s = 0; s < parts; s++) {
      const int inTile = Sums::sequence(within, lane, s);
      if (t >= lengths[s]) continue;
      bool sound = true;
#pragma unroll
      for (int p = 0; p < pairs; p++) {
        const int row = Sums::row(lane, p);
        const float2 leak = shared.leak[row / 2];
        unsigned halves = 0;
#pragma unroll
        for (int e = 0; e < 2; e++) {
          const float f = approximate::activateBounded(data.activation, driven[s][p][e] + sums.of(s, p, e));
          x[s][p][e] = firstRow + row + e < size ? fmaf(e == 0 ? leak.x : leak.y, f - x[s][p][e], x[s][p][e]) : 0.0f;
          sound = sound && portable::finite(x[s][p][e]);
          halves |= (unsigned)approximate::toHalf(x[s][p][e]) << 16 * e;
        }
        *reinterpret_cast<unsigned*>(next + offsetOf(inTile, row)) = halves;
      }
      if (sound) continue;
#pragma unroll
      for (int i = 0; i < pairs * 2; i++)
        if (!portable::finite(x[s][i / 2][i % 2]))
          atomicMin(data.failures + tile * edge + inTile,
                    (unsigned long long)(data.firstStep + t) << 32 | (unsigned)(firstRow + Sums::row(lane, i / 2) + i % 2));
    }
    batch::fenceCopies();
    together(team);
    if (threadIdx.x % teamThreads == 0) batch::storeRelease(arrived + (size_t)tile * rowBlocks + rowBlock, t + 1);
    // Nobody waits for these.
#pragma unroll
    for (int s = 0; s < parts; s++) {
      const size_t sequence = tile * edge + Sums::sequence(within, lane, s);
      if (t >= lengths[s]) continue;
#pragma unroll
      for (int p = 0; p < pairs; p++) {
        const int neuron = firstRow + Sums::row(lane, p);
        if (data.states) storePair(data.states + (sequence * data.steps + t) * size, neuron, size, x[s][p]);
        if (!stays || t + 1 == lengths[s]) storePair(data.state + sequence * size, neuron, size, x[s][p]);
      }
    }
    return true;
  });
}

}  // namespace

extern "C" __global__ void __launch_bounds__(threads, 1)
    reservoir_batch_pair(const half_bits* weights, half_bits* exchange, unsigned* arrived, int* stalled, long long limit, int groups, int slots,
                         const float* drive, const float* feedback, const float* leak, float* states, float* state, const int* lengths, const int* numbers,
                         unsigned long long* failures, unsigned key0, unsigned key1, float noise, int size, int sequences, int steps, int firstStep,
                         int activation) {
  run(weights, exchange, arrived, stalled, limit, groups, slots,
      Data{drive, feedback, leak, states, state, lengths, numbers, failures, key0, key1, noise, size, sequences, steps, firstStep, activation});
}
