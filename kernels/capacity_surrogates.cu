// Inputs that a reservoir never heard, for the threshold of information processing capacity: drawn
// from the values of the real one, and their polynomials. Products with states are in
// information_capacity.cu.
#include "philox.cuh"

/**
 * Row 1 + s degrees + d of `out` is P_(d+1) of surrogate firstSurrogate + s at draws first to
 * first + count, pitch apart: u[floor(U total)], U draw t of its row of a stream; P_(n+1) =
 * (a u + b) P_n - c P_(n-1), steps a, b, c a degree. grid: any x surrogates
 */
extern "C" __global__ void __launch_bounds__(256)
    capacity_surrogates(const double* u, int total, unsigned key0, unsigned key1, unsigned stream, unsigned firstSurrogate, long long first, int count,
                        const double* steps, int degrees, double* out, long long pitch) {
  using portable::add;
  using portable::mul;
  using portable::sub;
  double* const rows = out + (1 + (long long)blockIdx.y * degrees) * pitch;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const unsigned draw = (unsigned)(first + i);
    const uint4 w = philox::block(key0, key1, draw >> 1, firstSurrogate + blockIdx.y, stream, 0);
    const double uniform = draw & 1 ? philox::uniform(w.z, w.w) : philox::uniform(w.x, w.y);
    const double value = u[(int)floor(mul(uniform, (double)total))];
    double before = 0.0, last = 1.0;
    for (int d = 0; d < degrees; d++) {
      const double next = sub(mul(add(mul(steps[3 * d], value), steps[3 * d + 1]), last), mul(steps[3 * d + 2], before));
      before = last;
      last = next;
      rows[d * pitch + i] = next;
    }
  }
}
