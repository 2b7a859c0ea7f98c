// Addresses of binary64 elements in row-major matrices. No arithmetic on the elements lives here.

export function at(matrix: usize, ld: i32, r: i32, c: i32): usize {
  return matrix + ((<usize>r * <usize>ld + <usize>c) << 3);
}

/** Sum of the two lanes, the first plus the second. */
export function laneSum(x: v128): f64 {
  return f64x2.extract_lane(x, 0) + f64x2.extract_lane(x, 1);
}
