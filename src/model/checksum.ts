// SHA-256 of byte ranges, by the library that is there: Node's, or the browser's Web Crypto.

/** SHA-256 of the parts one after the other, as 64 hexadecimal digits. */
export async function sha256(parts: readonly Uint8Array[]): Promise<string> {
  const crypto = globalThis.process?.getBuiltinModule?.("node:crypto");
  if (crypto) {
    const hash = crypto.createHash("sha256");
    for (const part of parts) {
      for (let from = 0; from < part.length; from += piece) hash.update(part.subarray(from, from + piece));
    }
    return hash.digest("hex");
  }
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let next = 0;
  for (const part of parts) {
    joined.set(part, next);
    next += part.length;
  }
  const digest = new Uint8Array(await globalThis.crypto.subtle.digest("SHA-256", joined));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Node takes at most 2 GiB at a time. */
const piece = 2 ** 30;
