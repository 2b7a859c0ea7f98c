// Functions of C libraries as texts, the types of their arguments here, and C strings.

/**
 * The JavaScript type of an argument of each kind. A kind says how wide the argument is in C.
 * Handles and device addresses are bigints; 0n is null.
 */
export interface ArgumentTypes {
  i32: number;
  u32: number;
  u16: number;
  u8: number;
  u64: number;
  size: number;
  /** An opaque pointer that the library gave. */
  handle: bigint;
  /** A device address. */
  address: bigint;
  /** Host memory that the library reads, or a host address. */
  pointer: bigint | ArrayBufferView;
  /** Host memory that the library writes, or a host address. */
  out: bigint | ArrayBufferView;
  /** A NUL-terminated string; the NUL is added. */
  text: string;
  /** A struct of 128 bytes, by value. */
  bytes128: { readonly bytes: Uint8Array };
}

/** What an argument is in C. Results are written into typed arrays passed as `out`. */
export type ArgumentKind = keyof ArgumentTypes;

/**
 * A function of a C library: the symbols that it may have, newest first, and its arguments. It
 * returns a 32-bit status.
 */
export interface CallSignature {
  readonly symbols: readonly string[];
  readonly arguments: readonly ArgumentKind[];
}

/** The functions of a library, by the names that they have here. */
export type Signatures = Readonly<Record<string, CallSignature>>;

type WithoutIndent<List extends string> = List extends ` ${infer Rest}` | `\n${infer Rest}` ? WithoutIndent<Rest> : List;

/** The kinds in "out pool, pointer poolProps". */
type KindsIn<List extends string> =
  WithoutIndent<List> extends `${infer Kind extends ArgumentKind} ${infer Rest}`
    ? [Kind, ...(Rest extends `${string},${infer Others}` ? KindsIn<Others> : [])]
    : List extends ""
      ? []
      : never;

/** The signature of a text. */
export type SignatureOf<Text extends string> = {
  readonly symbols: readonly string[];
  readonly arguments: Text extends `${string}(${infer List})` ? KindsIn<List> : never;
};

/**
 * The functions that texts describe by their names: "cuMemFreeAsync(address dptr, handle hStream)"
 * is the C prototype with the kind of each argument for its type, and symbols that an older library
 * has are added by "|".
 */
export function signatures<const Texts extends Readonly<Record<string, `${string}(${string})`>>>(texts: Texts) {
  const read = Object.entries(texts).map(([name, text]) => {
    const [symbols = "", list = ""] = text.slice(0, -1).split("(");
    const kinds = list.split(",").map((each) => each.trim().split(" ")[0]!);
    return [name, { symbols: symbols.split("|"), arguments: kinds.filter((kind) => kind !== "") }];
  });
  return Object.fromEntries(read) as { readonly [Name in keyof Texts]: SignatureOf<Texts[Name]> };
}

/** The arguments of a function whose kinds are given. */
export type ArgumentsOf<Kinds extends readonly ArgumentKind[]> = { -readonly [Index in keyof Kinds]: ArgumentTypes[Kinds[Index]] };

/** The text in bytes that a library wrote: up to its NUL, or all. */
export function textUpToNul(bytes: Uint8Array): string {
  const end = bytes.indexOf(0);
  return new TextDecoder().decode(end < 0 ? bytes : bytes.subarray(0, end));
}
