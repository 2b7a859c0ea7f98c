import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it, vi } from "vitest";
import { FileError, parseCsv, readBytes } from "../../packages/io/src/index.js";
import { failure } from "./help.js";

const folder = fileURLToPath(new URL("../../packages/io/src/", import.meta.url));

describe("the parsers in a browser", () => {
  it("are bundled without Node's modules, and without a library before it is needed", () => {
    for (const name of readdirSync(folder)) {
      const imports = readFileSync(`${folder}${name}`, "utf8").matchAll(/^(?:import|export) (?!type )[^;]*? from "([^"]+)"/gm);
      for (const [, from] of imports) expect([name, from]).toEqual([name, expect.stringMatching(/^(\.\.?|@spillway)\//)]);
    }
  });

  it("work without Node's Buffer", async () => {
    vi.stubGlobal("Buffer", undefined);
    const { matrix } = await parseCsv('a,b\n1,"2"\n').finally(() => vi.unstubAllGlobals());
    expect(matrix.data).toEqual(Float64Array.of(1, 2));
  });

  it("say so where a path is given and there is no file system", async () => {
    const builtin = vi.spyOn(process, "getBuiltinModule").mockReturnValue(undefined);
    const error = await failure(() => readBytes("a.csv"), FileError).finally(() => builtin.mockRestore());
    expect(error).toMatchObject({ problem: "unavailable", path: "a.csv" });
    expect(error.reason).toContain("elsewhere parse bytes or text");
  });
});
