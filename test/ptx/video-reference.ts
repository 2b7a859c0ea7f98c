// Video instructions as PTX ISA 9.0, section 9.7.18, describes them, stage by stage in exact
// integers: read from an instruction's own text, and made without the emitters that it is held
// against.

const bits = (value: bigint, at: number, size: number, signed: boolean): bigint => {
  const field = value >> BigInt(at);
  return signed ? BigInt.asIntN(size, field) : BigInt.asUintN(size, field);
};

const clamp = (value: bigint, size: number, signed: boolean): bigint => {
  const one = 1n << BigInt(size - (signed ? 1 : 0));
  const [least, most] = signed ? [-one, one - 1n] : [0n, one - 1n];
  return value < least ? least : value > most ? most : value;
};

const compare = (way: string, a: bigint, b: bigint): bigint => {
  const is = { eq: a === b, ne: a !== b, lt: a < b, le: a <= b, gt: a > b, ge: a >= b }[way];
  return is ? 1n : 0n;
};

function operate(name: string, words: readonly string[], a: bigint, b: bigint): bigint {
  const sum = a + b;
  switch (name) {
    case "add":
      return sum;
    case "sub":
      return a - b;
    case "absdiff":
      return a > b ? a - b : b - a;
    case "min":
      return a < b ? a : b;
    case "max":
      return a > b ? a : b;
    case "avrg":
      return sum >= 0n ? (sum + 1n) >> 1n : sum >> 1n;
    case "shl":
      return a << (words.includes("wrap") ? b & 31n : b > 32n ? 32n : b);
    case "shr":
      return a >> (words.includes("wrap") ? b & 31n : b > 32n ? 32n : b);
    default:
      return compare(words.find((word) => /^(eq|ne|[lg][te])$/.test(word))!, a, b);
  }
}

interface Parsed {
  name: string;
  count: number;
  words: string[];
  types: string[];
  /** Suffixes of the destination and of both sources. */
  parts: (string | undefined)[];
  minus: boolean[];
}

function parse(code: string): Parsed {
  const [, name, count, modifiers, rest] = /^v([a-z]+)([24]?)\.([\w.]+) (.*);$/.exec(code)!;
  const words = modifiers!.split(".");
  const given = words.filter((word) => word === "u32" || word === "s32");
  const operands = rest!.split(", ");
  return {
    name: name!,
    count: Number(count) || 1,
    words,
    // A comparison is unsigned.
    types: given.length === 2 ? ["u32", ...given] : given,
    parts: operands.map((operand) => operand.split(".")[1]),
    minus: operands.map((operand) => operand.startsWith("-")),
  };
}

/** The 32 bits that an instruction on %d, %a, %b and %c gives. */
export function videoResult(code: string, a: number, b: number, c: number): number {
  const { name, count, words, types, parts, minus } = parse(code);
  const [dSigned, aSigned, bSigned] = types.map((type) => type === "s32") as [boolean, boolean, boolean];
  const inputs = [BigInt(a >>> 0), BigInt(b >>> 0)];
  const addend = BigInt(c >>> 0);
  const word = (value: bigint): number => Number(BigInt.asUintN(32, value));
  if (count > 1) {
    const size = 32 / count;
    const both = inputs[0]! | (inputs[1]! << 32n);
    const chosen = (part: string | undefined, from: number, signed: boolean): bigint[] =>
      Array.from({ length: count }, (_, k) => {
        const index = part === undefined ? from + k : Number(part[count - k]);
        return bits(both, size * index, size, signed);
      });
    const [x, y] = [chosen(parts[1], 0, aSigned), chosen(parts[2], count, bSigned)];
    const saturates = words.includes("sat");
    const results = x.map((value, k) => {
      const result = operate(name, words, value, y[k]!);
      return saturates ? clamp(result, size, dSigned) : result;
    });
    const mask = (k: number): boolean => parts[0]?.slice(1).includes(String(k)) ?? true;
    if (words.includes("add")) return word(results.reduce((sum, result, k) => (mask(k) ? sum + result : sum), addend));
    return word(
      results.reduce(
        (all, result, k) => all | (bits(mask(k) ? result : addend >> BigInt(size * k), 0, size, false) << BigInt(size * k)),
        0n,
      ),
    );
  }
  const partAt = (part: string | undefined): [at: number, size: number] => {
    const size = part === undefined ? 32 : part.startsWith("b") ? 8 : 16;
    return [part === undefined ? 0 : size * Number(part[1]), size];
  };
  const source = (k: 0 | 1, signed: boolean): bigint => bits(inputs[k]!, ...partAt(parts[k + 1]), signed);
  const [x, y] = [source(0, aSigned), source(1, bSigned)];
  if (name === "mad") {
    const product = minus[1] !== minus[2];
    const signed = aSigned || bSigned || product || minus[3]!;
    let sum = x * y;
    let third = addend;
    let last = 0n;
    if (words.includes("po")) last = 1n;
    else if (product) [sum, last] = [~sum, 1n];
    else if (minus[3]) [third, last] = [~addend, 1n];
    const shift = words.includes("shr7") ? 7n : words.includes("shr15") ? 15n : 0n;
    const result = (sum + bits(third, 0, 32, signed) + last) >> shift;
    return word(words.includes("sat") ? clamp(result, 32, signed) : result);
  }
  const [at, size] = partAt(parts[0]);
  const raw = operate(name, words, x, y);
  const result = words.includes("sat") ? clamp(raw, size, dSigned) : raw;
  if (parts[0] !== undefined) {
    const mask = ((1n << BigInt(size)) - 1n) << BigInt(at);
    return word(((result << BigInt(at)) & mask) | (addend & ~mask));
  }
  const third = bits(addend, 0, 32, dSigned);
  const second = parts.length > 3 ? words.find((each) => /^(add|min|max)$/.test(each)) : undefined;
  return word(second === undefined ? result : operate(second, words, result, third));
}
