// A binary64 whose operators round once each and never fuse. A formula reads here as on the host
// and has the same bits.
#pragma once
#include "portable.cuh"

struct Exact {
  double value;
  Exact() = default;
  __device__ __forceinline__ constexpr Exact(double v) : value(v) {}
};

static __device__ __forceinline__ Exact operator+(Exact a, Exact b) { return portable::add(a.value, b.value); }
static __device__ __forceinline__ Exact operator-(Exact a, Exact b) { return portable::sub(a.value, b.value); }
static __device__ __forceinline__ Exact operator*(Exact a, Exact b) { return portable::mul(a.value, b.value); }
static __device__ __forceinline__ Exact operator/(Exact a, Exact b) { return portable::div(a.value, b.value); }
static __device__ __forceinline__ Exact operator-(Exact a) { return -a.value; }
static __device__ __forceinline__ bool operator<(Exact a, Exact b) { return a.value < b.value; }
static __device__ __forceinline__ bool operator>(Exact a, Exact b) { return a.value > b.value; }
static __device__ __forceinline__ bool operator<=(Exact a, Exact b) { return a.value <= b.value; }
static __device__ __forceinline__ bool operator>=(Exact a, Exact b) { return a.value >= b.value; }

static __device__ __forceinline__ Exact root(Exact a) { return portable::root(a.value); }
static __device__ __forceinline__ Exact least(Exact a, Exact b) { return a < b ? a : b; }
static __device__ __forceinline__ Exact greatest(Exact a, Exact b) { return a > b ? a : b; }
