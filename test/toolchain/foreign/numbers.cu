// Halves, bfloat16, 8-bit floats, packed integers, and assembly with literals. Each kernel is right
// if `bug` is 0.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

// bug 1: a pair of halves at the address of a single one.
extern "C" __global__ void halves(const half* x, half* y, float* z, int bug) {
  int t = threadIdx.x;
  half2 pair = *(const half2*)(x + 2 * t + (bug == 1));  // bug halves: misaligned
  half2 product = __hfma2(pair, __half2half2(x[0]), __float2half2_rn(0.25f));
  *(half2*)(y + 2 * t) = __hmax2(product, __hneg2(pair));
  z[3 * t] = __half2float(hsqrt(__habs(pair.x)));
  z[3 * t + 1] = __half2float(__float2half_rz(1.0f / (t + 3)));
  z[3 * t + 2] = (float)__half2int_rn(__hmul(pair.y, __float2half(8.f)));
}

extern "C" __global__ void bfloats(const float* x, unsigned short* y, float* z, int bug) {
  int t = threadIdx.x;
  __nv_bfloat16 value = __float2bfloat16(x[t + (bug == 1)]);  // bug bfloats: outOfBounds
  y[t] = __bfloat16_as_ushort(value);
  z[2 * t] = __bfloat162float(__hadd(value, __float2bfloat16(1.5f)));
  z[2 * t + 1] = __low2float(__hmul2(__bfloat162bfloat162(value), __floats2bfloat162_rn(3.f, 4.f)));
}

// bug 1: the table is indexed from 1.
extern "C" __global__ void bytes(const float* x, unsigned char* y, float* z, int bug) {
  __shared__ float table[64];
  int t = threadIdx.x;
  table[t] = x[t];
  __syncthreads();
  float value = table[t + (bug == 1)];  // bug bytes: outOfBounds
  __nv_fp8_e4m3 narrow(value);
  __nv_fp8_e5m2 wide(value);
  y[4 * t] = narrow.__x;
  y[4 * t + 1] = wide.__x;
  __nv_fp8x2_e4m3 pair(make_float2(value, -value));
  *(unsigned short*)(y + 4 * t + 2) = pair.__x;
  z[3 * t] = (float)narrow;
  z[3 * t + 1] = (float)wide;
  z[3 * t + 2] = __half2float(half(wide));
}

// bug 1: the last thread reads a word too far.
extern "C" __global__ void packed(const unsigned* x, unsigned* y, int bug) {
  int t = threadIdx.x;
  unsigned a = x[t], b = x[t + (bug == 1 ? 1 : 0)];  // bug packed: outOfBounds
  b = __byte_perm(b, a, 0x0436);
  unsigned* out = y + 12 * t;
  out[0] = __vabsdiffu4(a, b);
  out[1] = __vsadu4(a, b);
  out[2] = __vavgu4(a, b);
  out[3] = __vadd4(a, b);
  out[4] = __vmaxs4(a, b);
  out[5] = __vcmpgtu4(a, b);
  out[6] = __dp4a((int)a, (int)b, 7);
  out[7] = __vabsdiffs2(a, b);
  out[8] = __vaddss2(a, b);
  out[9] = __vseteq4(a, b);
  out[10] = __funnelshift_l(a, b, 7);
  out[11] = __vabsss4(a);
}

// Literals as people write them in assembly. bug 1: a float where four are asked for.
extern "C" __global__ void literals(float* y, double* z, const float* x, int bug) {
  float f, g;
  double d;
  int i;
  asm volatile("mov.f32 %0, 1.5;" : "=f"(f));
  asm volatile("{ .reg .pred p; setp.eq.s32 p, %1, 0; selp.f32 %0, 2.5, -0.25, p; }" : "=f"(g) : "r"((int)threadIdx.x));
  asm volatile("mov.f64 %0, 0.1;" : "=d"(d));
  asm volatile("slct.s32.f32 %0, 11, -7, %1;" : "=r"(i) : "f"(g));
  y[3 * threadIdx.x] = f;
  y[3 * threadIdx.x + 1] = g;
  y[3 * threadIdx.x + 2] = i;
  z[threadIdx.x] = d;
  float4 v;
  const float* from = x + 4 * threadIdx.x + (bug == 1);
  asm volatile("ld.global.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(from));  // bug literals: misaligned
  asm volatile("st.global.f32 [%0], %1;" ::"l"(y + 3 * threadIdx.x), "f"(f + v.x + v.y + v.z + v.w) : "memory");
  asm volatile("st.global.f32 [%0], 3.25;" ::"l"(y + 96) : "memory");
}
