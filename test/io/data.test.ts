import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { dataFolder, missingData } from "../data.js";

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
