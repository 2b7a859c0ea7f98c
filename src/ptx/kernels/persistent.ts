// Many steps of one reservoir in one launch: weights stay in registers, and only states travel, through L2 over the whole grid. Portable
// arithmetic, so the bits are those of every other engine. The cluster form is in persistent-cluster.ts.
import { type Pointer, PtxBuildError, type PtxKernel, type Value, type Variable } from "../builder/index.js";
import { ceilDiv, checkSizes, generate, type GeneratedKernel, type GeneratorOptions, range } from "./generated-kernel.js";
import { DenseRows, NeuronStep, type PersistentRows, SparseRows } from "./persistent-rows.js";

/** The reservoir that a persistent kernel steps, and how its rows are shared out. */
export interface PersistentShape {
  /** Neurons. */
  readonly size: number;
  /** Entries of the longest row, for a sparse W; left out, W is dense. */
  readonly longestRow?: number;
  /** Dense: rows that the 32 lanes of a warp share. Sparse: rows that each 8 lanes take one after the other. */
  readonly rowsPerWarp?: 1 | 2 | 4 | 8;
  /** Warps of a block. */
  readonly warps?: number;
  /** Blocks that are on the device at once. Default 132. */
  readonly multiprocessors?: number;
}

export const persistentGridName = ({ longestRow }: Pick<PersistentShape, "longestRow">): string =>
  longestRow === undefined ? "reservoir_persistent_grid" : "reservoir_persistent_sparse";

/** Bit 30 of a state in [-1, 1] is free; it tells a generation from the one before the last, which stood at the same place. */
const mark = 0x40000000;

/** What the report holds where the launch was given states outside [-1, 1]. */
export const statesOutOfRange = 2n ** 64n - 1n;

interface Arrangement {
  readonly rows: PersistentRows;
  readonly warps: number;
  readonly blocks: number;
}

function arrange(shape: PersistentShape): Arrangement {
  const { size, longestRow, rowsPerWarp, multiprocessors = 132 } = shape;
  const name = persistentGridName(shape);
  checkSizes(name, { size, multiprocessors }, 65536);
  if (longestRow !== undefined) checkSizes(name, { longestRow }, size);
  if (rowsPerWarp !== undefined && ![1, 2, 4, 8].includes(rowsPerWarp))
    throw new PtxBuildError(`rowsPerWarp is ${rowsPerWarp}; it takes 1, 2, 4 or 8`, name);
  if (shape.warps !== undefined) checkSizes(name, { warps: shape.warps }, 32);
  // The first that fits is taken; the order is that of an H200. Dense weights beyond 160 registers a lane leave too few for the rest.
  const dense = [
    [4, 4],
    [2, 8],
    [4, 8],
    [8, 8],
    [8, 16],
  ] as const;
  const shapes =
    longestRow === undefined
      ? dense.filter(([rows]) => rows * ceilDiv(size, 32) <= 160)
      : ([
          [1, 4],
          [2, 4],
          [2, 8],
          [4, 8],
          [8, 8],
        ] as const);
  const candidates = (shapes.length > 0 ? shapes : ([[1, 16]] as const)).map(([rows, warps]) => ({
    rows: rowsPerWarp ?? rows,
    warps: shape.warps ?? warps,
  }));
  for (const { rows: each, warps } of candidates) {
    const rows = longestRow === undefined ? new DenseRows(size, each) : new SparseRows(size, longestRow, each);
    const blocks = ceilDiv(rows.padded, rows.perWarp * warps);
    if (blocks <= multiprocessors) return { rows, warps, blocks };
  }
  throw new PtxBuildError(`${size} neurons do not fit on ${multiprocessors} blocks at once`, name);
}

/**
 * x(t+1) = ((1 - a) x(t)) + (a tanh(drive(t) + W x(t))) for a whole run, in binary32 by docs/numerics.md rules 1 to 5. The launch is cooperative.
 *
 * Arguments: weights, N x N by rows (sparse: values and columns, N x slots, where slots is longestRow up to a multiple of 8, rows filled up
 * with value 0 and column 0); leak, N; drive, steps x N; state, N numbers in [-1, 1], before and after; states, steps x N; places, 2 x padded
 * 32-bit words (`persistentPlaces`), zeros before the first launch; report, one 64-bit word; steps; generation, the steps done so far with
 * these places; spinLimit, clock ticks.
 *
 * The report stays 0, or is (block + 1) * 2^32 + step where a block waited longer than the limit for the states of a step, or statesOutOfRange.
 * @throws PtxBuildError, PtxTargetError also where the weights do not fit in registers
 */
export function persistentGrid(shape: PersistentShape, options: GeneratorOptions = {}): GeneratedKernel {
  const { rows, warps, blocks } = arrange(shape);
  const name = persistentGridName(shape);
  return generate({ name, grid: [blocks], block: [32 * warps], minBlocks: 1, cooperative: true }, options, (k) =>
    new PersistentGrid(k, rows, warps).build(),
  );
}

/** 32-bit words that the grid form wants for the states on their way. */
export function persistentPlaces(shape: PersistentShape): number {
  return 2 * arrange(shape).rows.padded;
}

class PersistentGrid {
  private readonly k: PtxKernel;
  private readonly rows: PersistentRows;
  private readonly warps: number;

  constructor(k: PtxKernel, rows: PersistentRows, warps: number) {
    this.k = k;
    this.rows = rows;
    this.warps = warps;
  }

  build(): void {
    const { k, rows, warps } = this;
    const { padded } = rows;
    const weights = rows.parameters(k);
    const [leak, drive, state, states] = ["leak", "drive", "state", "states"].map((name) => k.pointer("f32", name));
    const [places, report] = [k.pointer("u32", "places"), k.pointer("b64", "report")];
    const [steps, generation, spinLimit] = [k.parameter("u32", "steps"), k.parameter("u32", "generation"), k.parameter("u64", "spinLimit")];
    const x = k.shared("f32", 2 * padded);
    k.exit(this.refusesStates(state!, x, report));
    const first = k.mul(k.mad(k.blockIndex(), warps, k.warpIndex()), rows.perWarp);
    rows.load(k, weights, first);
    const neuron = new NeuronStep(k, rows, first, { leak: leak!, drive: drive!, state: state!, states: states! }, steps);
    const ownPlace = k.at(places, k.min(neuron.place, padded - 1));
    const buffer = k.variable("u32", 0);
    const lost = k.variable("u32", 0);
    k.for("u32", { from: k.constant("u32", 0), to: steps }, (step, loop) => {
      const value = neuron.advance(rows.dot(k, k.atBytes(x, buffer)));
      const now = k.add(generation, step);
      const bit = k.select(k.compare("eq", k.and(now, 2), 0), k.constant("u32", mark), 0);
      const half = k.mul(k.and(now, 1), padded);
      const word = k.or(k.and(k.reinterpret("u32", value), 0xffffffff - mark), bit);
      k.store(k.at(ownPlace, half), word, { order: "relaxed", where: neuron.fills });
      neuron.finish(step);
      k.assign(buffer, k.sub(k.constant("u32", 4 * padded), buffer));
      this.collect(k.at(places, half), k.atBytes(x, buffer), bit, spinLimit, lost);
      k.if(k.compare("ne", lost, 0), () => this.reportStall(report, step));
      loop.break(k.barrierVote("or", k.compare("ne", lost, 0)));
    });
    neuron.end();
  }

  /** Brings the first states to shared memory; true in all threads where one of them does not stay within [-1, 1]. */
  private refusesStates(state: Pointer<"global", "f32">, x: Pointer<"shared", "f32">, report: Pointer<"global", "b64">): Value<"pred"> {
    const { k, rows, warps } = this;
    const bad = k.variable("u32", 0);
    k.for("u32", { from: k.threadIndex(), to: rows.padded, step: 32 * warps }, (neuron) => {
      const value = k.load(k.at(state, neuron), { where: k.compare("lt", neuron, rows.size), otherwise: 0 });
      const to = k.at(x, rows.placeOf(k, neuron));
      k.store(to, value);
      k.store(to.plus(rows.padded), k.constant("f32", 0));
      // A NaN is not within.
      k.assign(bad, k.select(k.compare("le", k.abs(value), 1), bad, 1));
    });
    const any = k.barrierVote("or", k.compare("ne", bad, 0));
    k.store(report, k.constant("b64", statesOutOfRange), { where: k.and(any, k.compare("eq", k.threadIndex(), 0)) });
    return any;
  }

  /** Takes the states of a generation from L2 to shared memory as they arrive, four at a time, dealt out over the threads. */
  private collect(
    from: Pointer<"global", "u32">,
    to: Pointer<"shared", "f32">,
    bit: Value<"u32">,
    spinLimit: Value<"u64">,
    lost: Variable<"u32">,
  ): void {
    const { k, rows, warps } = this;
    const [threads, quads] = [32 * warps, rows.padded / 4];
    const patience = new Patience(k, spinLimit);
    const batch = 4;
    for (let first = 0; first < quads; first += batch * threads) {
      const mine = range(Math.min(batch, ceilDiv(quads - first, threads))).map((b) => first + b * threads);
      k.repeatWhile(() => {
        const wrong = k.variable("u32", 0);
        const loaded = mine.map((start) => {
          // Threads beyond the last quad look at it too.
          const quad = start + threads <= quads ? k.add(k.threadIndex(), start) : k.min(k.add(k.threadIndex(), start), quads - 1);
          return { quad, words: k.loadVector(k.at(from, quad, 4), 4, { order: "relaxed" }) };
        });
        for (const { words } of loaded) for (const word of words) k.assign(wrong, k.or(wrong, k.xor(word, bit)));
        const missing = k.compare("ne", k.and(wrong, mark), 0);
        for (const [b, { quad, words }] of loaded.entries()) {
          const own = mine[b]! + threads <= quads ? undefined : k.compare("lt", k.threadIndex(), quads - mine[b]!);
          const arrived = k.not(missing);
          const values = words.map((word) => k.reinterpret("f32", k.and(word, 0xffffffff - mark)));
          k.store(k.at(to, quad, 4), values, { where: own ? k.and(arrived, own) : arrived });
        }
        return k.and(missing, k.not(patience.over(missing, lost)));
      });
    }
  }

  private reportStall(report: Pointer<"global", "b64">, step: Value<"u32">): void {
    const { k } = this;
    k.compareAndSwap(report, 0, k.join("b64", step, k.add(k.blockIndex(), 1)));
  }
}

/** A bound on a wait in ticks of the multiprocessor's clock, which is looked at each 64th time. */
class Patience {
  private readonly k: PtxKernel;
  private readonly limit: Value<"u64">;
  private readonly tries: Variable<"u32">;
  private readonly end: Variable<"u64">;

  constructor(k: PtxKernel, limit: Value<"u64">) {
    this.k = k;
    this.limit = limit;
    this.tries = k.variable("u32", 0);
    this.end = k.variable("u64", 0);
  }

  /** Whether the wait is over without what it waited for, which `lost` then holds too. */
  over(waiting: Value<"pred">, lost: Variable<"u32">): Value<"pred"> {
    const { k } = this;
    k.assign(this.tries, k.add(this.tries, 1));
    const looks = k.and(waiting, k.compare("eq", k.and(this.tries, 63), 0));
    k.if(looks, () => {
      const now = k.clock();
      k.if(k.compare("eq", this.end, 0), () => k.assign(this.end, k.add(now, this.limit)));
      k.assign(lost, k.select(k.compare("gt", now, this.end), k.constant("u32", 1), lost));
    });
    return k.compare("ne", lost, 0);
  }
}
