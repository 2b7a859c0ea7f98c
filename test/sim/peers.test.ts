// Several simulated devices: whose memory a kernel may reach, and kernels of several devices that
// wait for one another.
import { describe, expect, it } from "vitest";
import { type Context, openDevice, openDevices } from "../../packages/gpu/src/index.js";
import { type SimulatedDriverOptions, simulatedDriver } from "../../packages/sim/src/index.js";

const header = ".version 7.8\n.target sm_75\n.address_size 64\n";

/** Writes 7 to the first element. */
const writes = `${header}.visible .entry writes(.param .u64 to) { .reg .b64 %a; .reg .b32 %r;
  ld.param.u64 %a, [to]; mov.u32 %r, 7; st.global.u32 [%a], %r; ret; }`;

/** Each tells the other its turn and waits for the other's: `turns` times, by peer stores. */
const plays = `${header}.visible .entry plays(.param .u64 mine, .param .u64 theirs, .param .u32 turns) {
  .reg .b64 %m, %t; .reg .b32 %k, %n, %v; .reg .pred %p;
  ld.param.u64 %m, [mine]; ld.param.u64 %t, [theirs]; ld.param.u32 %n, [turns]; mov.u32 %k, 0;
  next: add.u32 %k, %k, 1; st.relaxed.sys.global.u32 [%t], %k;
  again: ld.relaxed.sys.global.u32 %v, [%m]; setp.lt.u32 %p, %v, %k; @%p bra again;
  setp.lt.u32 %p, %k, %n; @%p bra next; ret; }`.replace(".target sm_75", ".target sm_75");

const three = (options: SimulatedDriverOptions = {}): readonly Context[] =>
  openDevices("all", {
    driver: simulatedDriver({ devices: 3, memoryBytes: 1 << 16, launchBytes: 1 << 22, ...options }),
    onLeak: () => undefined,
  });

describe("a kernel of one device", () => {
  it("writes memory of another after it was let reach it", () => {
    const [a, b] = three();
    a!.enableAccess(b!);
    const target = b!.zeros("u32", 1);
    a!.stream().launch(a!.load(writes).kernel("writes", ["u32*"]), { grid: 1, block: 1 }, target);
    a!.sync();
    expect([...b!.read(target)]).toEqual([7]);
  });

  it("is refused its argument before", () => {
    const [a, b] = three();
    const target = b!.zeros("u32", 1);
    const stream = a!.stream();
    const kernel = a!.load(writes).kernel("writes", ["u32*"]);
    expect(() => stream.launch(kernel, { grid: 1, block: 1 }, target)).toThrow(
      "is memory of another context (device 1) than its stream's (device 0)",
    );
  });

  it.each(["pools", "plain memory"])("that gets there by an address ends with an error (%s)", (kind) => {
    const driver = simulatedDriver({ devices: 2, memoryBytes: 1 << 16, launchBytes: 1 << 22 });
    const a = openDevice({ driver, device: 0, onLeak: () => undefined });
    const b = openDevice({ driver, device: 1, onLeak: () => undefined });
    const address = new BigUint64Array(1);
    if (kind === "pools") address[0] = b.zeros("u32", 1).address;
    else b.core.call("cuMemAlloc", address, 4);
    const kernel = a.load(writes).kernel("writes", ["u32*"]);
    a.stream().launch(kernel, { grid: 1, block: 1 }, a.borrow("u32", address[0]!, 1));
    expect(() => a.sync()).toThrow(
      expect.objectContaining({
        code: "device",
        statusCode: 700,
        cause: expect.objectContaining({
          kind: "foreign",
          message: expect.stringContaining("memory of another device, which this one was not let reach"),
        }),
      }),
    );
    // The other device goes on.
    expect([...b.read(b.zeros("u32", 1))]).toEqual([0]);
  });
});

describe("kernels of several devices", () => {
  it("wait for one another, and events order their streams", () => {
    const contexts = three();
    const [a, b, c] = contexts as [Context, Context, Context];
    for (const one of contexts) for (const other of contexts) one.enableAccess(other);
    const mail = [a.zeros("u32", 1), b.zeros("u32", 1)] as const;
    const [s, t, u] = [a.stream(), b.stream(), c.stream()];
    s.launch(a.load(plays).kernel("plays", ["u32*", "u32*", "u32"]), { grid: 1, block: 1 }, mail[0], mail[1], 50);
    t.launch(b.load(plays).kernel("plays", ["u32*", "u32*", "u32"]), { grid: 1, block: 1 }, mail[1], mail[0], 50);
    const over = b.event();
    over.record(t);
    u.wait(over);
    const copy = c.zeros("u32", 1);
    u.copy(copy, mail[0]);
    expect([...c.read(copy)]).toEqual([50]);
    expect([...b.read(mail[1])]).toEqual([50]);
  });

  it("that wait for what never comes end with the error of a loop that does not end", () => {
    const [a, b] = three({ limits: { idlePolls: 100 } });
    a!.enableAccess(b!);
    const mine = a!.zeros("u32", 1);
    const stream = a!.stream();
    stream.launch(a!.load(plays).kernel("plays", ["u32*", "u32*", "u32"]), { grid: 1, block: 1 }, mine, b!.zeros("u32", 1), 5);
    expect(() => stream.sync()).toThrow(expect.objectContaining({ cause: expect.objectContaining({ kind: "spin" }) }));
    expect([...b!.read(b!.zeros("u32", 1))]).toEqual([0]);
  });
});
