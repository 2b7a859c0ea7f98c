// A realistic program that makes every call of the binding and checks what it computes: a failed
// call cannot pass unseen.
import { type Driver, type DriverArguments, type DriverCall, type DriverFunction, openDevice } from "../../packages/gpu/src/index.js";
import type { SimulatedDriver } from "../../packages/sim/src/index.js";

/** y[i] = s x[i] + table[0] for i < n; and one that only counts its blocks. */
export const ptx = `.version 7.8
.target sm_75
.address_size 64
.visible .global .align 4 .f32 table[4] = {0f3F800000, 0f00000000, 0f00000000, 0f00000000};
.visible .const .align 4 .u32 unused = 7;
.visible .entry scale(.param .u64 x, .param .u64 y, .param .u32 n, .param .f32 s)
{
  .reg .pred %p; .reg .b32 %r<5>; .reg .b64 %rd<5>; .reg .f32 %f<4>;
  ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.u32 %r1, [n]; ld.param.f32 %f1, [s];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.u32 %r2, %r2, %r3, %r4;
  setp.ge.u32 %p, %r2, %r1; @%p ret;
  mul.wide.u32 %rd3, %r2, 4; add.u64 %rd1, %rd1, %rd3; add.u64 %rd2, %rd2, %rd3;
  ld.global.f32 %f2, [%rd1]; ld.global.f32 %f3, [table]; fma.rn.f32 %f2, %f2, %f1, %f3; st.global.f32 [%rd2], %f2; ret;
}
.visible .entry count(.param .u64 counter)
{
  .reg .b32 %r<3>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [counter]; mov.u32 %r1, %tid.x; .reg .pred %p; setp.ne.u32 %p, %r1, 0; @%p ret;
  red.global.add.u32 [%rd1], 1; ret;
}`;

/** A driver from before pools, cuLaunchKernelEx and cuFuncGetParamInfo. */
export class OlderDriver implements Driver {
  readonly library = "simulated, older";
  readonly #inner: SimulatedDriver;
  static readonly lacks: readonly DriverCall[] = ["cuMemPoolCreate", "cuLaunchKernelEx", "cuFuncGetParamInfo"];

  constructor(inner: SimulatedDriver) {
    this.#inner = inner;
  }

  has(name: DriverCall): boolean {
    return !OlderDriver.lacks.includes(name);
  }

  resolve<Name extends DriverCall>(name: Name): DriverFunction<Name> {
    return this.#inner.resolve(name);
  }

  callAsync<Name extends DriverCall>(name: Name, ...values: DriverArguments<Name>): Promise<number> {
    return this.#inner.callAsync(name, ...values);
  }

  addressOf(view: ArrayBufferView): bigint {
    return this.#inner.addressOf(view);
  }

  textAt(address: bigint): string {
    return this.#inner.textAt(address);
  }

  explain(status: number): Error | undefined {
    return this.#inner.explain(status);
  }
}

/** The program computed something else than it should. */
export class WrongResult extends Error {
  override readonly name = "WrongResult";
}

function expectAll(values: ArrayLike<number>, expected: number, what: string): void {
  for (let i = 0; i < values.length; i++)
    if (values[i] !== expected) throw new WrongResult(`${what}[${i}] is ${values[i]}, not ${expected}`);
}

/** Uses two devices, and gives back all that it makes. */
export async function everything(driver: Driver): Promise<void> {
  using context = openDevice({ driver, onLeak: () => undefined });
  using other = openDevice({ driver, device: 1, onLeak: () => undefined });
  using stream = context.stream({ priority: context.priorities.greatest });
  using module = context.load(ptx);
  using table = context.upload(Float32Array.of(1, 0, 0, 0));
  stream.copy(module.global("table", "f32"), table);
  const scale = module.kernel("scale", ["const f32*", "f32*", "i32", "f32"], { lengths: [[2], [2]] });
  const count = module.kernel("count", ["u32*"]);
  scale.resources();

  using x = context.upload(new Float32Array(64).fill(3));
  using y = context.zeros("f32", 64);
  using ordered = context.alloc("u32", 8, { stream });
  using halves = context.zeros("u16", 8);
  stream.fill(halves, 0x3c00);
  stream.fill(ordered, 7);
  stream.launch(scale, { grid: 2, block: 32 }, x, y, 64, 2);
  expectAll(context.read(y), 7, "y");
  expectAll(await stream.download(ordered), 7, "ordered");
  expectAll(context.read(halves), 0x3c00, "halves");

  using counter = context.zeros("u32", 1);
  const blocks = count.maxCooperativeBlocks(32, 60_000);
  stream.launch(count, { grid: blocks, block: 32, shared: 60_000, cooperative: true }, counter);
  let counted = blocks;
  if (driver.has("cuLaunchKernelEx")) {
    const config = { grid: 16, block: 32, cluster: 16 };
    stream.launch(count, { ...config, grid: Math.min(1, count.maxActiveClusters(config)) * 16 }, counter);
    counted += 16;
  }
  expectAll(context.read(counter), counted, "counter");

  using pinned = context.pinned("f32", 64);
  pinned.array.fill(5);
  stream.upload(x, pinned);
  stream.copy(x.slice(0, 8), x.slice(8, 16));
  stream.copy2D(y, pinned, { columns: 8, rows: 8 });
  stream.read(y, pinned);
  using there = other.zeros("f32", 8);
  if (context.canAccess(other)) context.enableAccess(other);
  stream.copy(x.slice(0, 8), there);
  context.disableAccess(other);
  expectAll(context.read(x.slice(0, 8)), 0, "copied from the other device");
  expectAll(pinned.array, 5, "pinned");

  using start = context.event();
  using end = context.event();
  start.record(stream);
  using graph = stream.capture((s) => s.launch(scale, { grid: 2, block: 32 }, x, y, 64, 3));
  graph.update(stream, (s) => s.launch(scale, { grid: 2, block: 32 }, x, y, 64, 4));
  graph.upload(stream);
  if (graph.size === 1) graph.launch(stream);
  end.record(stream);
  using second = context.stream();
  second.wait(end);
  expectAll((await second.download(y)).subarray(8), 21, "y by the graph");
  end.sync();
  end.elapsedSince(start);
  void (end.ready && stream.ready);
  await stream.done();
  context.memoryInfo();
  context.poolStatistics();
  context.trimPool();
  stream.sync();
}
