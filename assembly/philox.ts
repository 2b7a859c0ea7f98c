// Philox4x32-10 (Salmon et al. 2011): four words from a counter and a key.
let word0: u32 = 0;
let word1: u32 = 0;
let word2: u32 = 0;
let word3: u32 = 0;

/** Computes one block; `philoxWord` reads it. */
// @ts-ignore: decorator
@inline
export function philoxBlock(key0: u32, key1: u32, c0: u32, c1: u32, c2: u32, c3: u32): void {
  for (let round = 0; round < 10; round++) {
    const product0 = <u64>0xd2511f53 * <u64>c0;
    const product1 = <u64>0xcd9e8d57 * <u64>c2;
    c0 = <u32>(product1 >> 32) ^ c1 ^ key0;
    c1 = <u32>product1;
    c2 = <u32>(product0 >> 32) ^ c3 ^ key1;
    c3 = <u32>product0;
    key0 += 0x9e3779b9;
    key1 += 0xbb67ae85;
  }
  word0 = c0;
  word1 = c1;
  word2 = c2;
  word3 = c3;
}

/** Word 0 to 3 of the last block. */
// @ts-ignore: decorator
@inline
export function philoxWord(index: i32): u32 {
  return index == 0 ? word0 : index == 1 ? word1 : index == 2 ? word2 : word3;
}
