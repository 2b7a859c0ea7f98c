// Householder reflections of two or three neighbouring rows or columns: where the QR algorithm
// spends its time.

/** A reflection of three rows, `count` columns. */
export function reflectRows3(p: usize, line: usize, count: i32, t0: f64, t1: f64, t2: f64, v1: f64, v2: f64): void {
  const q = p + line;
  const r = q + line;
  const tt0 = f64x2.splat(t0);
  const tt1 = f64x2.splat(t1);
  const tt2 = f64x2.splat(t2);
  const vv1 = f64x2.splat(v1);
  const vv2 = f64x2.splat(v2);
  const end = (<usize>count) << 3;
  let c: usize = 0;
  for (; c + 16 <= end; c += 16) {
    const x = v128.load(p + c);
    const y = v128.load(q + c);
    const w = v128.load(r + c);
    const sum = f64x2.add(f64x2.add(x, f64x2.mul(vv1, y)), f64x2.mul(vv2, w));
    v128.store(p + c, f64x2.sub(x, f64x2.mul(sum, tt0)));
    v128.store(q + c, f64x2.sub(y, f64x2.mul(sum, tt1)));
    v128.store(r + c, f64x2.sub(w, f64x2.mul(sum, tt2)));
  }
  if (c < end) {
    const x = load<f64>(p + c);
    const y = load<f64>(q + c);
    const w = load<f64>(r + c);
    const sum = x + v1 * y + v2 * w;
    store<f64>(p + c, x - sum * t0);
    store<f64>(q + c, y - sum * t1);
    store<f64>(r + c, w - sum * t2);
  }
}

/** A reflection of three columns, `count` rows, two rows at a time. */
export function reflectColumns3(p: usize, line: usize, count: i32, t0: f64, t1: f64, t2: f64, v1: f64, v2: f64): void {
  const tt0 = f64x2.splat(t0);
  const tt1 = f64x2.splat(t1);
  const tt2 = f64x2.splat(t2);
  const vv1 = f64x2.splat(v1);
  const vv2 = f64x2.splat(v2);
  let r = 0;
  for (; r + 2 <= count; r += 2) {
    const q = p + line;
    const a = v128.load(p);
    const b = v128.load(q);
    const x = v128.shuffle<f64>(a, b, 0, 2);
    const y = v128.shuffle<f64>(a, b, 1, 3);
    const w = v128.load64_lane(q, v128.load64_zero(p, 16), 1, 16);
    const sum = f64x2.add(f64x2.add(x, f64x2.mul(vv1, y)), f64x2.mul(vv2, w));
    const x1 = f64x2.sub(x, f64x2.mul(sum, tt0));
    const y1 = f64x2.sub(y, f64x2.mul(sum, tt1));
    const w1 = f64x2.sub(w, f64x2.mul(sum, tt2));
    v128.store(p, v128.shuffle<f64>(x1, y1, 0, 2));
    v128.store(q, v128.shuffle<f64>(x1, y1, 1, 3));
    v128.store64_lane(p, w1, 0, 16);
    v128.store64_lane(q, w1, 1, 16);
    p = q + line;
  }
  if (r < count) {
    const x = load<f64>(p);
    const y = load<f64>(p, 8);
    const w = load<f64>(p, 16);
    const sum = x + v1 * y + v2 * w;
    store<f64>(p, x - sum * t0);
    store<f64>(p, y - sum * t1, 8);
    store<f64>(p, w - sum * t2, 16);
  }
}

/** A reflection of two rows or columns whose elements are `stride` bytes apart. */
export function reflect2(p: usize, q: usize, stride: usize, count: i32, t0: f64, t1: f64, v1: f64): void {
  for (let r = 0; r < count; r++, p += stride, q += stride) {
    const x = load<f64>(p);
    const y = load<f64>(q);
    const sum = x + v1 * y;
    store<f64>(p, x - sum * t0);
    store<f64>(q, y - sum * t1);
  }
}
