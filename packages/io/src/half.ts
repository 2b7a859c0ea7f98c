// Arrays of 16-bit floating-point numbers widened to binary32, which is exact.
import { checkHas } from "@spillway/core/checks.js";
import { bfloat16Value, halfValue } from "@spillway/core/half.js";

/** IEEE-754 binary16, given as bits. */
export function float16ToFloat32(bits: Uint16Array): Float32Array {
  checkHas("bits", bits, "a Uint16Array", "map");
  return Float32Array.from(bits, halfValue);
}

/** bfloat16, the upper half of a binary32, given as bits. */
export function bfloat16ToFloat32(bits: Uint16Array): Float32Array {
  checkHas("bits", bits, "a Uint16Array", "map");
  return Float32Array.from(bits, bfloat16Value);
}
