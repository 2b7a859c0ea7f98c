// A module is read, and a kernel translated, once for all machines; each has its own memory and counts.
import { expect, it } from "vitest";
import { PtxMachine } from "../../packages/ptx/src/interpreter/index.js";
import { moduleOf } from "../../packages/ptx/src/interpreter/translations.js";

const ptx = `.version 8.0
.target sm_75
.address_size 64
.global .u32 counter;
.entry count(.param .u64 out) {
  .reg .u32 %r<3>; .reg .u64 %a<2>;
  ld.param.u64 %a1, [out];
  atom.global.add.u32 %r1, [counter], 1;
  add.u32 %r2, %r1, 1;
  st.global.u32 [%a1], %r2;
  ret;
}`;

/** A machine with so many bytes before the variable, and what launches of its kernel write. */
function machine(before: number) {
  const made = new PtxMachine({ memoryBytes: 65536, launchBytes: 65536 });
  if (before > 0) made.allocate(before);
  const program = made.load(ptx);
  const out = made.allocate(4);
  const launch = () => {
    const { counters } = program.launch({ entry: "count", grid: 1, block: 1, args: [out] });
    return [new DataView(made.read(out, 4).buffer).getUint32(0, true), counters.instructions];
  };
  return { launch, address: program.global("counter").address, module: program.module };
}

it("has one module and its own memory on each machine, wherever its variables lie", () => {
  const [first, second, elsewhere] = [machine(0), machine(0), machine(4096)];
  expect(second.module).toBe(first.module);
  expect(elsewhere.module).toBe(first.module);
  expect(second.address).toBe(first.address);
  expect(elsewhere.address).not.toBe(first.address);
  const [, instructions] = first.launch();
  expect(instructions).toBeGreaterThan(0);
  expect([first, second, elsewhere, first, second, elsewhere].map(({ launch }) => launch())).toEqual([
    [2, instructions],
    [1, instructions],
    [1, instructions],
    [3, instructions],
    [2, instructions],
    [2, instructions],
  ]);
});

it("reads another text anew", () => {
  expect(moduleOf(ptx)).toBe(moduleOf(`${ptx}`));
  expect(moduleOf(`${ptx}\n`)).not.toBe(moduleOf(ptx));
});
