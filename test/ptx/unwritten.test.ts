// Loads of shared and local bytes that nothing wrote: no error until the value decides something,
// and a race if another thread was about to write.
import { describe, expect, it } from "vitest";
import { Bench, output, simulationError } from "./device.js";

/**
 * A kernel of some warps with 64 words of shared memory at %s, the first 15 of them written, and an
 * output of 64 zeros at %o; %a is the thread's place in it.
 */
const kernel = (body: string, block = 32): (() => Int32Array) => {
  const bench = new Bench(`.version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out)
{ .reg .b64 %o, %a, %d; .reg .b32 %t, %s, %p, %q, %v, %w, %x; .reg .f32 %f; .reg .pred %low, %c, %e; .shared .align 16 .b32 box[64]; .local .align 8 .b8 own[16];
ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mov.u32 %s, box; mad.lo.u32 %p, %t, 4, %s; mul.wide.u32 %a, %t, 4; add.u64 %a, %o, %a;
setp.lt.u32 %low, %t, 15; @!%low bra written; st.shared.u32 [%p], 8; written: bar.sync 0;
${body}
ret; }`);
  return () => {
    const out = new Int32Array(64);
    bench.run("k", { grid: 1, block }, [output(out)], true);
    return out;
  };
};
const load = "ld.shared.u32 %v, [%p];";

describe("what nothing wrote passes if it", () => {
  it.each([
    ["is only loaded", load],
    ["is overwritten", `${load} mov.u32 %v, 3; st.global.u32 [%a], %v;`],
    ["is stored by those lanes alone that have a good one", `${load} add.u32 %v, %v, 1; @!%low bra done; st.global.u32 [%a], %v; done:`],
    ["is not chosen", `${load} selp.u32 %v, %v, 0, %low; st.global.u32 [%a], %v;`],
    [
      "is compared, and the other half of the condition decides",
      `${load} setp.eq.u32 %c, %v, 8; and.pred %c, %c, %low; @%c bra on; st.global.u32 [%a], 1; on:`,
    ],
    ["goes with a good word of a vector", "ld.shared.v2.u32 {%v, %w}, [%s+56]; st.global.v2.u32 [%o], {%v, %w};"],
    ["is padding of a word", "st.local.u8 [own], 5; ld.local.u32 %v, [own]; st.global.u32 [%a], %v;"],
    [
      "goes to a lane that does not use it",
      `${load} shfl.sync.down.b32 %w, %v, 8, 31, -1; setp.lt.u32 %c, %t, 7; @!%c bra done; st.global.u32 [%a], %w; done:`,
    ],
    ["is copied to shared memory", `${load} st.shared.u32 [%p+128], %v;`],
    ["is computed with and stored to shared memory", `${load} add.u32 %v, %v, 1; st.shared.u32 [%p+128], %v;`],
    [
      "is computed with and stored to shared memory, and overwritten there",
      `${load} add.u32 %v, %v, 1; st.shared.u32 [%p+128], %v; st.shared.u32 [%p+128], 4; bar.sync 0; ld.shared.u32 %w, [%p+128]; st.global.u32 [%a], %w;`,
    ],
    [
      "is added up by a scan whose last lanes have no values, and nobody reads those sums",
      `${load} shfl.sync.up.b32 %w, %v, 1, 0, -1; setp.ge.u32 %c, %t, 1; add.u32 %x, %v, %w; selp.u32 %v, %x, %v, %c; st.shared.u32 [%p], %v;
bar.sync 0; @!%low bra done; ld.shared.u32 %w, [%p]; st.global.u32 [%a], %w; done:`,
    ],
  ])("%s", (_, body) => {
    expect(kernel(body)).not.toThrow();
  });
});

describe("what nothing wrote is told if it", () => {
  it.each([
    ["is stored to global memory", `${load} st.global.u32 [%a], %v;`],
    ["is computed with and stored", `${load} mul.lo.u32 %v, %v, 3; add.u32 %w, %v, %t; st.global.u32 [%a], %w;`],
    [
      "is computed with, stored to shared memory, and stored from there",
      `${load} add.u32 %v, %v, 1; st.shared.u32 [%p+128], %v; bar.sync 0; ld.shared.u32 %w, [%p+128]; st.global.u32 [%a], %w;`,
    ],
    ["decides a branch", `${load} setp.eq.u32 %c, %v, 8; @%c bra on; st.global.u32 [%a], 1; on:`],
    ["is an address", `${load} cvt.u64.u32 %d, %v; add.u64 %d, %o, %d; ld.global.u32 %w, [%d];`],
    ["is added by an atomic", `${load} red.global.add.u32 [%o], %v;`],
    ["is computed with as a float", "ld.shared.f32 %f, [%p]; add.f32 %f, %f, %f; st.global.f32 [%a], %f;"],
    [
      "comes by a shuffle",
      `${load} shfl.sync.down.b32 %w, %v, 12, 31, -1; setp.lt.u32 %c, %t, 8; @!%c bra done; st.global.u32 [%a], %w; done:`,
    ],
    [
      "is carried round a loop",
      `mov.u32 %w, 0; mov.u32 %x, 0; again: ${load} add.u32 %w, %w, %v; add.u32 %x, %x, 1; setp.lt.u32 %c, %x, 3; @%c bra again; st.global.u32 [%a], %w;`,
    ],
    [
      "is kept by lanes while others go round a loop that has no use for it",
      `mov.u32 %x, 0; @%low bra others; ${load} bra store; others: add.u32 %x, %x, 1; setp.lt.u32 %c, %x, 99; @%c bra others; mov.u32 %v, 0; store: st.global.u32 [%a], %v;`,
    ],
    ["is of local memory", "ld.local.u32 %v, [own+4]; st.global.u32 [%a], %v;"],
  ])("%s", (_, body) => {
    const error = simulationError(kernel(body));
    expect(error.kind).toBe("uninitialised");
    expect(error.site.instruction).toMatch(/^ld\./);
    expect(error.message).toMatch(
      /loads 4 bytes at (shared|local) address 0x\w+, which nothing wrote \(byte \d+ of (shared|local) memory .*\) and is used by PTX line 8 "/,
    );
  });
});

describe("what another thread writes only later", () => {
  it("is a race, told where it is written", () => {
    const late =
      "add.u32 %q, %s, 124; setp.ge.u32 %c, %t, 32; @!%c bra second; ld.shared.u32 %v, [%q]; st.global.u32 [%a], %v; bra done; second: st.shared.u32 [%p], %t; done:";
    expect(simulationError(kernel(late, 64))).toMatchObject({
      kind: "race",
      message: expect.stringMatching(/^race on shared byte 124: this thread writes what .* read with no barrier between/),
      site: { instruction: "st.shared.u32 [%p], %t" },
    });
  });
});

describe("atomics", () => {
  const clear = "setp.eq.u32 %c, %t, 32; @!%c bra cleared; st.shared.u32 [%s+128], 0; cleared:";
  const add = "atom.shared.add.u32 %v, [%s+128], 1;";
  const read = "setp.eq.u32 %c, %t, 0; @!%c bra done; ld.shared.u32 %w, [%s+128]; st.global.u32 [%o], %w; done:";

  it("do not race with one another, nor with what a barrier orders", () => {
    expect(kernel(`${clear} bar.sync 0; ${add} bar.sync 0; ${read}`, 64)()[0]).toBe(64);
  });

  it.each([
    ["a store before them", `${clear} ${add}`],
    ["a load after them", `${clear} bar.sync 0; ${add} ${read}`],
  ])("race with %s if no barrier is between", (_, body) => {
    expect(simulationError(kernel(body, 64))).toMatchObject({ kind: "race", message: expect.stringContaining("race on shared byte 128") });
  });
});
