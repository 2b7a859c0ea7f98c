// docs/numerics.md, rules 7 and 8, in plain loops over single draws, whole numbers as BigInt: what
// drawing in bulk must equal. It shares no code with packages/numerics.

const mask = 0xffffffffn;

/** Philox4x32-10 of a counter and a key. */
function philox(counter: readonly number[], key: readonly [number, number]): readonly number[] {
  let [c0, c1, c2, c3] = counter.map(BigInt) as [bigint, bigint, bigint, bigint];
  let [k0, k1] = key.map((word) => BigInt(word >>> 0)) as [bigint, bigint];
  for (let round = 0; round < 10; round++) {
    const [product0, product1] = [0xd2511f53n * c0, 0xcd9e8d57n * c2];
    [c0, c1, c2, c3] = [(product1 >> 32n) ^ c1 ^ k0, product1 & mask, (product0 >> 32n) ^ c3 ^ k1, product0 & mask];
    [k0, k1] = [(k0 + 0x9e3779b9n) & mask, (k1 + 0xbb67ae85n) & mask];
  }
  return [c0, c1, c2, c3].map(Number);
}

const fromWords = (w0: number, w1: number): number => (Math.floor(w0 / 32) * 2 ** 26 + Math.floor(w1 / 64)) / 2 ** 53;

/** A stream of a key: its number and its purpose. */
export interface Stream {
  readonly key: readonly [number, number];
  readonly stream: number;
  readonly purpose: number;
}

/** Draw (row, index): U. */
export function uniform({ key, stream, purpose }: Stream, row: number, index: number): number {
  const words = philox([Math.floor(index / 2), row, stream, purpose], key);
  const first = 2 * (index % 2);
  return fromWords(words[first]!, words[first + 1]!);
}

/** Draw (row, index) as a value of a distribution. */
export function value(of: Stream, distribution: "uniform" | "normal" | "bernoulli", row: number, index: number): number {
  if (distribution === "uniform") return 2 * uniform(of, row, index) - 1;
  if (distribution === "bernoulli") return uniform(of, row, index) < 0.5 ? -1 : 1;
  const words = philox([index, row, of.stream, of.purpose], of.key);
  return Math.sqrt(-2 * log(1 - fromWords(words[0]!, words[1]!))) * cos(6.283185307179586 * fromWords(words[2]!, words[3]!));
}

/** The positions that a row selects. */
export function positions(of: Stream, row: number, density: number, candidates: number): number[] {
  const taken: number[] = [];
  if (density >= 1) for (let c = 0; c < candidates; c++) taken.push(c);
  if (density >= 1 || 1 - density === 1) return taken;
  for (let i = 0, position = -1; ; i++) {
    position += 1 + Math.floor(log(1 - uniform(of, row, i)) / log(1 - density));
    if (position >= candidates) return taken;
    taken.push(position);
  }
}

/** A number in C's hexadecimal notation. */
function hex(text: string): number {
  const [, sign, whole, fraction, exponent] = text.match(/^(-?)0x(\d)\.?([0-9a-f]*)p([+-]\d+)$/)!;
  return (sign ? -1 : 1) * Number(BigInt(`0x${whole}${fraction}`)) * 2 ** (Number(exponent) - 4 * fraction!.length);
}

const coefficients = (texts: string): number[] => texts.trim().split(/\s+/).map(hex);
const horner = (of: readonly number[], x: number): number => of.reduceRight((sum, coefficient) => sum * x + coefficient);

const L2 = hex("0x1.62e42fefa3800p-1");
const l2 = hex("0x1.ef35793c76730p-45");
const T = coefficients(
  "0x1.9999999999996p-2 0x1.2492492492ff8p-2 0x1.c71c71c586593p-3 0x1.745d182fe5540p-3 0x1.3b1363466b7f7p-3 0x1.1120a263665c5p-3 0x1.de362ee673b21p-4 0x1.eafc5f24eeec9p-4",
);

function err(a: number, b: number, p: number): number {
  const u = a * 134217729;
  const A = u - (u - a);
  const a1 = a - A;
  const v = b * 134217729;
  const B = v - (v - b);
  const b1 = b - B;
  return A * B - p + A * b1 + a1 * B + a1 * b1;
}

/** log(x) for normal x > 0. */
function log(x: number): number {
  let [m, k] = [x, 0];
  for (; m >= 2; k++) m /= 2;
  for (; m < 1; k--) m *= 2;
  if (m >= hex("0x1.6a09e667f3bcdp+0")) [m, k] = [m / 2, k + 1];
  const f = m - 1;
  const d = m + 1;
  const d1 = m - (d - 1);
  const s = f / d;
  const p = s * d;
  const s1 = (f - p - err(s, d, p) - s * d1) / d;
  const z = s * s;
  const z1 = err(s, s, z) + (s + s) * s1;
  const q = z * horner(T, z);
  const third = hex("0x1.5555555555555p-1");
  const w = third + q;
  const w1 = third - w + q + hex("0x1.5555555555555p-55");
  const c = s * z;
  const c1 = err(s, z, c) + (s * z1 + s1 * z);
  const b = c * w;
  const b1 = err(c, w, b) + (c * w1 + c1 * w);
  const g = k * L2;
  const t = s + s;
  const v = g + t;
  const v1 = g - v + t;
  const y = v + b;
  const y1 = v - y + b;
  return y + (v1 + y1 + b1 + (s1 + s1 + k * l2));
}

const shift = 6755399441055744;
const F = coefficients(
  "-0x1.5555555555555p-3 0x1.111111111110bp-7 -0x1.a01a01a018aefp-13 0x1.71de3a533a43ap-19 -0x1.ae645299455a3p-26 0x1.6120934f53911p-33 -0x1.aaa58fc09dfbcp-41",
);
const G = coefficients(
  "0x1.5555555555555p-5 -0x1.6c16c16c16c10p-10 0x1.a01a01a018e1ap-16 -0x1.27e4fb7600514p-22 0x1.1eed8ca68a05cp-29 -0x1.93933b38aac88p-37 0x1.aac6e804cb60ap-45",
);

/** cos(x), 0 <= x < 2^30. */
function cos(x: number): number {
  const n = x * hex("0x1.45f306dc9c883p-1") + shift - shift;
  let h = x - n * hex("0x1.921fb4p+0") - n * hex("0x1.4442dp-24");
  let l = 0;
  for (const part of coefficients("0x1.846988p-48 0x1.8cc514p-72 0x1.80dc1cp-95")) {
    const p = n * part;
    const d = h - p;
    const e = d - h;
    l += h - (d - e) - (p + e);
    h = d;
  }
  l -= n * hex("0x1.a252049c1114dp-120");
  const [high, low] = [h + l, h - (h + l) + l];
  const z = high * high;
  const w = 1 - 0.5 * z;
  const sine = high + (z * high * horner(F, z) + low * w);
  const cosine = w + (1 - w - 0.5 * z + (z * z * horner(G, z) - high * low));
  const quadrant = ((n % 4) + 4 + 1) % 4;
  const result = quadrant % 2 === 0 ? sine : cosine;
  return quadrant >= 2 ? -result : result;
}
