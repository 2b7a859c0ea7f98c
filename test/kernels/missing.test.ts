// A package of which files are missing or damaged: the error says which.
import { describe, expect, it, vi } from "vitest";
import type { SpillwayError } from "../../packages/core/src/errors.js";

type Shipped = typeof import("../../packages/gpu/src/shipped.js");

const broken = vi.hoisted(() => ({ ends: "", text: undefined as string | undefined }));

vi.mock("node:fs", async (original) => {
  const fs = await original<typeof import("node:fs")>();
  const readFileSync = (path: string, ...rest: never[]) => {
    if (broken.ends === "" || !(String(path).endsWith(broken.ends) || String(path).endsWith(`${broken.ends}.br`)))
      return (fs.readFileSync as (...values: unknown[]) => unknown)(path, ...rest);
    if (broken.text !== undefined) return broken.text;
    return fs.readFileSync("/no such file");
  };
  return { ...fs, readFileSync };
});

const thrown = async (ends: string, text: string | undefined, use: (shipped: Shipped) => unknown) => {
  vi.resetModules();
  Object.assign(broken, { ends, text });
  const shipped = await import("../../packages/gpu/src/shipped.js");
  try {
    use(shipped);
  } catch (error) {
    return error as SpillwayError;
  } finally {
    broken.ends = "";
  }
  return undefined;
};

describe("a package of which a file is missing or damaged", () => {
  const files: [what: string, path: string, text: string | undefined, use: (shipped: Shipped) => unknown][] = [
    ["PTX", "ptx/executor.ptx", undefined, (shipped) => shipped.shippedPtx("executor")],
    ["a description", "ptx/executor.json", undefined, (shipped) => shipped.shippedManifest()],
    ["half a description", "ptx/executor.json", "{", (shipped) => shipped.shippedManifest()],
    ["a source", "executor.cu", undefined, (shipped) => shipped.shippedSource("executor")],
    ["a header", "portable.cuh", undefined, (shipped) => shipped.shippedSource("executor")],
  ];

  it.each(files)("is told with the path: %s", async (_what, path, text, use) => {
    const error = await thrown(path, text, use);
    expect(error).toMatchObject({ code: "file", field: "path", value: expect.stringContaining(path) });
    expect(error!.message).toContain("install it again");
  });
});
