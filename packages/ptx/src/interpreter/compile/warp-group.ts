// wgmma: matrix products of a warp group with factors in shared memory, done when they are waited
// for. A warp does its 16 rows by itself. Layouts: PTX ISA 9.0, section 9.7.16.5. Products and sums
// are done in double and rounded once an instruction; see fragment.ts for what a GPU does.
import { singleFromBits } from "../arithmetic/bits.js";
import { type HalfKind, toNumber } from "../arithmetic/half.js";
import { AsyncProducts } from "../run/async-products.js";
import type { Warp } from "../run/warp.js";
import type { PtxOperand } from "../types.js";
import type { Collective } from "./collective.js";
import {
  Fragment,
  type Heap,
  type Held,
  type Layout,
  multiply,
  readMatrix,
  shapeOf,
  together,
  wholeWarp,
  writeMatrix,
} from "./fragment.js";
import type { LaneAccess, ReadLane } from "./lane-access.js";

type FactorType = "f16" | "bf16" | "tf32";

const sharedSpace = 2;
/** By the descriptor's code: bytes of a row, and bits of its number that swizzle pieces. */
const swizzles = [
  { row: 16, mask: 0 },
  { row: 128, mask: 7 },
  { row: 64, mask: 3 },
  { row: 32, mask: 1 },
] as const;

/** A factor in shared memory: `count` rows (of a) or columns (of b), each `depth` long. */
interface Factor {
  readonly type: FactorType;
  readonly count: number;
  readonly depth: number;
  /** The rows or columns lie side by side, and not the depth. */
  readonly transposed: boolean;
}

/** Shared addresses of the elements of a factor, one row or column after another. */
function addresses(low: number, high: number, { type, count, depth, transposed }: Factor, first: number): Int32Array {
  const { row, mask } = swizzles[(high >>> 30) & 3]!;
  const [start, leading, stride] = [(low & 0x3fff) << 4, ((low >>> 16) & 0x3fff) << 4, (high & 0x3fff) << 4];
  const size = type === "tf32" ? 4 : 2;
  const side = row / size;
  const result = new Int32Array(count * depth);
  for (let i = 0; i < count; i++)
    for (let k = 0; k < depth; k++) {
      // `across` counts along the elements that lie side by side, `down` along the rows of the
      // layout.
      const [across, down] = transposed ? [first + i, k] : [k, first + i];
      let at = start + (down & 7) * row + (across % side) * size;
      // Without a swizzle the two distances of a transposed factor are exchanged.
      if (mask === 0 && transposed) at += (down >> 3) * leading + Math.floor(across / side) * stride;
      else at += (down >> 3) * stride + Math.floor(across / side) * leading;
      result[i * depth + k] = at ^ (((at >> 7) & mask) << 4);
    }
  return result;
}

/** Reads a factor at its addresses; `look` first asks whether every piece may be read. */
class SharedFactor {
  private readonly heap: Heap;
  private readonly access: LaneAccess;
  private readonly words: readonly ReadLane[];
  private readonly factor: Factor;
  private readonly sign: number;

  constructor(access: LaneAccess, heap: Heap, descriptor: PtxOperand, factor: Factor, sign: number) {
    this.access = access;
    this.heap = heap;
    this.words = [0, 1].map((part) => access.read(descriptor, part, "b64"));
    this.factor = factor;
    this.sign = sign;
  }

  /** Where the elements lie, by the descriptor that all lanes give. @throws SimulationError */
  offsets(warp: Warp, first: number): Int32Array {
    const [low, high] = this.words.map((read) => read(warp, 0));
    const { instruction } = this.access;
    for (let lane = 1; lane < 32; lane++)
      if (this.words[0]!(warp, lane) !== low || this.words[1]!(warp, lane) !== high)
        throw warp.error("illegalInstruction", "lanes give different descriptors", lane, instruction);
    if (((high! >>> 17) & 7) !== 0)
      throw warp.error("illegalInstruction", "a descriptor with a base offset is not modelled", 0, instruction);
    return addresses(low!, high!, this.factor, first);
  }

  /** Checks whether each word may be read now; `stamps` are its answers when the product began. */
  look(warp: Warp, offsets: Int32Array, stamps?: readonly number[]): number[] {
    const { launch, tagBase } = warp;
    const site = launch.kernel.sites.indexOf(this.access.instruction);
    const now: number[] = [];
    for (const at of offsets) {
      if ((at & 15) !== 0) continue;
      this.heap.resolve(warp, 0, site, sharedSpace, 0, at, 0, 16, 0);
      for (let word = 0; word < 4; word++) {
        const stamp = launch.races.readByProduct(warp, site, (at >> 2) + word + tagBase);
        if (stamps !== undefined && stamps[now.length] !== stamp) {
          const what = `shared byte ${at + 4 * word} was written while this product went on: nothing waited for it`;
          throw warp.error("race", what, 0, site);
        }
        now.push(stamp);
      }
    }
    return now;
  }

  /** Elements as rows x depth, or depth x columns. */
  values(warp: Warp, offsets: Int32Array, byDepth: boolean): Float64Array {
    const { type, count, depth } = this.factor;
    const result = new Float64Array(count * depth);
    for (const [index, at] of offsets.entries()) {
      const offset = warp.sharedBase + at;
      const value =
        type === "tf32"
          ? singleFromBits(this.heap.G32[offset >> 2]! & 0xffffe000)
          : toNumber(type as HalfKind, this.heap.G16[offset >> 1]!);
      result[byDepth ? (index % depth) * count + Math.floor(index / depth) : index] = this.sign * value;
    }
    return result;
  }
}

const productsOf = (warp: Warp): AsyncProducts => {
  warp.products ??= new AsyncProducts();
  return warp.products;
};

function registersOf(operands: readonly PtxOperand[]): Set<number> {
  return new Set(operands.flatMap((each) => (each.kind === "register" ? [each.register.index] : [])));
}

function multiplyAsync(access: LaneAccess, heap: Heap): Collective {
  const types = access.types();
  const { m, n, k: depth } = shapeOf(access);
  const [sumType, type] = types as ["f32", FactorType];
  if (
    m !== 64 ||
    sumType !== "f32" ||
    types.length !== 3 ||
    types[1] !== types[2] ||
    !["f16", "bf16", "tf32"].includes(type) ||
    depth !== (type === "tf32" ? 8 : 16)
  )
    throw access.unsupported("wgmma is modelled for f16, bf16 and tf32 with sums in f32");
  const sums = access.list(access.operand(0));
  if (sums.length !== n / 2) throw access.unsupported(`${n} columns take ${n / 2} sums`);
  const inRegisters = access.operand(1).kind === "vector";
  const flag = (index: number, values: readonly number[]): number => {
    const value = access.constant(access.operand(index));
    if (value === undefined || !values.includes(value)) throw access.unsupported(`operand ${index + 1} is ${values.join(" or ")}`);
    return value;
  };
  const [signA, signB] = [flag(4, [1, -1]), flag(5, [1, -1])];
  const turns = (index: number): boolean => type !== "tf32" && flag(index, [0, 1]) === 1;
  const [transposeA, transposeB] = inRegisters ? [false, turns(6)] : [turns(6), turns(7)];
  const accumulates = access.predicate(access.operand(3));
  const width = type === "tf32" ? 1 : 2;
  const layoutA: Layout = (lane, r, p) => [(lane >> 2) + 8 * (r & 1), width * (lane & 3) + p + 4 * width * (r >> 1)];
  const fragment = inRegisters ? new Fragment(access, access.operand(1), type, (64 * depth) / 128 / width, false) : undefined;
  const held = fragment && { fragment, type, layout: layoutA, rows: 16, columns: depth };
  const left = inRegisters
    ? undefined
    : new SharedFactor(access, heap, access.operand(1), { type, count: 16, depth, transposed: transposeA }, signA);
  const right = new SharedFactor(access, heap, access.operand(2), { type, count: n, depth, transposed: transposeB }, signB);
  const layoutD: Layout = (lane, r) => [(lane >> 2) + 8 * ((r >> 1) & 1), 8 * (r >> 2) + 2 * (lane & 3) + (r & 1)];
  const [before, after] = [false, true].map((writable): Held => {
    const fragment = new Fragment(access, access.operand(0), "f32", n / 2, writable);
    return { fragment, type: "f32", layout: layoutD, rows: 16, columns: n };
  }) as [Held, Held];
  const registers = registersOf([...sums, ...(inRegisters ? access.list(access.operand(1)) : [])]);
  return wholeWarp(access, (warp) => {
    const products = productsOf(warp);
    const problem = products.problem(registers);
    if (problem !== undefined) throw warp.error("race", problem, 0, access.instruction);
    const offsetsA = left?.offsets(warp, 16 * (warp.index & 3));
    const offsetsB = right.offsets(warp, 0);
    const keeps = accumulates(warp, 0) !== 0;
    const stampsA = offsetsA && left!.look(warp, offsetsA);
    const stampsB = right.look(warp, offsetsB);
    const finish = (): void => {
      if (offsetsA) left!.look(warp, offsetsA, stampsA);
      right.look(warp, offsetsB, stampsB);
      const a = held ? readMatrix(warp, held).map((x) => signA * x) : left!.values(warp, offsetsA!, false);
      const c = keeps ? readMatrix(warp, before) : new Float64Array(16 * n);
      writeMatrix(warp, after, multiply(a, right.values(warp, offsetsB, true), c, { m: 16, n, k: depth }));
    };
    products.begin({ registers, words: warp.words, finish });
  });
}

export function compileWarpGroup(access: LaneAccess, heap: Heap): Collective {
  together(access);
  const what = access.find(["mma_async", "fence", "commit_group", "wait_group"]);
  if (what === "mma_async") return multiplyAsync(access, heap);
  const pending = what === "wait_group" ? access.constant(access.operand(0)) : undefined;
  const steps: Record<string, (products: AsyncProducts) => void> = {
    fence: (products) => products.fence(),
    commit_group: (products) => products.commit(),
    wait_group: (products) => products.wait(pending ?? 0),
  };
  const step = steps[what ?? ""];
  if (step === undefined) throw access.unsupported("no such wgmma operation");
  return wholeWarp(access, (warp) => {
    step(productsOf(warp));
  });
}
