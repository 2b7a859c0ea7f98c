// A buffer that nobody disposes of is told of when the collector takes its handle. The collector has
// a process of its own to work in: in one with what other files left behind, it may take minutes.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it, vi } from "vitest";
import { type Leak, openDevice } from "../../packages/gpu/src/index.js";
import { FakeDriver } from "./fake-driver.js";

describe("a leak", () => {
  it("is told with what, how large and where it was made, and is given back with the context", async () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const driver = new FakeDriver();
    const leaks: Leak[] = [];
    const context = openDevice({ driver, onLeak: (leak) => leaks.push(leak) });
    (() => context.alloc("f32", 25, { label: "forgotten" }))();
    await vi.waitFor(
      () => {
        collect();
        expect(leaks).toHaveLength(1);
      },
      { timeout: 5000, interval: 20 },
    );
    expect(leaks[0]).toMatchObject({ kind: "buffer", label: "forgotten", bytes: 100 });
    expect(leaks[0]!.site).toMatch(/leak\.test\.ts:\d+:\d+$/);
    expect(driver.outstanding()["memory"]).toBe(1);
    context.dispose();
    expect(driver.outstanding()).toEqual({});
  });
});
