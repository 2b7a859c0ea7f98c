// Neighbours in the maximum norm by looking at all pairs (docs/numerics.md, rule 14): how far the
// k-th neighbour of each point is, and how many are nearer than that in some columns alone. A
// distance is one subtraction and a count a whole number, so the bits are those of the k-d tree in
// src/analysis/information/kd-tree.ts. A thread takes a point, a block of threads goes over the
// points in tiles; blockIdx.y is the form of x.
//
// Points lie in rising order of a column, the key: a tile that is farther in the key than all
// distances of a block's points that matter is left out, and all beyond it.
#include "portable.cuh"

namespace neighbours {

/** Points of a tile, threads of a block. */
const int tile = 128;

/** Where points lie: column c of y, then z, at yz + c n; x likewise, `dx` columns for each form. */
struct Points {
  const double *x, *yz;
  /** The row of each point: its position in time. */
  const unsigned* rows;
  int n, dx, dy, dz, window;

  /** The column that the points are in order of. */
  __device__ __forceinline__ const double* key() const { return yz + (size_t)(dz > 0 ? dy : 0) * n; }

  __device__ __forceinline__ bool parted(int p, int q) const {
    const int apart = (int)rows[p] - (int)rows[q];
    return (apart < 0 ? -apart : apart) > window;
  }
};

__device__ __forceinline__ double between(double a, double b) {
  return __longlong_as_double(__double_as_longlong(portable::sub(a, b)) & 0x7fffffffffffffffll);
}
__device__ __forceinline__ double larger(double a, double b) { return a > b ? a : b; }
__device__ __forceinline__ double nothing() { return __longlong_as_double(0x7ff8000000000000ll); }
__device__ __forceinline__ double infinity() { return __longlong_as_double(0x7ff0000000000000ll); }

/** One point's distances from others in x, y and z alone, each of one column; without z all are 0 apart in it. */
struct Single {
  static const int together = 2;
  double x, y, z;

  __device__ __forceinline__ Single(const Points& points, int p) {
    const bool is = p < points.n;
    x = is ? points.x[p] : nothing();
    y = is ? points.yz[p] : nothing();
    z = points.dz == 0 ? 0.0 : is ? points.yz[points.n + p] : nothing();
  }

  static __device__ __forceinline__ double (&shared())[3][tile] {
    __shared__ double values[3][tile];
    return values;
  }

  /** Brings a tile's points to the block. */
  static __device__ __forceinline__ void load(const Points& points, int first) {
    const int p = first + (int)threadIdx.x;
    const Single mine(points, p);
    shared()[0][threadIdx.x] = mine.x;
    shared()[1][threadIdx.x] = mine.y;
    shared()[2][threadIdx.x] = mine.z;
    __syncthreads();
  }

  __device__ __forceinline__ double inX(const Points&, int first, int i) const { return between(shared()[0][i], x); }
  __device__ __forceinline__ double inY(const Points&, int first, int i) const { return between(shared()[1][i], y); }
  __device__ __forceinline__ double inZ(const Points&, int first, int i) const { return between(shared()[2][i], z); }
};

/** The same of any number of columns, read where they lie. */
struct Several {
  static const int together = 1;
  int p;

  __device__ __forceinline__ Several(const Points&, int p) : p(p) {}
  static __device__ __forceinline__ void load(const Points&, int) {}

  __device__ __forceinline__ double in(const Points& points, const double* columns, int count, int q) const {
    if (p >= points.n || q >= points.n) return nothing();
    double distance = -1;
#pragma unroll 1
    for (int c = 0; c < count; c++) distance = larger(between(columns[(size_t)c * points.n + q], columns[(size_t)c * points.n + p]), distance);
    return distance;
  }
  __device__ __forceinline__ double inX(const Points& points, int first, int i) const { return in(points, points.x, points.dx, first + i); }
  __device__ __forceinline__ double inY(const Points& points, int first, int i) const { return in(points, points.yz, points.dy, first + i); }
  __device__ __forceinline__ double inZ(const Points& points, int first, int i) const {
    return in(points, points.yz + (size_t)points.dy * points.n, points.dz, first + i);
  }
};

/**
 * Goes over tiles outwards from the block's own, to either side in turn. A side ends with the first
 * tile that no thread is near enough to, by `isNear(gap)`: what a point's key lacks to the tile's.
 */
template <typename Near, typename Visit> __device__ __forceinline__ void outwards(const Points& points, int p, Near isNear, Visit visit) {
  const int n = points.n, tiles = (n + tile - 1) / tile;
  const double* key = points.key();
  const double own = p < n ? key[p] : nothing();
  int below = (int)blockIdx.x - 1, above = (int)blockIdx.x;
  for (bool up = true; below >= 0 || above < tiles; up = !up) {
    const bool upwards = above < tiles && (up || below < 0);
    const int first = (upwards ? above++ : below--) * tile;
    const double gap = upwards ? portable::sub(key[first], own) : portable::sub(own, key[first + tile - 1]);
    const bool near = p < n && isNear(gap);
    if (__syncthreads_or(near)) visit(first, near);
    else if (upwards) above = tiles;
    else below = -1;
  }
}

/**
 * The k nearest of each point, nearest first, of equal distances the lower row first: distances and
 * positions, the i-th at i n + p. Radii are the k-th distance, or with `each` the numbers next
 * above the largest distance of the k in x alone and in y alone.
 */
template <typename Space>
__device__ __forceinline__ void scales(Points points, double* distances, unsigned* positions, double* radiiX, double* radiiY, int k, int each) {
  const int n = points.n, p = blockIdx.x * tile + (int)threadIdx.x;
  const size_t form = blockIdx.y;
  points.x += form * points.dx * n;
  distances += form * k * n + p;
  positions += form * k * n + p;
  const Space space(points, p);
  double limit = infinity();
  int found = 0;
  auto consider = [&](int first, int i) {
    const double distance = larger(larger(space.inX(points, first, i), space.inY(points, first, i)), space.inZ(points, first, i));
    const int q = first + i, row = (int)points.rows[q];
    if (distance > limit || !points.parted(q, p)) return;
    if (found == k && distance == limit && row > (int)points.rows[positions[(size_t)(k - 1) * n]]) return;
    int at = found < k ? found++ : k - 1;
#pragma unroll 1
    for (; at > 0; at--) {
      const double before = distances[(size_t)(at - 1) * n];
      const unsigned position = positions[(size_t)(at - 1) * n];
      if (before < distance || (before == distance && (int)points.rows[position] < row)) break;
      distances[(size_t)at * n] = before;
      positions[(size_t)at * n] = position;
    }
    distances[(size_t)at * n] = distance;
    positions[(size_t)at * n] = q;
    if (found == k) limit = distances[(size_t)(k - 1) * n];
  };
  outwards(
      points, p, [&](double gap) { return gap <= limit; },
      [&](int first, bool near) {
        Space::load(points, first);
        if (!__any_sync(0xffffffffu, near)) return;
#pragma unroll 1
        for (int i = 0; i < tile; i += Space::together) {
          unsigned close = 0;
#pragma unroll
          for (int j = 0; j < Space::together; j++)
            close |= (unsigned)(space.inZ(points, first, i + j) <= limit && space.inX(points, first, i + j) <= limit &&
                                space.inY(points, first, i + j) <= limit)
                     << j;
          for (; close != 0; close &= close - 1) consider(first, i + __ffs((int)close) - 1);
        }
      });
  if (p >= n) return;
  double x = limit, y = limit;
  if (each) {
    const Several exact(points, p);
    x = y = 0;
#pragma unroll 1
    for (int i = 0; i < k; i++) {
      const int q = (int)positions[(size_t)i * n];
      x = larger(exact.inX(points, q, 0), x);
      y = larger(exact.inY(points, q, 0), y);
    }
    x = __longlong_as_double(__double_as_longlong(x) + 1);
    y = __longlong_as_double(__double_as_longlong(y) + 1);
  }
  radiiX[form * n + p] = x;
  radiiY[form * n + p] = y;
}

/** Points that were strictly nearer than the radius in (x, z), (y, z) and z. */
struct Tally {
  double radiusX, radiusY;
  unsigned xz = 0, yz = 0, z = 0;

  /** Counts a point `times` times, at its distances from `space`. */
  template <typename Space>
  __device__ __forceinline__ void add(const Points& points, const Space& space, int first, int i, int times) {
    const bool nearZ = space.inZ(points, first, i) < radiusX;
    if (nearZ && space.inX(points, first, i) < radiusX) xz += times;
    if (nearZ && space.inY(points, first, i) < radiusY) yz += times;
    if (nearZ) z += times;
  }
};

/**
 * How many points are strictly nearer than the radius in (x, z), (y, z) and z; of each form of x
 * behind one another. The point and what is within the window are left out; `positions` has
 * that of each row. Without z its counts are not written.
 */
template <typename Space>
__device__ __forceinline__ void counts(Points points, const unsigned* positions, const double* radiiX, const double* radiiY, unsigned* inXZ, unsigned* inYZ, unsigned* inZ) {
  const int n = points.n, p = blockIdx.x * tile + (int)threadIdx.x;
  const size_t form = blockIdx.y, out = form * n + p;
  points.x += form * points.dx * n;
  const Space space(points, p);
  const double radiusX = p < n ? radiiX[out] : nothing(), radiusY = p < n ? radiiY[out] : nothing();
  // All counts are of points near in z, if there is a z: the key is its first column then.
  const bool all = points.dz == 0;
  Tally tally{radiusX, radiusY};
  outwards(
      points, p, [&](double gap) { return all || gap < radiusX; },
      [&](int first, bool near) {
        Space::load(points, first);
        if (!__any_sync(0xffffffffu, near)) return;
#pragma unroll 1
        for (int i = 0; i < tile; i += Space::together) {
#pragma unroll
          for (int j = 0; j < Space::together; j++) tally.add(points, space, first, i + j, 1);
        }
      });
  if (p >= n) return;
  const Several exact(points, p);
  const int row = (int)points.rows[p], last = min(n - 1, row + points.window);
#pragma unroll 1
  for (int other = max(0, row - points.window); other <= last; other++) tally.add(points, exact, (int)positions[other], 0, -1);
  inXZ[out] = tally.xz;
  inYZ[out] = tally.yz;
  if (!all) inZ[out] = tally.z;
}

}  // namespace neighbours

#define ENTRIES(NAME, SPACE)                                                                                                               \
  extern "C" __global__ void __launch_bounds__(neighbours::tile) neighbour_scales_##NAME(                                                  \
      const double* __restrict__ x, const double* __restrict__ yz, const unsigned* __restrict__ rows, double* distances, unsigned* positions, \
      double* radiiX, double* radiiY, int n, int dx, int dy, int dz, int window, int k, int each) {                                        \
    neighbours::scales<SPACE>({x, yz, rows, n, dx, dy, dz, window}, distances, positions, radiiX, radiiY, k, each);                           \
  }                                                                                                                                        \
  extern "C" __global__ void __launch_bounds__(neighbours::tile) neighbour_counts_##NAME(                                                  \
      const double* __restrict__ x, const double* __restrict__ yz, const unsigned* __restrict__ rows, const unsigned* __restrict__ positions, \
      const double* __restrict__ radiiX, const double* __restrict__ radiiY, unsigned* inXZ, unsigned* inYZ, unsigned* inZ, int n, int dx,  \
      int dy, int dz, int window) {                                                                                                        \
    neighbours::counts<SPACE>({x, yz, rows, n, dx, dy, dz, window}, positions, radiiX, radiiY, inXZ, inYZ, inZ);                                        \
  }

ENTRIES(single, neighbours::Single)
ENTRIES(several, neighbours::Several)
