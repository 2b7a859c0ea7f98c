import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { runnable } from "../../scripts/recordings.mjs";
import { dataFolder, missingData, mustBeThere } from "../data.js";

describe("the folder of real recordings", () => {
  beforeEach(() => vi.stubEnv("SPILLWAY_DATA", "/no/such/folder"));
  afterEach(() => vi.unstubAllEnvs());

  it("is the one that SPILLWAY_DATA names", () => {
    expect(dataFolder()).toBe("/no/such/folder");
  });

  it("is asked for by data set, publisher, file and place where it is not there", () => {
    expect(missingData("GunPoint")).toBe(
      'needs the data set "GunPoint" of the UCR archive, https://www.timeseriesclassification.com: put uea/GunPoint_TRAIN.ts, uea/GunPoint_TEST.ts into /no/such/folder',
    );
  });
});

describe("a test over recordings that are not there", () => {
  afterEach(() => vi.unstubAllEnvs());

  it("fails if a folder was named, in CI or not", () => {
    vi.stubEnv("SPILLWAY_DATA", "/no/such/folder");
    expect(mustBeThere()).toBe(true);
  });

  it("is skipped if none was, in CI too", () => {
    vi.stubEnv("SPILLWAY_DATA", "");
    vi.stubEnv("CI", "true");
    expect(mustBeThere()).toBe(false);
  });
});

describe("examples and notebooks", () => {
  it("that name SPILLWAY_DATA run where there is a folder", () => {
    expect(runnable({ a: "of SPILLWAY_DATA", b: "" }, "/some/folder")).toEqual(["a", "b"]);
  });

  it("that name SPILLWAY_DATA are skipped and counted where there is none", () => {
    const log = vi.spyOn(console, "log").mockImplementation(() => undefined);
    expect(runnable({ a: "of SPILLWAY_DATA", b: "" }, undefined)).toEqual(["b"]);
    expect(log).toHaveBeenCalledWith("skipped 1, for want of public recordings in a folder that SPILLWAY_DATA names: a");
    log.mockRestore();
  });
});
