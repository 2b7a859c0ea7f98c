import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { readError, writeError } from "../../packages/io/src/files.js";
import { AtomicFile, ensureFolder, FileError, readBytes, readText, writeFileAtomic } from "../../packages/io/src/index.js";
import { asOrdinaryUser, failure, temporaryFolder } from "./help.js";

describe("a file that is written atomically", () => {
  it("holds what was given, text as UTF-8, and nothing else is left in its folder", async () => {
    const folder = temporaryFolder();
    await writeFileAtomic(join(folder, "a.txt"), "\u00e4\n");
    await writeFileAtomic(join(folder, "b"), Uint8Array.of(0, 255));
    expect(await readText(join(folder, "a.txt"))).toBe("\u00e4\n");
    expect(await readBytes(join(folder, "b"))).toEqual(Uint8Array.of(0, 255));
    expect(readdirSync(folder).sort()).toEqual(["a.txt", "b"]);
  });

  it("takes the place of the one that stood there, with its permissions", async () => {
    const path = join(temporaryFolder(), "a");
    writeFileSync(path, "old");
    chmodSync(path, 0o640);
    await writeFileAtomic(path, "new");
    expect(readFileSync(path, "utf8")).toBe("new");
    expect(statSync(path).mode & 0o777).toBe(0o640);
  });

  it("is written through a link, which stays one", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "real"));
    writeFileSync(join(folder, "real", "a"), "old");
    symlinkSync(join("real", "a"), join(folder, "link"));
    await writeFileAtomic(join(folder, "link"), "new");
    expect(lstatSync(join(folder, "link")).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(folder, "real", "a"), "utf8")).toBe("new");
  });

  it("takes the place of a link, and leaves what it names, if that is asked for", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "secret"), "kept");
    symlinkSync(join(folder, "secret"), join(folder, "link"));
    symlinkSync(join(folder, "nowhere"), join(folder, "broken"));
    for (const name of ["link", "broken", "plain"]) {
      await writeFileAtomic(join(folder, name), "new", "replace");
      expect([lstatSync(join(folder, name)).isFile(), readFileSync(join(folder, name), "utf8")]).toEqual([true, "new"]);
    }
    expect([readFileSync(join(folder, "secret"), "utf8"), existsSync(join(folder, "nowhere"))]).toEqual(["kept", false]);
  });

  it("stands there old or whole at every moment", async () => {
    const path = join(temporaryFolder(), "a");
    writeFileSync(path, "old");
    const file = await AtomicFile.create(path);
    await file.write(new TextEncoder().encode("ne"));
    expect(readFileSync(path, "utf8")).toBe("old");
    await file.write(new TextEncoder().encode("w"));
    await file.commit();
    expect(readFileSync(path, "utf8")).toBe("new");
  });

  it("leaves everything as it was when it is given up", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "a"), "old");
    const file = await AtomicFile.create(join(folder, "a"));
    await file.write(Uint8Array.of(1));
    await file.abort();
    expect(readdirSync(folder)).toEqual(["a"]);
    expect(readFileSync(join(folder, "a"), "utf8")).toBe("old");
  });

  it("may have a name as long as the system takes", async () => {
    const path = join(temporaryFolder(), "x".repeat(255));
    await writeFileAtomic(path, "x");
    expect(readFileSync(path, "utf8")).toBe("x");
  });

  it("can be written by many at once: one of them wins whole", async () => {
    const path = join(temporaryFolder(), "a");
    const texts = Array.from({ length: 20 }, (_, i) => String(i).repeat(10_000));
    await Promise.all(texts.map((text) => writeFileAtomic(path, text)));
    expect(texts).toContain(readFileSync(path, "utf8"));
    expect(readdirSync(join(path, ".."))).toEqual(["a"]);
  });
});

describe("a file that cannot be written", () => {
  it("because its folder is missing says which", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "runs", "a.npy");
    const error = await failure(() => writeFileAtomic(path, ""), FileError);
    expect(error.message).toBe(
      `${path}: the file cannot be written: the folder ${join(folder, "runs")} does not exist; make it first or choose another`,
    );
    expect(error).toMatchObject({ name: "FileError", path, problem: "missing" });
  });

  it("because its folder gives no permission says so, and leaves nothing behind", async () => {
    const folder = temporaryFolder();
    chmodSync(folder, 0o555);
    asOrdinaryUser();
    const error = await failure(() => writeFileAtomic(join(folder, "a"), ""), FileError);
    expect(error.reason).toBe(`the file cannot be written: no permission to write in ${folder}; choose a folder of your own`);
    expect(error.problem).toBe("notWritable");
    expect(readdirSync(folder)).toEqual([]);
  });

  it("because its owner made it read-only is not replaced", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "a");
    writeFileSync(path, "precious");
    chmodSync(path, 0o444);
    chmodSync(folder, 0o777);
    asOrdinaryUser();
    await expect(writeFileAtomic(path, "new")).rejects.toMatchObject({ problem: "notWritable" });
    expect(readFileSync(path, "utf8")).toBe("precious");
  });

  it("because a folder has its name says so", async () => {
    const folder = temporaryFolder();
    await expect(writeFileAtomic(folder, "")).rejects.toMatchObject({
      problem: "folder",
      reason: "the file cannot be written: that is a folder; give the name of a file in it",
    });
  });

  it("because a part of its path is a file says so", async () => {
    const path = join(temporaryFolder(), "a");
    writeFileSync(path, "");
    await expect(writeFileAtomic(join(path, "b"), "")).rejects.toThrow("a part of its path is a file, not a folder");
  });

  it.skipIf(!existsSync("/dev/full"))("because the disk is full says so", async () => {
    asOrdinaryUser();
    await expect(writeFileAtomic("/dev/full", "x")).rejects.toMatchObject({
      problem: "full",
      reason: "the file cannot be written: the disk is full; free some space or choose another disk",
    });
  });
});

describe("a device", () => {
  it.skipIf(!existsSync("/dev/null"))("is written to and stays a device", async () => {
    asOrdinaryUser();
    await writeFileAtomic("/dev/null", "x");
    expect(lstatSync("/dev/null").isCharacterDevice()).toBe(true);
  });

  it.skipIf(!existsSync("/proc/self/status"))("or a file without a size is read to its end", async () => {
    expect(await readText("/proc/self/status")).toContain(`Pid:\t${process.pid}`);
  });
});

describe("a file that is read", () => {
  it("may be empty, and of any length", async () => {
    const path = join(temporaryFolder(), "a");
    for (const length of [0, 1, 65_536, 300_001]) {
      const bytes = Uint8Array.from({ length }, (_, i) => i);
      writeFileSync(path, bytes);
      expect(Buffer.compare(await readBytes(path), bytes)).toBe(0);
    }
  });
});

describe("a file that cannot be read", () => {
  it("because it is missing says where it was looked for and which names are near", async () => {
    const folder = temporaryFolder();
    for (const name of ["GunPoint_TRAIN.ts", "GunPoint_TEST.ts", "weather.csv"]) writeFileSync(join(folder, name), "");
    const error = await failure(() => readBytes(join(folder, "Gunpoint_TRIAN.ts")), FileError);
    expect(error.message).toBe(
      `${join(folder, "Gunpoint_TRIAN.ts")}: no such file in ${folder}; did you mean GunPoint_TRAIN.ts, GunPoint_TEST.ts?`,
    );
    expect(error.problem).toBe("missing");
    await expect(readBytes(join(folder, "zzz.npy"))).rejects.toMatchObject({ reason: `no such file in ${folder}` });
  });

  it("because a folder above it is missing says which, and which names are near", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "data"));
    const error = await failure(() => readBytes(join(folder, "dat", "deep", "a.csv")), FileError);
    expect(error.reason).toBe(`no such file: the folder ${join(folder, "dat")} does not exist; did you mean data?`);
  });

  it("because a file stands where a folder should says so", async () => {
    const path = join(temporaryFolder(), "a");
    writeFileSync(path, "");
    await expect(readBytes(join(path, "b"))).rejects.toMatchObject({ reason: `no such file: ${path} is a file, not a folder` });
  });

  it("because it is a folder says so", async () => {
    await expect(readBytes(temporaryFolder())).rejects.toMatchObject({ problem: "folder" });
  });

  it("because too many files are open says how to open more", async () => {
    const full = Object.assign(new Error("EMFILE: too many open files, open 'a.csv'"), { code: "EMFILE" });
    const said = "too many files are open at once; close some, or raise the limit (ulimit -n)";
    expect(await readError("a.csv", full)).toMatchObject({ code: "file", message: `a.csv: the file cannot be read: ${said}` });
    expect(writeError("a.csv", full)).toMatchObject({ code: "file", message: `a.csv: the file cannot be written: ${said}` });
  });

  it("because there is no permission says so", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "a");
    writeFileSync(path, "");
    chmodSync(path, 0o000);
    chmodSync(folder, 0o755);
    asOrdinaryUser();
    await expect(readBytes(path)).rejects.toMatchObject({ problem: "notReadable", reason: "there is no permission to read this file" });
  });
});

describe("a folder", () => {
  it("is made with those above it, and may be there already", async () => {
    const path = join(temporaryFolder(), "runs", "a");
    await ensureFolder(path);
    await ensureFolder(path);
    expect(statSync(path).isDirectory()).toBe(true);
  });

  it("cannot take the place of a file", async () => {
    const path = join(temporaryFolder(), "runs");
    writeFileSync(path, "");
    await expect(ensureFolder(path)).rejects.toThrow("a file of that name is there already; a folder cannot replace it");
    await expect(ensureFolder(join(path, "a"))).rejects.toThrow(FileError);
  });

  it.runIf(process.platform === "linux")(
    "in a file system that takes none, such as /proc, is refused, and not tried for ever",
    async () => {
      const expected = { problem: "notWritable", reason: expect.stringContaining("the system takes no folder in /proc") };
      await expect(ensureFolder("/proc/spillway")).rejects.toMatchObject(expected);
      await expect(ensureFolder("/proc/spillway/a")).rejects.toMatchObject(expected);
    },
  );

  it("that cannot be made for want of permission says so", async () => {
    const folder = temporaryFolder();
    chmodSync(folder, 0o555);
    asOrdinaryUser();
    await expect(ensureFolder(join(folder, "runs"))).rejects.toMatchObject({ problem: "notWritable" });
  });
});

describe("a temporary file", () => {
  it("has a hidden name that tells its target", async () => {
    const folder = temporaryFolder();
    const file = await AtomicFile.create(join(folder, "states.npy"));
    expect(readdirSync(folder).map((name) => basename(name))).toEqual([
      expect.stringMatching(/^\.states\.npy\.spillway-[0-9a-f]{8}-\d+-[0-9a-f]{12}\.tmp$/),
    ]);
    await file.abort();
  });
});
