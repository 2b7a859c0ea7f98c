// Makes an input smaller as long as it still shows its problem: pieces taken out, halves first,
// then bytes made plain.

export interface Effort {
  readonly tries: number;
  readonly seconds: number;
}

export async function minimise(input: Uint8Array, fails: (candidate: Uint8Array) => Promise<boolean>, effort: Effort): Promise<Uint8Array> {
  let best = input;
  let tries = 0;
  const end = performance.now() + effort.seconds * 1000;
  const left = (): boolean => tries < effort.tries && performance.now() < end;
  const take = async (candidate: Uint8Array): Promise<boolean> => {
    tries++;
    if (!(await fails(candidate))) return false;
    best = candidate;
    return true;
  };
  for (let size = Math.ceil(best.length / 2); size >= 1 && left(); size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < best.length && left(); ) {
      if (!(await take(without(best, at, Math.min(best.length, at + size))))) at += size;
    }
  }
  for (let at = 0; at < best.length && left(); at++) {
    for (const plain of [0x30, 0x00]) {
      if (best[at] === plain) break;
      const candidate = best.slice();
      candidate[at] = plain;
      if (await take(candidate)) break;
    }
  }
  return best;
}

function without(bytes: Uint8Array, from: number, to: number): Uint8Array {
  const out = new Uint8Array(bytes.length - (to - from));
  out.set(bytes.subarray(0, from));
  out.set(bytes.subarray(to), from);
  return out;
}
