// Whether the runtime has relaxed SIMD, and its multiply-add can be trusted. Only exact products
// may go through it: fused or not, it then gives the bits of a product and a sum that are rounded
// one after the other.

/** A module with one function f(a, b, c) = lane 0 of f64x2.relaxed_madd(a, b, c). */
const probeModule = Uint8Array.of(
  ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00], // magic number, version 1
  ...[0x01, 0x08, 0x01, 0x60, 0x03, 0x7c, 0x7c, 0x7c, 0x01, 0x7c], // type (f64, f64, f64) -> f64
  ...[0x03, 0x02, 0x01, 0x00], // one function of it
  ...[0x07, 0x05, 0x01, 0x01, 0x66, 0x00, 0x00], // exported as "f"
  ...[0x0a, 0x16, 0x01, 0x14, 0x00], // its code, without locals
  ...[0x20, 0x00, 0xfd, 0x14, 0x20, 0x01, 0xfd, 0x14, 0x20, 0x02, 0xfd, 0x14], // splat a, b and c
  ...[0xfd, 0x87, 0x02, 0xfd, 0x21, 0x00, 0x0b], // relaxed_madd, lane 0, end
);

/**
 * Binary32 numbers of all kinds: subnormal, largest, with all bits of the significand set, and
 * zeros of both signs.
 */
const factors = [-0, 0, 2 ** -149, -(2 - 2 ** -23) * 2 ** -126, 2 ** -23 - 1, 1 + 2 ** -23, -12345.6787109375, (2 - 2 ** -23) * 2 ** 127];

/** Sums that such products are added to: they cancel, round at a tie, or vanish beside it. */
const sums = [-0, 0, -1, 2 ** 53, -(2 ** 53) - 2, 1 / 3, 1e300, -(2 ** -297)];

let exact: boolean | undefined;

/**
 * Whether `f64x2.relaxed_madd` is there and gives the bits of separate operations if the product
 * is exact. Looked at once.
 */
export function hasExactMultiplyAdd(): boolean {
  exact ??= WebAssembly.validate(probeModule) && isExact(new WebAssembly.Instance(new WebAssembly.Module(probeModule)).exports["f"]);
  return exact;
}

function isExact(multiplyAdd: unknown): boolean {
  const f = multiplyAdd as (a: number, b: number, c: number) => number;
  return factors.every((a) => factors.every((b) => sums.every((c) => Object.is(f(a, b, c), a * b + c))));
}
