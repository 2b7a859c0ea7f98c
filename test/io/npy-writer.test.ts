import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FileError, NpyWriter, readNpy } from "../../packages/io/src/index.js";
import { Matrix } from "../../packages/numerics/src/index.js";
import { asOrdinaryUser, failure, temporaryFolder } from "./help.js";

describe("a growing .npy file", () => {
  it("holds the rows of all chunks, whatever their sizes", async () => {
    const folder = temporaryFolder();
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 5 }), fc.array(fc.integer({ min: 0, max: 7 }), { maxLength: 8 }), async (cols, sizes) => {
        const path = join(folder, "states.npy");
        const writer = await NpyWriter.create(path, { cols });
        let next = 0;
        for (const rows of sizes)
          await writer.append(
            new Matrix(
              rows,
              cols,
              Float32Array.from({ length: rows * cols }, () => next++),
            ),
          );
        await writer.close();
        const rows = sizes.reduce((sum, size) => sum + size, 0);
        expect(await readNpy(path)).toEqual({
          dtype: "float32",
          shape: [rows, cols],
          data: Float32Array.from({ length: next }, (_, i) => i),
        });
      }),
      { numRuns: 25 },
    );
    expect(readdirSync(folder)).toEqual(["states.npy"]);
  });

  it.each([
    ["float64", Float64Array.of(1, 2)],
    ["int32", Int32Array.of(1, 2)],
    ["uint8", Uint8Array.of(1, 2)],
  ] as const)("may be of %s and of one dimension", async (dtype, data) => {
    const path = join(temporaryFolder(), "a.npy");
    const writer = await NpyWriter.create(path, { dtype });
    await writer.append(data);
    expect(writer.rows).toBe(2);
    await writer.close();
    expect(await readNpy(path)).toEqual({ dtype, shape: [2], data });
  });

  it("does not stand at its path before it is closed, and leaves what stood there until then", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "a.npy");
    const writer = await NpyWriter.create(path, { cols: 1 });
    await writer.append(Float32Array.of(1));
    expect(existsSync(path)).toBe(false);
    await writer.abort();
    await writer.abort();
    expect(readdirSync(folder)).toEqual([]);
  });

  it("is given up by `await using` where it was not closed", async () => {
    const folder = temporaryFolder();
    {
      await using writer = await NpyWriter.create(join(folder, "a.npy"), { cols: 1 });
      await writer.append(Float32Array.of(1));
    }
    expect(readdirSync(folder)).toEqual([]);
  });

  it("takes rows of its own type and width", async () => {
    const writer = await NpyWriter.create(join(temporaryFolder(), "a.npy"), { cols: 3 });
    await expect(writer.append(Float64Array.of(1, 2, 3))).rejects.toThrow(
      "the rows are a Float64Array; a writer of float32 takes a Float32Array",
    );
    await expect(writer.append(Float32Array.of(1, 2))).rejects.toThrow("the rows have 2 values; this writer takes whole rows of 3");
    await expect(writer.append(Matrix.zeros(3, 1, "float32"))).rejects.toThrow(
      "the rows have 1 columns; this writer takes whole rows of 3",
    );
    await writer.append(Float32Array.of(1, 2, 3));
    expect(writer.rows).toBe(1);
    await writer.close();
    await writer.close();
    await expect(writer.append(Float32Array.of(1, 2, 3))).rejects.toThrow("is closed; create a new one");
  });

  it("refuses a second append while the first is still writing", async () => {
    const writer = await NpyWriter.create(join(temporaryFolder(), "a.npy"));
    const first = writer.append(Float32Array.of(1));
    await expect(writer.append(Float32Array.of(2))).rejects.toThrow("await each append before the next call");
    await first;
    await writer.close();
  });

  it("takes options that there are", async () => {
    const path = join(temporaryFolder(), "a.npy");
    await expect(NpyWriter.create(path, { cols: 0 })).rejects.toThrow("cols is 0; it takes a whole number of at least 1");
    await expect(NpyWriter.create(path, { dtype: "float16" as never })).rejects.toThrow(
      'dtype is "float16"; it takes "float32", "float64", "int32" or "uint8"',
    );
  });

  it.skipIf(!existsSync("/dev/full"))("whose disk is full says so", async () => {
    asOrdinaryUser();
    const error = await failure(() => NpyWriter.create("/dev/full"), FileError);
    expect(error).toMatchObject({ problem: "full", path: "/dev/full" });
  });
});
