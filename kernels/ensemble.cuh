// What every ensemble kernel shares: where a member's data lie, and the end of its step. Nothing
// here sums W x.
#pragma once
#include "approximate.cuh"
#include "philox.cuh"

namespace ensemble {

#ifdef FAST_ARITHMETIC
namespace arithmetic = approximate;
#else
namespace arithmetic = portable;
#endif

/**
 * A row of the table of members, as indices of matrices and rows: members may share weights,
 * parameters or a series.
 */
struct Member {
  int weights;
  int parameters;
  int inputRow;
  /** The row of `outputs` that the first step feeds back; below 0 if zeros are fed back. */
  int outputRow;
  int stateRow;
  int steps;
  unsigned sequence;
  /** Steps since reset before the first one. */
  unsigned firstStep;
};

/**
 * What members are made of. Matrices are row-major; those of input and feedback weights are
 * transposed, one row an input.
 */
template <typename Real> struct Data {
  const Real* inputWeights;
  const Real* feedbackWeights;
  const Real* bias;
  const Real* leak;
  const Real* noise;
  const unsigned* keys;
  const Real* inputs;
  const Real* outputs;
  Real* state;
  Real* states;
  const Member* members;
  /** step << 32 | neuron of a member's first state that is not finite, else all ones. */
  unsigned long long* failures;
  int size;
  int inputSize;
  int outputSize;
  int activation;
};

/** One neuron of one member: everything of its step but the dot product. */
template <typename Real> struct Neuron {
  const Real* inputWeights;
  const Real* feedbackWeights;
  Real bias, firstWeight, leak, keep, noise;
  unsigned key0, key1;

  __device__ __forceinline__ Neuron(const Data<Real>& data, const Member& member, int row) {
    const size_t parameters = member.parameters, size = data.size;
    inputWeights = data.inputWeights + parameters * data.inputSize * size + row;
    feedbackWeights = data.feedbackWeights + parameters * data.outputSize * size + row;
    bias = data.bias[parameters * size + row];
    firstWeight = data.inputSize > 0 ? inputWeights[0] : (Real)0;
    leak = data.leak[parameters * size + row];
    keep = portable::sub((Real)1, leak);
    noise = data.noise[parameters];
    key0 = data.keys[2 * parameters];
    key1 = data.keys[2 * parameters + 1];
  }

  /** b + W_in u(t), rule 3. */
  __device__ __forceinline__ Real drive(const Data<Real>& data, const Member& member, int t) const {
    const Real* u = data.inputs + (size_t)(member.inputRow + t) * data.inputSize;
    Real sum = bias;
    if (data.inputSize > 0) sum = arithmetic::mulAdd(firstWeight, u[0], sum);
    for (int i = 1; i < data.inputSize; i++) sum = arithmetic::mulAdd(inputWeights[(size_t)i * data.size], u[i], sum);
    return sum;
  }

  /** x(t+1) from drive, dot product and x(t), rules 3 to 6; notes a state that is not finite. */
  __device__ __forceinline__ Real step(const Data<Real>& data, const Member& member, int row, int t, Real driven, Real dot, Real x) const {
    Real z = portable::add(driven, dot);
    if (data.outputSize > 0) {
      Real fed = (Real)0;
      if (member.outputRow >= 0) {
        const Real* y = data.outputs + (size_t)(member.outputRow + t) * data.outputSize;
        for (int o = 0; o < data.outputSize; o++) fed = arithmetic::mulAdd(feedbackWeights[(size_t)o * data.size], y[o], fed);
      }
      z = portable::add(z, fed);
    }
    if (noise != (Real)0) z = portable::add(z, philox::noise(noise, key0, key1, member.firstStep + t, row, member.sequence));
    const Real next = arithmetic::leakyStep(keep, x, leak, arithmetic::activate(data.activation, z));
    if (row < data.size && !portable::finite(next))
      atomicMin(data.failures + blockIdx.x, (unsigned long long)(member.firstStep + t) << 32 | (unsigned)row);
    return next;
  }
};

}  // namespace ensemble

/** The parameters of every ensemble kernel, whose first tells what its weights are. */
#define ENSEMBLE_PARAMETERS(Real)                                                                                                        \
  const Real *inputWeights, const Real *feedbackWeights, const Real *bias, const Real *leak, const Real *noise, const unsigned *keys,     \
      const Real *inputs, const Real *outputs, Real *state, Real *states, const int *members, unsigned long long *failures, int size,     \
      int inputSize, int outputSize, int activation
#define ENSEMBLE_DATA(Real)                                                                                                              \
  ensemble::Data<Real> {                                                                                                                 \
    inputWeights, feedbackWeights, bias, leak, noise, keys, inputs, outputs, state, states,                                              \
        reinterpret_cast<const ensemble::Member*>(members), failures, size, inputSize, outputSize, activation                            \
  }
