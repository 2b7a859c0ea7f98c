// The C program behind the golden files: it still prints them, however it is compiled, and its own
// parts give known answers. Needs gcc.
import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compileReference, type ReferenceProgram, referenceHashes, referenceKnown } from "../golden/compile.js";
import { goldenCases } from "../golden/golden.js";

const hasClang = spawnSync("clang", ["--version"]).status === 0;

describe("the C program behind the golden files", () => {
  let program: ReferenceProgram;
  beforeAll(() => {
    program = compileReference("gcc", "-O2");
  });
  afterAll(() => program[Symbol.dispose]());

  it("prints the committed hashes", () => {
    expectGolden(program);
  });

  it.each(["-O0", "-O3"])("prints them when compiled with %s", (level) => {
    using other = compileReference("gcc", level);
    expectGolden(other);
  });

  it.runIf(hasClang)("prints them when compiled by clang", () => {
    using other = compileReference("clang", "-O2");
    expectGolden(other);
  });

  it("gives Random123's, FIPS 180's and docs/numerics.md's known answers", () => {
    expect(referenceKnown(program)).toEqual([
      "philox 6627e8d5 e169c58d bc57ac4c 9b00dbd8",
      "philox 408f276d 41c83b0e a20bc7c6 6d5451fd",
      "philox d16cfe09 94fdcceb 5001e420 24126ea1",
      "tanh32 8f575d41",
      "tanh64 fc253a4d",
      "log 64e36885",
      "sha256 ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    ]);
  });
});

function expectGolden(program: ReferenceProgram): void {
  const cases = goldenCases();
  const hashes = referenceHashes(program, cases);
  expect(cases.map(({ name }) => [name, hashes.get(name)])).toEqual(cases.map(({ name, hashes }) => [name, hashes]));
}
