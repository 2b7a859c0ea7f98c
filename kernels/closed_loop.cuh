// A closed loop inside a persistent kernel (docs/numerics.md, rule 10): every block makes y of the
// states that it has been handed, and its own neurons' drive or feedback of y. Between two steps of
// the loops in the other headers.
#pragma once
#include "recurrence.cuh"

namespace closed {

using recurrence::Neuron;
using recurrence::Steps;

/** A readout and the way back. Features: states, then inputs, then squares. */
template <typename Real> struct Loop {
  static constexpr bool closes = true;
  /** O x F, and O values. */
  const double *weights, *intercept;
  int outputs, features;
  /**
   * Squares of odd neurons in place of their states; whether inputs are features; what is left of F
   * are squares of all neurons.
   */
  bool squareHalf, withInput;
  /**
   * I, and I x N weights, N biases; O x N feedback weights or null, and then the drive is known
   * beforehand.
   */
  int width;
  const Real *inputWeights, *bias, *feedbackWeights;
  /**
   * (steps + 1) x I and (steps + 1) x O rows: what came before the chunk, then one of each step.
   */
  Real *inputs, *answers;
  /** Shared memory for y and u. */
  Real *y, *u;

  template <typename States> __device__ __forceinline__ double feature(const Steps<Real>& run, const States& states, int f) const {
    if (f < run.size) {
      const double value = states[f];
      return squareHalf && (f & 1) ? portable::mul(value, value) : value;
    }
    f -= run.size;
    if (withInput) {
      if (f < width) return u[f];
      f -= width;
    }
    const double value = states[f];
    return portable::mul(value, value);
  }

  /** y of the states and of u, to shared memory and, by one block, to row `row` of the answers. */
  template <typename States> __device__ __forceinline__ void answer(const Steps<Real>& run, const States& states, int row) const {
    const int lane = threadIdx.x & 31, warps = blockDim.x >> 5;
    for (int o = threadIdx.x >> 5; o < outputs; o += warps) {
      double sum = 0;
#pragma unroll 2
      for (int f = lane; f < features; f += 32) sum = portable::mulAdd(weights[(size_t)o * features + f], feature(run, states, f), sum);
      const Real value = static_cast<Real>(portable::add(portable::butterfly32(sum), intercept[o]));
      if (lane != 0) continue;
      y[o] = value;
      if (blockIdx.x == 0) answers[(size_t)row * outputs + o] = value;
    }
  }

  __device__ __forceinline__ void takeInput(int row) const {
    for (int i = threadIdx.x; i < width; i += blockDim.x) u[i] = inputs[(size_t)row * width + i];
  }

  template <typename States> __device__ __forceinline__ void before(const Steps<Real>& run, Neuron<Real>& neuron, int step, const States& states) const {
    const bool byWeights = feedbackWeights != nullptr;
    if (byWeights || step == 0) takeInput(step);
    if (byWeights && step == 0)
      for (int o = threadIdx.x; o < outputs; o += blockDim.x) y[o] = answers[o];
    __syncthreads();
    if (!byWeights || step > 0) answer(run, states, byWeights ? step : step + 1);
    __syncthreads();
    if (!byWeights) {
      for (int i = threadIdx.x; i < width; i += blockDim.x) {
        u[i] = i < outputs ? y[i] : inputs[(size_t)(step + 1) * width + i];
        if (i < outputs && blockIdx.x == 0) inputs[(size_t)(step + 1) * width + i] = y[i];
      }
      __syncthreads();
    }
    if (!neuron.real) return;
    // The drive of u, from b; or the feedback of y, from +0.
    const Real *const from = byWeights ? y : u, *const weights = byWeights ? feedbackWeights : inputWeights;
    const int count = byWeights ? outputs : width;
    Real sum = byWeights ? (Real)0 : bias[neuron.index];
#pragma unroll 1
    for (int i = 0; i < count; i++) sum = portable::mulAdd(weights[(size_t)i * run.size + neuron.index], from[i], sum);
    (byWeights ? neuron.feedback : neuron.drive) = sum;
  }

  /** With feedback weights, the y that the last step made. */
  template <typename States> __device__ __forceinline__ void after(const Steps<Real>& run, const States& states) const {
    if (!feedbackWeights) return;
    __syncthreads();
    takeInput(run.steps);
    __syncthreads();
    answer(run, states, run.steps);
  }
};

/**
 * The parameters that a closed loop adds to a kernel, and the loop of them with shared memory from
 * `memory` on.
 */
#define CLOSED_PARAMETERS(Real)                                                                                                                  \
  const double *readout, const double *intercept, int outputs, int features, int squareHalf, int withInput, int width, const Real *inputWeights, \
      const Real *bias, const Real *feedbackWeights, Real *inputs, Real *answers
#define CLOSED_LOOP(Real, memory)                                                                                                                \
  closed::Loop<Real> {                                                                                                                           \
    readout, intercept, outputs, features, squareHalf != 0, withInput != 0, width, inputWeights, bias, feedbackWeights, inputs, answers,         \
        reinterpret_cast<Real*>(memory), reinterpret_cast<Real*>(memory) + outputs                                                               \
  }

}  // namespace closed
