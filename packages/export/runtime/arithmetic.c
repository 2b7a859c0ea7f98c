/* Every operation is rounded by itself: no fused multiply-add, no reordering, no wider numbers. */
#if defined(__FAST_MATH__)
#error "compile without -ffast-math: the sums have one fixed order"
#endif
#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16 /* 16: of _Float16 */
#error "this compiler computes in wider numbers; on x86 take -mfpmath=sse -msse2"
#endif
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif
