// The small parts: PTX entries, element types, status codes.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  bytesOf,
  driverForPtx,
  imageKind,
  losesContext,
  ptxEntries,
  ptxTarget,
  ptxVersion,
  statusName,
} from "../../packages/gpu/src/index.js";

describe("PTX", () => {
  it("is read for its entries as nvcc writes them", () => {
    const ptx = readFileSync(new URL("fixtures/kernels.ptx", import.meta.url), "utf8");
    const entries = ptxEntries(ptx);
    expect([...entries.keys()]).toEqual([
      ...["empty", "vector_add", "echo", "scale_by_constant", "add_one", "wait", "write_to", "shared_last", "all_together"],
    ]);
    expect(entries.get("empty")).toEqual([]);
    expect(entries.get("echo")!.map(({ type }) => type)).toEqual(["u64", "u32", "u32", "u64", "u64", "f32", "f64", "u64"]);
    expect(ptxVersion(ptx)).toEqual([6, 3]);
    expect(ptxTarget(ptx)).toBe("sm_70");
  });

  it("has structs, pointer attributes and comments understood", () => {
    const ptx = `// .entry no(.param .u32 x)
      .weak .entry _Z1fv ( .param .align 8 .b8 s[24], /* , .param .u8 y */ .param .u64 .ptr .global .align 16 p ) .maxntid 1, 1, 1 { }`;
    expect([...ptxEntries(ptx)]).toEqual([
      [
        "_Z1fv",
        [
          { type: "b8", bytes: 24, alignment: 8 },
          { type: "u64", bytes: 8, alignment: 8 },
        ],
      ],
    ]);
  });

  it("asks for the driver that its version came with", () => {
    expect(
      [
        [6, 0],
        [6, 3],
        [7, 0],
        [7, 8],
        [8, 6],
        [9, 0],
      ].map((v) => driverForPtx(v as [number, number])),
    ).toEqual([9000, 10000, 11000, 11080, 12070, 13000]);
  });
});

describe("names", () => {
  it("of images follow from their first bytes", () => {
    expect(imageKind(".version 6.3")).toBe("ptx");
    expect(imageKind(new TextEncoder().encode("//"))).toBe("ptx");
    expect(imageKind(Uint8Array.of(0x7f, 0x45, 0x4c, 0x46))).toBe("cubin");
    expect(imageKind(Uint8Array.of(0x50, 0xed, 0x55, 0xba))).toBe("fatbin");
  });

  it("of status codes are CUDA's", () => {
    expect([0, 2, 700, 12345].map(statusName)).toEqual([
      "CUDA_SUCCESS",
      "CUDA_ERROR_OUT_OF_MEMORY",
      "CUDA_ERROR_ILLEGAL_ADDRESS",
      "CUDA_ERROR_12345",
    ]);
    expect([1, 2, 400, 700, 719].map(losesContext)).toEqual([false, false, false, true, true]);
  });

  it("of element types have their widths", () => {
    expect((["i8", "f16", "bf16", "f32", "i64", "bool"] as const).map(bytesOf)).toEqual([1, 2, 2, 4, 8, 1]);
    expect(() => bytesOf("f8" as "f16")).toThrow('there is no element type "f8"');
  });
});
