// malloc and free in kernels, and functions that nobody defines.
import { describe, expect, it } from "vitest";
import { PtxMachine, UnsupportedPtxError } from "../../packages/ptx/src/interpreter/index.js";
import { Bench, output, simulationError } from "./device.js";

const declared = `.version 8.0\n.target sm_75\n.address_size 64
.extern .func (.param .b64 r) malloc(.param .b64 a);
.extern .func free(.param .b64 a);
.extern .func missing(.param .b64 a);
`;
const kernel = (bytes: number, body: string): (() => bigint) => {
  const bench = new Bench(`${declared}.visible .entry k(.param .u64 out)
{ .reg .b64 %o, %p; ld.param.u64 %o, [out]; .param .b64 a; .param .b64 r;
st.param.b64 [a], ${bytes}; call (r), malloc, (a); ld.param.b64 %p, [r]; st.global.u64 [%o], %p;
${body}
ret; }`);
  return () => {
    const out = new BigInt64Array(1);
    bench.run("k", { grid: 1, block: 1 }, [output(out)]);
    return out[0]!;
  };
};
const free = "st.param.b64 [a], %p; call free, (a);";

describe("malloc in a kernel", () => {
  it("gives memory that is written, read and freed", () => {
    expect(kernel(64, `st.u64 [%p+56], 5; ${free}`)()).not.toBe(0n);
  });

  it("gives null if nothing fits", () => {
    expect(kernel(2 ** 23 + 1, free)()).toBe(0n);
  });

  it.each([
    ["past its end", "st.u64 [%p+64], 5;", "outOfBounds"],
    ["after free", `${free} st.u64 [%p], 5;`, "useAfterFree"],
    ["by freeing it twice", `${free} ${free}`, "useAfterFree"],
    ["by freeing what it did not give", "st.param.b64 [a], %o; call free, (a);", "outOfBounds"],
  ])("is not misused %s", (_, body, kind) => {
    expect(simulationError(kernel(64, body)).kind).toBe(kind);
  });
});

it("a function that is declared and not defined is refused when the kernel is asked for", () => {
  const program = new PtxMachine({ memoryBytes: 2 ** 16, launchBytes: 2 ** 16 }).load(
    `${declared}.visible .entry k() { .param .b64 a; call missing, (a); ret; }`,
  );
  expect(() => program.info("k")).toThrow(UnsupportedPtxError);
  expect(() => program.info("k")).toThrow('PTX line 6: "missing" is declared but not defined in the module');
});
