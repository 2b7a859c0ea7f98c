// What the rounding of a product loses: where binary64 is not enough, the error is carried along.

/**
 * What rounding took from p = a * b: a * b - p, exactly, by splitting each into two halves
 * (Veltkamp, Dekker 1971).
 */
export function productError(a: number, b: number, p: number): number {
  const aShifted = a * 134217729;
  const aHigh = aShifted - (aShifted - a);
  const aLow = a - aHigh;
  const bShifted = b * 134217729;
  const bHigh = bShifted - (bShifted - b);
  const bLow = b - bHigh;
  return aHigh * bHigh - p + aHigh * bLow + aLow * bHigh + aLow * bLow;
}
