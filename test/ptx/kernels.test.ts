// Kernels that nvcc 13 compiled (fixtures/*.cu), run on the simulated device and held to plain
// TypeScript, bit for bit.
import { describe, expect, it } from "vitest";
import { portableTanh32 } from "../../packages/numerics/src/portable.js";
import { Bench, fixture, input, output, words } from "./device.js";

const compute = new Bench(fixture("compute"));
const tensor = new Bench(fixture("tensor"));
const portable = new Bench(fixture("portable"));
const bits = (array: Float32Array): Int32Array => new Int32Array(array.buffer, array.byteOffset, array.length);
const f = Math.fround;

describe("kernels", () => {
  it("adds vectors: 4 blocks of 256 threads over 1024 elements give 3 everywhere", () => {
    const c = new Float32Array(1024);
    const result = compute.run("vector_add", { grid: 4, block: 256 }, [
      input(new Float32Array(1024).fill(1)),
      input(new Float32Array(1024).fill(2)),
      output(c),
      1024,
    ]);
    expect(c).toEqual(new Float32Array(1024).fill(3));
    expect(result.counters.bytes.global).toBe(3 * 4 * 1024);
  });

  it("receives every kind of argument bit for bit", () => {
    const out = new Uint8Array(64);
    const struct = new Uint8Array(new Float64Array([0, -1.25]).buffer);
    new Float32Array(struct.buffer, 0, 2).set([0.1, -7]);
    const pointer = 0x7_1234_5678n;
    compute.run("echo", { grid: 1, block: 1 }, [
      pointer,
      -5,
      0xfffffffe,
      -(2n ** 62n) - 1n,
      2n ** 64n - 3n,
      f(0.3),
      0.1,
      struct,
      output(out),
    ]);
    const view = new DataView(out.buffer);
    expect(view.getBigUint64(0, true)).toBe(pointer);
    expect([view.getInt32(8, true), view.getUint32(12, true)]).toEqual([-5, 0xfffffffe]);
    expect([view.getBigInt64(16, true), view.getBigUint64(24, true)]).toEqual([-(2n ** 62n) - 1n, 2n ** 64n - 3n]);
    expect([view.getFloat32(32, true), view.getFloat64(40, true)]).toEqual([f(0.3), 0.1]);
    expect(out.slice(48)).toEqual(struct);
  });

  it("sums over a block in the order of the butterfly", () => {
    const random = words(3);
    const x = Float32Array.from({ length: 600 }, () => random() / 2 ** 31);
    const sums = new Float32Array(3);
    const count = new Uint32Array(1);
    compute.run("block_sum", { grid: 3, block: 256 }, [input(x), output(sums), output(count), 600], true);
    const expected = Float32Array.from({ length: 3 }, (_, block) => {
      let total = 0;
      for (let warp = 0; warp < 8; warp++) {
        let lanes = Array.from({ length: 32 }, (_, l) => x[256 * block + 32 * warp + l] ?? 0);
        for (let o = 16; o; o >>= 1) lanes = lanes.map((value, l) => f(value + lanes[l ^ o]!));
        total = f(total + lanes[0]!);
      }
      return total;
    });
    expect(bits(sums)).toEqual(bits(expected));
    expect(count[0]).toBe(3);
  });

  it("transposes through shared memory with partly filled blocks", () => {
    const n = 21;
    const a = Float32Array.from({ length: n * n }, (_, k) => k);
    const b = new Float32Array(n * n);
    compute.run("shared_tile", { grid: [2, 2], block: [16, 16] }, [input(a), output(b), n]);
    expect(b).toEqual(Float32Array.from({ length: n * n }, (_, k) => a[(k % n) * n + Math.floor(k / n)]!));
  });

  it("keeps module variables and constants", () => {
    const out = new Float32Array(32);
    compute.run("module_variables", { grid: 1, block: 32 }, [output(out)]);
    expect([...out.slice(0, 4)]).toEqual([1.5, -2.25, 3, 0.125]);
    const { address, bytes } = compute.program.global("total");
    expect(bytes).toBe(8);
    expect(new DataView(compute.machine.read(address, 8).buffer).getBigUint64(0, true)).toBe(104n);
  });

  it("calls functions, itself among them, and functions behind pointers", () => {
    const out = new Int32Array(32);
    compute.run("calls", { grid: 1, block: 32 }, [output(out)]);
    const fibonacci = (n: number): number => (n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2));
    expect([...out]).toEqual(Array.from({ length: 32 }, (_, i) => fibonacci(((i * 5) & 7) + (i & 3)) + (i & 1 ? 3 * i : 2 * i)));
  });

  it("branches by an index", () => {
    const x = Int32Array.from({ length: 32 }, (_, i) => i % 9);
    const out = new Int32Array(32);
    compute.run("switches", { grid: 1, block: 32 }, [input(x), output(out)]);
    const expected = [...x].map((v, i) => [11, v * 7 + i, -3, 5 * i, 99, i - 4, 1 << (i & 15)][v] ?? v);
    expect([...out]).toEqual(expected);
  });

  it("votes, matches and shuffles, also among half of the lanes", () => {
    const x = Uint32Array.from({ length: 32 }, (_, l) => (l * 37) % 53);
    const out = new Uint32Array(12 * 32);
    compute.run("warp_functions", { grid: 1, block: 32 }, [input(x), output(out)]);
    const mask = (test: (v: number) => boolean): number => x.reduce((all, v, l) => all + (test(v) ? 2 ** l : 0), 0);
    for (let l = 0; l < 32; l++) {
      const group = l & ~7;
      expect([...out.slice(12 * l, 12 * l + 12)], `lane ${l}`).toEqual([
        mask((v) => (v & 1) === 1),
        Number(x.includes(7)),
        1,
        mask((v) => (v & 3) === (x[l]! & 3)),
        x[l >= 3 ? l - 3 : l],
        x[l + 5 < group + 8 ? l + 5 : l],
        x[(l & 16) | ((l * 3) & 15)],
        0xffffffff,
        x[l & 1 ? l ^ 2 : l ^ 4],
        0xffffffff,
        1,
        2 ** l - 1,
      ]);
    }
  });

  it("does every atomic", () => {
    const i = Int32Array.from([0, 1000, -1, 0, 0, -1]);
    const u = Uint32Array.from([0, 3, 0, 77]);
    const l = BigUint64Array.from([0n, 0n]);
    const [single, double] = [new Float32Array(1), new Float64Array(1)];
    compute.run("atomics", { grid: 2, block: 64 }, [output(i), output(u), output(l), output(single), output(double)], true);
    // 128 threads: 0 + 1 + ... + 127; 50 - 127; 3 * 127; every bit; the parity of 0..127 is 0; no
    // bit left.
    expect([...i]).toEqual([8128, -77, 381, -1, 0, 0]);
    // inc wraps from 9 to 0 (128 mod 10); dec from 3 downwards through 0 to 9: (3 - 128) mod 10 =
    // 5; cas counts up in order.
    expect([...u.slice(0, 2)]).toEqual([8, 5]);
    expect([...l]).toEqual([128n << 33n, 127n << 40n]);
    expect([single[0], double[0]]).toEqual([64, 32]);
  });

  it("lets every lane of a warp take a lock in turn", () => {
    const [lock, counter] = [new Int32Array(1), new Int32Array(1)];
    compute.run("spin_lock", { grid: 3, block: 64 }, [output(lock), output(counter)], true);
    expect([lock[0], counter[0]]).toEqual([0, 192]);
  });

  it("hands over at a named barrier and counts at another", () => {
    const out = new Float32Array(65);
    compute.run("named_barriers", { grid: 1, block: 128 }, [output(out)]);
    expect([...out]).toEqual([...Array.from({ length: 64 }, (_, k) => 2 * (63 - k)), 64]);
  });

  it("runs CUDA's mathematics library to the errors its manual states (2 ulp for these)", () => {
    const x = Float64Array.from({ length: 64 }, (_, i) => (i - 31.5) * 0.37);
    const single = Float32Array.from(x);
    const [o, p] = [new Float64Array(6 * 64), new Float32Array(6 * 64)];
    compute.run("library", { grid: 1, block: 64 }, [input(x), output(o), input(single), output(p)]);
    for (let i = 0; i < 64; i++) {
      const [v, w] = [x[i]!, single[i]!];
      const wide = [Math.exp(v), Math.log(Math.abs(v)), Math.sin(v), Math.abs(v) ** 1.7, Math.tanh(v), Math.atan2(v, 2)];
      const narrow = [Math.exp(w), Math.log(Math.abs(w)), Math.sin(f(w * 1e6)), Math.abs(w) ** 1.7, Math.tanh(w), Math.cos(w)];
      for (let k = 0; k < 6; k++) {
        expect(Math.abs(o[6 * i + k]! / wide[k]! - 1)).toBeLessThan(2 * 2 ** -52);
        expect(Math.abs(p[6 * i + k]! / narrow[k]! - 1)).toBeLessThan(2 * 2 ** -23);
      }
    }
  });

  it("prints", () => {
    const { printed } = compute.run("print_line", { grid: 1, block: 32 }, [42]);
    expect(printed).toEqual(["42 of  2.50 and text 123456789abc|7   |\n"]);
  });
});

describe("portable arithmetic", () => {
  it("gives the bits of portableTanh32", () => {
    const random = words(5);
    const x = Float32Array.from({ length: 4096 }, (_, k) => (k < 64 ? (k - 32) / 3 : random() / 2 ** (20 + (k % 12))));
    x.set([0, -0, 1e-40, -1e-45, Infinity, -Infinity, 3e38, 0.7, -0.7, 9.99]);
    const y = new Float32Array(x.length);
    portable.run("tanh_values", { grid: 32, block: 128 }, [input(x), output(y), x.length]);
    expect(bits(y)).toEqual(bits(x.map((value) => portableTanh32(value))));
  });

  const [n, steps] = [48, 12];
  const random = words(9);
  const weights = Float32Array.from({ length: n * n }, () => (random() / 2 ** 31) * 0.3);
  const drive = Float32Array.from({ length: n * steps }, () => random() / 2 ** 32);
  const [a, keep] = [f(0.3), f(1 - f(0.3))];
  const expected = new Float32Array(n * steps);
  for (let t = 0; t < steps; t++) {
    for (let row = 0; row < n; row++) {
      let lanes = new Array<number>(32).fill(0);
      for (let k = 0; k < 64; k++) {
        const x = t > 0 && k < n ? expected[(t - 1) * n + k]! : 0;
        lanes[k & 31] = f(lanes[k & 31]! + f((k < n ? weights[row * n + k]! : 0) * x));
      }
      for (let o = 16; o; o >>= 1) lanes = lanes.map((value, l) => f(value + lanes[l ^ o]!));
      const old = t > 0 ? expected[(t - 1) * n + row]! : 0;
      expected[t * n + row] = f(f(keep * old) + f(a * portableTanh32(f(drive[t * n + row]! + lanes[0]!))));
    }
  }

  it("runs a persistent kernel over a cooperative grid whose blocks wait for one another", () => {
    const states = new Float32Array(n * steps);
    const box = new BigUint64Array(128);
    const run = (grid: number) => {
      const machine = portable.machine;
      const [w, d, x, b] = [weights, drive, states, box].map((array) => {
        const address = machine.allocate(array.byteLength);
        machine.write(address, array);
        return address;
      });
      portable.program.launch({ entry: "grid_run", grid, block: 128, cooperative: true, args: [w!, d!, x!, b!, n, steps, a, keep] });
      states.set(new Float32Array(machine.read(x!, states.byteLength).buffer));
    };
    run(12);
    expect(bits(states)).toEqual(bits(expected));
  });

  it("runs the same over a cluster, states pushed with st.async onto mbarriers", () => {
    const states = new Float32Array(n * steps);
    const result = portable.run("cluster_run", { grid: 6, block: 256, cluster: 6 }, [
      input(weights),
      input(drive),
      output(states),
      n,
      steps,
      a,
      keep,
    ]);
    expect(bits(states)).toEqual(bits(expected));
    expect(result.counters.clusterBarriers).toBe(2);
  });
});

describe("cooperative groups", () => {
  it("synchronise a grid whose blocks are all on the device", () => {
    const n = 500;
    const x = Float32Array.from({ length: n }, (_, i) => i);
    const [part, out] = [new Float32Array(512), new Float32Array(n)];
    portable.run("grid_reverse", { grid: 4, block: 128, cooperative: true }, [input(x), output(part), output(out), n]);
    expect(out).toEqual(x.map((_, i) => 2 * (n - 1 - i)));
  });
});

describe("matrix instructions", () => {
  const half = (values: Float32Array): Uint16Array =>
    // Whole numbers below 2048 in binary16, by their definition: sign, exponent + 15, fraction.
    Uint16Array.from(values, (value) => {
      if (value === 0) return 0;
      const magnitude = Math.abs(value);
      const exponent = 31 - Math.clz32(magnitude);
      return (value < 0 ? 0x8000 : 0) | ((exponent + 15) << 10) | ((magnitude - 2 ** exponent) * 2 ** (10 - exponent));
    });
  const random = words(11);
  const whole = (count: number): Float32Array => Float32Array.from({ length: count }, () => (random() % 9) | 0);
  const product = (a: Float32Array, b: Float32Array, m: number, n: number, k: number, byColumn: boolean): Float32Array =>
    Float32Array.from({ length: m * n }, (_, at) => {
      let sum = 0;
      for (let j = 0; j < k; j++) sum += a[Math.floor(at / n) * k + j]! * (byColumn ? b[(at % n) * k + j]! : b[j * n + (at % n)]!);
      return sum;
    });

  it("wmma on halves, with the accumulator scaled element by element", () => {
    const [a, b, c] = [whole(256), whole(256), new Float32Array(256)];
    tensor.run("wmma_half", { grid: 1, block: 32 }, [input(half(a)), input(half(b)), output(c)]);
    expect(c).toEqual(product(a, b, 16, 16, 16, true).map((value) => 2 * (value + 1)));
  });

  it("wmma on tf32", () => {
    const [a, b, c] = [whole(128), whole(128), new Float32Array(256)];
    tensor.run("wmma_tf32", { grid: 1, block: 32 }, [input(a), input(b), output(c)]);
    expect(c).toEqual(product(a, b, 16, 16, 8, false));
  });

  it("mma m16n8k16 on halves that ldmatrix brought", () => {
    const [a, b, c] = [whole(256), whole(128), new Float32Array(128)];
    tensor.run("mma_half", { grid: 1, block: 32 }, [input(half(a)), input(half(b)), output(c)]);
    expect(c).toEqual(product(a, b, 16, 8, 16, false));
  });

  it("mma m16n8k8 on tf32", () => {
    const [a, b, c] = [whole(128), whole(64), new Float32Array(128)];
    tensor.run("mma_tf32", { grid: 1, block: 32 }, [input(a), input(b), output(c)]);
    expect(c).toEqual(product(a, b, 16, 8, 8, false).map((value) => value + 0.5));
  });

  it("copies to shared memory with cp.async", () => {
    const x = Float32Array.from({ length: 128 }, (_, k) => k / 3);
    const y = new Float32Array(32);
    tensor.run("copy_async", { grid: 1, block: 32 }, [input(x), output(y)]);
    expect(y).toEqual(x.slice(96).reverse());
  });
});
