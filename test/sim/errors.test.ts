// What a kernel does wrong, as the program sees it: CUDA's status, and in the same sentence kernel,
// PTX line, block and thread.
import { describe, expect, it } from "vitest";
import { type Context, ContextLostError, CudaError, ModuleLoadError, openDevice } from "../../packages/gpu/src/index.js";
import { type SimulatedDriver, type SimulatedDriverOptions, SimulationError, simulatedDriver } from "../../packages/sim/src/index.js";

const small: SimulatedDriverOptions = { memoryBytes: 1 << 20, launchBytes: 1 << 22 };
const header = ".version 7.8\n.target sm_75\n.address_size 64\n";

const opened = (options: SimulatedDriverOptions = {}): { driver: SimulatedDriver; context: Context } => {
  const driver = simulatedDriver({ ...small, ...options });
  return { driver, context: openDevice({ driver, onLeak: () => undefined }) };
};

/**
 * The error that a kernel with this body ends with; it takes one pointer, in %p, to 4 words that
 * nothing wrote.
 */
function faultOf(body: string, options: SimulatedDriverOptions = {}, block = 32): CudaError {
  const { context } = opened(options);
  const module = context.load(
    `${header}.visible .entry wrong(.param .u64 words)\n{ .reg .b64 %p; .reg .b32 %a, %t; .reg .pred %q; ld.param.u64 %p, [words]; mov.u32 %t, %tid.x;\n${body}\nret; }`,
  );
  const stream = context.stream();
  stream.launch(module.kernel("wrong", ["u32*"]), { grid: 2, block }, context.alloc("u32", 4, { label: "words" }));
  try {
    stream.sync();
  } catch (error) {
    return error as CudaError;
  } finally {
    context.dispose();
  }
  throw new Error("the kernel ended without an error");
}

describe("a kernel that", () => {
  it.each([
    ["reads beyond memory", "ld.global.u32 %a, [%p+16];", "ILLEGAL_ADDRESS", 700, "outOfBounds"],
    ["reads at an odd address", "ld.global.u32 %a, [%p+2];", "MISALIGNED_ADDRESS", 716, "misaligned"],
    ["reads what nothing wrote", "ld.global.u32 %a, [%p];", "LAUNCH_FAILED", 719, "uninitialised"],
    ["traps", "trap;", "LAUNCH_FAILED", 719, "trap"],
    [
      "leaves one warp at a barrier that needs both",
      "setp.lt.u32 %q, %t, 32; @!%q bra over; bar.sync 1; over: st.global.u32 [%p], %t;",
      "LAUNCH_FAILED",
      719,
      "barrierDivergence",
    ],
    [
      "polls what nobody writes",
      "st.global.u32 [%p], 0; again: ld.volatile.global.u32 %a, [%p]; setp.eq.u32 %q, %a, 0; @%q bra again;",
      "LAUNCH_TIMEOUT",
      702,
      "spin",
    ],
    [
      "races in shared memory",
      ".shared .b32 word; st.shared.u32 [word], %t; xor.b32 %a, %t, 32; st.shared.u32 [word], %a;",
      "LAUNCH_FAILED",
      719,
      "race",
    ],
  ])("%s", (_, body, name, status, kind) => {
    const error = faultOf(body, {}, 64);
    expect(error).toBeInstanceOf(CudaError);
    expect([error.statusCode, error.status]).toEqual([status, `CUDA_ERROR_${name}`]);
    expect(error.cause).toBeInstanceOf(SimulationError);
    expect((error.cause as SimulationError).kind).toBe(kind);
    expect(error.message).toMatch(
      /in wrong, PTX line 6 ".*", block \(\d,0,0\), thread \(\d+,0,0\); last launches on stream #2: wrong<<<2, 64>>>/,
    );
  });

  it("is wrong loses the context, and the next device of the same driver opens and computes", () => {
    const { driver, context } = opened();
    const module = context.load(`${header}.visible .entry wrong() { trap; }`);
    const stream = context.stream();
    stream.launch(module.kernel("wrong", []), { grid: 1, block: 1 });
    expect(() => context.sync()).toThrow("CUDA_ERROR_LAUNCH_FAILED (719) from cuCtxSynchronize");
    expect(() => context.zeros("f32", 1)).toThrow(ContextLostError);
    context.dispose();
    expect(driver.outstanding()).toEqual({});
    const next = openDevice({ driver });
    expect([...next.read(next.upload(Float32Array.of(1, 2)))]).toEqual([1, 2]);
    next.dispose();
  });

  it("is wrong is told at its launch in debug mode", () => {
    const context = openDevice({ driver: simulatedDriver(small), debug: true, onLeak: () => undefined });
    const module = context.load(`${header}.visible .entry wrong() { trap; }`);
    const stream = context.stream();
    expect(() => stream.launch(module.kernel("wrong", []), { grid: 1, block: 1 })).toThrow(/wrong<<<1, 1>>> at .*errors\.test\.ts:\d+:\d+/);
  });
});

describe("a limit", () => {
  it("of idle polls can be set, so that a slow partner is waited for longer or shorter", () => {
    const poll = "st.global.u32 [%p], 0; again: ld.volatile.global.u32 %a, [%p]; setp.eq.u32 %q, %a, 0; @%q bra again;";
    expect(faultOf(poll, { limits: { idlePolls: 300 } }).message).toMatch(
      /polled 301 times while no thread of the launch changed anything: nothing can end this loop, at step \d+; in wrong, PTX line 6 .*, block \(\d,0,0\), thread \(0,0,0\)/,
    );
  });

  it("of steps ends a launch that goes on and on", () => {
    const count = "mov.u32 %a, 0; again: add.u32 %a, %a, 1; st.global.u32 [%p], %a; setp.ne.u32 %q, %a, 0; @%q bra again;";
    const error = faultOf(count, { limits: { steps: 5000 } });
    expect(error.status).toBe("CUDA_ERROR_LAUNCH_TIMEOUT");
    expect(error.message).toContain(
      "the launch went past its limit of 5000 steps, in the loop that ends here; limits.steps (SPILLWAY_SIM_STEPS) sets how many it has; in wrong, PTX line 6",
    );
  });

  it("is taken from the environment where no option gives it", () => {
    process.env["SPILLWAY_SIM_STEPS"] = "7000";
    try {
      const count = "mov.u32 %a, 0; again: add.u32 %a, %a, 1; st.global.u32 [%p], %a; setp.ne.u32 %q, %a, 0; @%q bra again;";
      expect(faultOf(count).message).toContain("its limit of 7000 steps");
      process.env["SPILLWAY_SIM_STEPS"] = "many";
      expect(() => simulatedDriver()).toThrow(
        'the simulated device: SPILLWAY_SIM_STEPS is "many"; it takes a whole number of at least 1, or Infinity',
      );
    } finally {
      delete process.env["SPILLWAY_SIM_STEPS"];
    }
  });
});

describe("a module", () => {
  const load = (ptx: string | Uint8Array, options: SimulatedDriverOptions = {}): ModuleLoadError => {
    const { context } = opened(options);
    try {
      context.load(ptx, { label: "kernels" });
    } catch (error) {
      return error as ModuleLoadError;
    }
    throw new Error("the module was loaded");
  };

  it("that is no PTX is refused with the line in the log", () => {
    const error = load(`${header}.visible .entry k() {\n  add.u32 %r1, %r2, ;\n}`);
    expect(error).toBeInstanceOf(ModuleLoadError);
    expect(error.status).toBe("CUDA_ERROR_INVALID_PTX");
    expect(error.log).toMatch(/^PTX line 5, column \d+: /);
  });

  it("of a newer PTX than the driver, or for another device, is refused", () => {
    expect(load(".version 8.0\n.target sm_75\n", { driverVersion: 11080 }).message).toMatch(
      /CUDA_ERROR_UNSUPPORTED_PTX_VERSION .*PTX 8\.0 needs a driver of CUDA 12\.0 or later, and this one is of CUDA 11\.8/,
    );
    expect(load(".version 7.8\n.target sm_90\n", { capability: "8.0" }).log).toBe(
      ".target sm_90 is not for a device of compute capability 8.0",
    );
    expect(load(".version 8.0\n.target sm_90a\n", { capability: "10.0" }).log).toContain(".target sm_90a is not for a device");
  });

  it("of machine code is refused", () => {
    expect(load(Uint8Array.of(0x7f, 0x45, 0x4c, 0x46, 0)).log).toBe(
      "the simulated device takes PTX; this is a cubin, which is machine code",
    );
  });

  it("with an instruction that is not modelled is refused when the kernel is asked for", () => {
    const { context } = opened();
    const module = context.load(`${header}.visible .entry k() { .reg .b32 %r<4>;\n multimem.red.add.u32 %r0, %r1; ret; }`);
    expect(() => module.kernel("k", [])).toThrow(/CUDA_ERROR_NOT_SUPPORTED \(801\) from cuModuleGetFunction: .*PTX line 5.*multimem/);
  });
});

describe("a launch", () => {
  const kernel = (context: Context, head: string) => context.load(`${header}.visible .entry k() ${head} { ret; }`).kernel("k", []);

  it("of more cooperative blocks than run at once says how many do", () => {
    const { context } = opened({ multiprocessors: 2 });
    expect(() => context.stream().launch(kernel(context, ""), { grid: 5, block: 1024, cooperative: true })).toThrow(
      /CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE .*kernel k: a cooperative grid of 5 blocks; 4 run at once; at most 4 blocks of 1024 threads run at once here/,
    );
  });

  it("of more threads than the kernel was built for is refused", () => {
    const { context } = opened();
    expect(() => context.stream().launch(kernel(context, ".maxntid 64, 1, 1"), { grid: 1, block: 65 })).toThrow(
      "kernel k: a block of 65 threads is too large: this kernel takes at most 64 here",
    );
  });
});

describe("races between blocks", () => {
  it("are looked for where the environment or an option asks for it", () => {
    const store = "mov.u32 %a, %ctaid.x; st.global.u32 [%p], %a;";
    expect(faultOf(store, { checks: { globalRaces: true } }).message).toMatch(
      /race on global memory, byte 0 of words \(16 bytes\): this thread stores what block \(0,0,0\) stored, .* block \(1,0,0\), thread \(0,0,0\)/,
    );
    expect(() => faultOf(store)).toThrow("the kernel ended without an error");
    process.env["SPILLWAY_SIM_GLOBAL_RACES"] = "1";
    try {
      expect(faultOf(store).message).toContain("race on global memory");
    } finally {
      delete process.env["SPILLWAY_SIM_GLOBAL_RACES"];
    }
  });
});

it("a device that a fault lost and that is still held says so when it is opened again, and opens when it was let go", () => {
  const { driver, context } = opened();
  const wrong = context.load(`${header}.visible .entry wrong() { trap; }`).kernel("wrong", []);
  const stream = context.stream();
  stream.launch(wrong, { grid: 1, block: 1 });
  expect(() => stream.sync()).toThrow("trap");
  expect(() => openDevice({ driver })).toThrow(
    /cuStreamCreateWithPriority: .*; an earlier fault lost the context of device 0, which something here still holds: dispose that, and open the device again$/,
  );
  context.dispose();
  openDevice({ driver }).dispose();
});
