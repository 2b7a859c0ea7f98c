// Tables in Parquet: readParquet. Mutants of the footer are put back with the length they have,
// and a page with a header of other counts in its place.
import { readFileSync } from "node:fs";
import { encodeParquet, FormatError, readParquet } from "../../../packages/io/src/index.js";
import type { FuzzFormat } from "../format.js";
import { mutate } from "../mutate.js";

const made = (name: string) => new Uint8Array(readFileSync(new URL(`../../io/fixtures/${name}.parquet`, import.meta.url)));

export default {
  corpus: async () => [
    await encodeParquet(
      [
        [1, 2.5],
        [3, Number.NaN],
        [5, 6],
      ],
      { columns: ["x", "y"], text: { site: ["a", "b", "a"] } },
    ),
    ...["required", "encodings", "int96", "codec-gzip", "codec-zstd", "codec-brotli", "codec-lz4", "codec-none"].map(made),
  ],
  read: async (input) => {
    const outcomes = await Promise.allSettled([
      readParquet(input, { missing: "hold" }),
      readParquet(input, { columns: [0], missing: "nan" }),
      readParquet(input, { columns: [], text: [0], missing: "drop" }),
      readParquet(input, { columns: ["half"], text: ["site"], missing: "nan" }),
    ]);
    const errors = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason as unknown] : []));
    const strange = errors.find((error) => !(error instanceof FormatError));
    if (strange !== undefined || errors.length === outcomes.length) throw strange ?? errors[0];
  },
  errors: [FormatError],
  mutate: (input, random, corpus) => {
    const view = new DataView(input.buffer, input.byteOffset, input.length);
    const length = input.length < 12 ? 0 : Math.min(view.getUint32(input.length - 8, true), input.length - 12);
    const end = Math.max(4, input.length - 8 - length);
    const isFooter = random.chance(0.6);
    const pages = isFooter ? input.subarray(0, end) : mutate(input.subarray(0, end), random, corpus);
    const footer = isFooter ? mutate(input.subarray(end, end + length), random, corpus) : input.subarray(end, end + length);
    const out = new Uint8Array(pages.length + footer.length + 8);
    out.set(pages);
    out.set(footer, pages.length);
    new DataView(out.buffer).setUint32(out.length - 8, footer.length, true);
    out.set([80, 65, 82, 49], out.length - 4);
    return out;
  },
} satisfies FuzzFormat;
