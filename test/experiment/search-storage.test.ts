// Where a search keeps its trials, from the words of a command.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openStorage } from "../../src/experiment/search/search-storage.js";

describe("the storage that a text names", () => {
  it("has its folder made, and says what stands in the way of one", async () => {
    const folder = mkdtempSync(join(tmpdir(), "spillway-storage-"));
    try {
      await openStorage(join(folder, "a/b/study.log"));
      writeFileSync(join(folder, "a/file"), "");
      const reason = "a file of that name is there already; a folder cannot replace it";
      await expect(openStorage(join(folder, "a/file/study.log"))).rejects.toMatchObject({ code: "file", reason });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it.runIf(process.platform === "linux")(
    "is refused in a file system that takes no folder, and not waited for",
    async () => {
      await expect(openStorage("/proc/spillway/study.log")).rejects.toMatchObject({
        reason: expect.stringContaining("the system takes no folder in /proc"),
      });
    },
    10_000,
  );

  it.each([
    "redis://:zx/qv@host:6379/0",
    "redis://user/zx@qv@host/0",
    "redis://user?zx#qv@host",
    "redis://user:zx#qv@host:1/0?prefix=p",
    "rediss://user@zx/qv@host:99999/0",
    "valkey://zx qv@ho st/0",
    "http://zx:qv@host/0",
  ])("is refused without its password if the address is wrong: %s", async (address) => {
    const error = await openStorage(address).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: "value" });
    expect((error as Error).message).not.toMatch(/zx|qv/);
  });

  it("is refused at an address of another kind", async () => {
    await expect(openStorage("http://localhost/0")).rejects.toMatchObject({ code: "value", field: "storage" });
  });
});
