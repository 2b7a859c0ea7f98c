// 16-bit floating-point numbers widened to binary32. Both widenings are exact; nothing is narrowed here.

/** IEEE-754 binary16, given as bits. */
export function float16ToFloat32(bits: Uint16Array): Float32Array {
  const out = new Uint32Array(bits.length);
  for (let i = 0; i < bits.length; i++) {
    const half = bits[i]!;
    const sign = (half & 0x8000) << 16;
    let exponent = (half >> 10) & 0x1f;
    let fraction = half & 0x3ff;
    if (exponent === 0x1f) exponent = 0xff;
    else if (exponent > 0) exponent += 112;
    else if (fraction > 0) {
      // A subnormal of 16 bits is a normal number of 32: shift its leading one into place.
      const shift = Math.clz32(fraction) - 21;
      fraction = (fraction << shift) & 0x3ff;
      exponent = 113 - shift;
    }
    out[i] = sign | (exponent << 23) | (fraction << 13);
  }
  return new Float32Array(out.buffer);
}

/** bfloat16, the upper half of a binary32, given as bits. */
export function bfloat16ToFloat32(bits: Uint16Array): Float32Array {
  const out = new Uint32Array(bits.length);
  for (let i = 0; i < bits.length; i++) out[i] = bits[i]! << 16;
  return new Float32Array(out.buffer);
}
