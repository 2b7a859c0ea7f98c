// Sobol points with the direction numbers of Joe and Kuo (SIAM J. Sci. Comput. 30, 2008), table
// new-joe-kuo-6.21201. Copyright (c) 2008, Frances Y. Kuo and Stephen Joe; the licence is in
// THIRD-PARTY-NOTICES.txt.

/**
 * Of each dimension from the second on: its primitive polynomial with all its bits, then m_1, m_2,
 * ...
 */
const table: readonly (readonly number[])[] = [
  [3, 1],
  [7, 1, 3],
  [11, 1, 3, 1],
  [13, 1, 1, 1],
  [19, 1, 1, 3, 3],
  [25, 1, 3, 5, 13],
  [37, 1, 1, 5, 5, 17],
  [41, 1, 1, 5, 5, 5],
  [47, 1, 1, 7, 11, 19],
  [55, 1, 1, 5, 1, 1],
  [59, 1, 1, 1, 3, 11],
  [61, 1, 3, 5, 5, 31],
  [67, 1, 3, 3, 9, 7, 49],
  [91, 1, 1, 1, 15, 21, 21],
  [97, 1, 3, 1, 13, 27, 49],
  [103, 1, 1, 1, 15, 7, 5],
  [109, 1, 3, 1, 15, 13, 25],
  [115, 1, 1, 5, 5, 19, 61],
  [131, 1, 3, 7, 11, 23, 15, 103],
  [137, 1, 3, 7, 13, 13, 15, 69],
];

/** The dimensions that the table has. */
export const sobolDimensions = table.length + 1;

const bits = 32;

/** v_1 .. v_32 of a dimension, counted from 0. */
function directions(dimension: number): Uint32Array {
  const v = new Uint32Array(bits);
  if (dimension === 0) {
    for (let i = 0; i < bits; i++) v[i] = 2 ** (bits - 1 - i);
    return v;
  }
  const [polynomial, ...initial] = table[dimension - 1]! as [number, ...number[]];
  const degree = initial.length;
  for (let i = 0; i < bits; i++) {
    if (i < degree) {
      v[i] = initial[i]! * 2 ** (bits - 1 - i);
      continue;
    }
    // In terms of v = m 2^(32-i), multiplying m by 2^k is shifting v not at all.
    let next = v[i - degree]! ^ (v[i - degree]! >>> degree);
    for (let k = 1; k < degree; k++) if ((polynomial >>> (degree - k)) & 1) next ^= v[i - k]!;
    v[i] = next;
  }
  return v;
}

const known: Uint32Array[] = [];

/**
 * Point k of a dimension as a whole number below 2^32: the xor of v_i over the set bits of
 * k ^ (k >> 1). Dimensions count from 0.
 */
export function sobolPoint(k: number, dimension: number): number {
  known[dimension] ??= directions(dimension);
  const v = known[dimension]!;
  let gray = (k ^ (k >>> 1)) >>> 0;
  let point = 0;
  for (let i = 0; gray !== 0; i++, gray >>>= 1) if (gray & 1) point ^= v[i]!;
  return point >>> 0;
}
