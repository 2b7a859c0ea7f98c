// Many steps of one reservoir in one launch: weights stay in registers, and only states travel,
// through L2 over the whole grid. Portable arithmetic, so the bits are those of every other engine.
// The cluster form is in persistent-cluster.ts.
import { type Pointer, PtxBuildError, type PtxKernel, type Value } from "../builder/index.js";
import {
  ceilDiv,
  checkSizes,
  checkWord,
  type GeneratedKernel,
  generate,
  type KernelGeneratorOptions,
  refusal,
} from "./generated-kernel.js";
import { AnyCode, collect, UnitCode } from "./persistent-exchange.js";
import { checkNeuron, type NeuronShape, NeuronStep, runArguments, stepArguments } from "./persistent-neuron.js";
import { DenseRows, type GroupStorage, type PersistentRows, SparseRows } from "./persistent-rows.js";

/** The reservoir that a persistent kernel steps, and how its rows are shared out. */
export interface PersistentShape extends NeuronShape {
  /** Neurons. */
  readonly size: number;
  /** Entries of the longest row, for a sparse W; left out, W is dense. */
  readonly longestRow?: number;
  /**
   * Dense: rows that the 32 lanes of a warp share. Sparse: rows that each 8 lanes take one after
   * the other.
   */
  readonly rowsPerWarp?: 1 | 2 | 4 | 8;
  /** Warps of a block. */
  readonly warps?: number;
  /** Blocks that are on the device at once. Default 132. */
  readonly multiprocessors?: number;
  /** Dense: where the columns lie, in groups of 128; default all in registers. */
  readonly groups?: GroupStorage;
  /**
   * "unit" (default) takes states in [-1, 1] and refuses others. "any" takes all: `places` are
   * more, given in words of 64 bits, `report` is three words (the kernel keeps the first two
   * between launches), and there is no `generation`.
   */
  readonly range?: "unit" | "any";
}

export const persistentGridName = ({ longestRow }: Pick<PersistentShape, "longestRow">): string =>
  longestRow === undefined ? "reservoir_persistent_grid" : "reservoir_persistent_sparse";

/** What the report holds if the launch was given states outside [-1, 1]. */
export const statesOutOfRange = 2n ** 64n - 1n;

interface Arrangement {
  readonly rows: PersistentRows;
  readonly warps: number;
  readonly blocks: number;
}

function arrange(shape: PersistentShape): Arrangement {
  const { size, longestRow, rowsPerWarp, multiprocessors = 132, arithmetic, groups } = shape;
  const name = persistentGridName(shape);
  checkSizes(name, { size, multiprocessors }, 65536);
  if (longestRow !== undefined) checkSizes(name, { longestRow }, size);
  if (rowsPerWarp !== undefined && ![1, 2, 4, 8].includes(rowsPerWarp)) throw refusal(name, "rowsPerWarp", rowsPerWarp, "1, 2, 4 or 8");
  if (shape.warps !== undefined) checkSizes(name, { warps: shape.warps }, 32);
  // The first that fits is taken; the order is that of an H200. Dense weights beyond 160 registers
  // a lane leave too few for the rest.
  const dense = [
    [4, 4],
    [2, 8],
    [4, 8],
    [8, 8],
    [8, 16],
  ] as const;
  const shapes =
    longestRow === undefined
      ? dense.filter(([rows]) => rows * Math.min(ceilDiv(size, 32), 4 * (groups?.held ?? size)) <= 160)
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
    const rows =
      longestRow === undefined ? new DenseRows(size, each, arithmetic, groups) : new SparseRows(size, longestRow, each, arithmetic);
    const blocks = ceilDiv(rows.padded, rows.perWarp * warps);
    if (blocks <= multiprocessors) return { rows, warps, blocks };
  }
  throw new PtxBuildError(`${size} neurons do not fit on ${multiprocessors} blocks at once`, name);
}

/**
 * x(t+1) = ((1 - a) x(t)) + (a f(drive(t) + W x(t) + feedback(t) + noise)) for a whole run, in
 * binary32 by docs/numerics.md rules 1 to 6. The launch is cooperative.
 *
 * Arguments: weights, N x N by rows (sparse: values and columns, N x slots, where slots is
 * longestRow up to a multiple of 8, rows filled up with value 0 and column 0); leak, N; drive,
 * steps x N; feedback, steps x N, if there is any; state, N numbers, before and after; states,
 * steps x N; places, 32-bit words (`persistentPlaces`), zeros before the first launch; report, one
 * 64-bit word; steps; generation, the steps done so far with these places; spinLimit, clock ticks;
 * firstStep, noiseLevel, key0, key1 and sequence, if there is noise.
 *
 * The report stays 0, or is (block + 1) * 2^32 + step if a block waited longer than the limit
 * for the states of a step, or statesOutOfRange. With `range: "any"` that is its third word, and
 * after such a wait state is not written.
 * @throws ArgumentError, PtxBuildError, PtxTargetError also if the weights do not fit in registers
 */
export function persistentGrid(shape: PersistentShape, options: KernelGeneratorOptions = {}): GeneratedKernel {
  const name = persistentGridName(shape);
  checkNeuron(name, shape);
  checkWord(name, "range", shape.range, ["unit", "any"]);
  const { rows, warps, blocks } = arrange(shape);
  return generate({ name, grid: [blocks], block: [32 * warps], minBlocks: 1, cooperative: true }, options, (k) =>
    new PersistentGrid(k, rows, warps, shape).build(),
  );
}

/** 32-bit words that the grid form wants for the states on their way. */
export function persistentPlaces(shape: PersistentShape): number {
  return (shape.range === "any" ? 6 : 2) * arrange(shape).rows.padded;
}

/** Static shared memory that states may take. */
const mostStatic = 40 * 1024;

class PersistentGrid {
  private readonly k: PtxKernel;
  private readonly rows: PersistentRows;
  private readonly warps: number;
  private readonly shape: PersistentShape;

  constructor(k: PtxKernel, rows: PersistentRows, warps: number, shape: PersistentShape) {
    this.k = k;
    this.rows = rows;
    this.warps = warps;
    this.shape = shape;
  }

  build(): void {
    const { k, rows, warps, shape } = this;
    const { padded } = rows;
    const { activation = "tanh", range = "unit" } = shape;
    const any = range === "any";
    const keepsRange = activation === "tanh" || activation === "sigmoid";
    if (!any && !keepsRange) throw new PtxBuildError(`range is "unit"; states of ${activation} take "any"`, k.name);
    const weights = rows.parameters(k);
    const memory = stepArguments(k, shape);
    const [places, report] = [(any ? k.pointer("b64", "places") : k.pointer("u32", "places")).as("u32"), k.pointer("b64", "report")];
    const steps = k.parameter("u32", "steps");
    const counted = any ? undefined : k.parameter("u32", "generation");
    const spinLimit = k.parameter("u64", "spinLimit");
    const { firstStep, noise } = runArguments(k, shape);
    const x = 8 * padded <= mostStatic ? k.shared("f32", 2 * padded) : k.dynamicShared("f32", 2 * padded);
    const outside = this.begin(memory.state, x);
    if (!any) this.refuse(outside, report);
    const first = k.mul(k.mad(k.blockIndex(), warps, k.warpIndex()), rows.perWarp);
    rows.load(k, weights, first, warps);
    const neuron = new NeuronStep(k, rows, first, memory, steps, shape, noise);
    const place = k.min(neuron.place, padded - 1);
    const run = (code: UnitCode | AnyCode, generation: Value<"u32">, stalled: Pointer<"global", "b64">): Value<"u32"> => {
      const buffer = k.variable("u32", 0);
      const lost = k.variable("u32", 0);
      const stopped = any ? k.variable("u32", 0) : undefined;
      const waiting = { code, padded, threads: 32 * warps, spinLimit, lost };
      k.for("u32", { from: k.constant("u32", 0), to: steps }, (step, loop) => {
        const value = neuron.advance(rows.dot(k, k.atBytes(x, buffer)));
        const now = k.add(generation, step);
        const mark = code.mark(now);
        const half = k.mul(k.and(now, 1), padded);
        code.send(half, value, mark, neuron.fills);
        neuron.finish(step);
        k.assign(buffer, k.sub(k.constant("u32", 4 * padded), buffer));
        collect(k, waiting, half, mark, k.atBytes(x, buffer));
        k.if(k.compare("ne", lost, 0), () => {
          const at = firstStep ? k.add(firstStep, step) : step;
          k.compareAndSwap(stalled, 0, k.join("b64", at, k.add(k.blockIndex(), 1)));
        });
        const leaves = k.barrierVote("or", k.compare("ne", lost, 0));
        if (stopped) k.assign(stopped, k.select(leaves, k.constant("u32", 1), stopped));
        loop.break(leaves);
      });
      return stopped ?? lost;
    };
    if (counted) {
      run(new UnitCode(k, places, place), counted, report);
      neuron.end();
      return;
    }
    const runAny = (code: UnitCode | AnyCode, kept: Pointer<"global", "b64">): void => {
      const [generation] = k.split("u32", k.load(kept));
      // What was read up to here may be written once others have seen a state of this block, and
      // the reverse at the end.
      k.barrier();
      k.fence("acq_rel", "gpu");
      const stopped = run(code, generation, report.plus(2));
      k.if(k.compare("eq", stopped, 0), () => {
        k.fence("acq_rel", "gpu");
        neuron.end();
        const leader = k.compare("eq", k.or(k.threadIndex(), k.blockIndex()), 0);
        k.store(kept, k.join("b64", k.add(generation, steps), k.constant("u32", 0)), { where: leader });
      });
    };
    const beyond = new AnyCode(k, places.plus(2 * padded).as("b64"), place);
    const unit = new UnitCode(k, places, place);
    if (!keepsRange) runAny(beyond, report.plus(1));
    else
      k.if(
        outside,
        () => runAny(beyond, report.plus(1)),
        () => runAny(unit, report),
      );
  }

  /**
   * Brings the first states to shared memory; true in all threads if one of them does not stay
   * within [-1, 1].
   */
  private begin(state: Pointer<"global", "f32">, x: Pointer<"shared", "f32">): Value<"pred"> {
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
    return k.barrierVote("or", k.compare("ne", bad, 0));
  }

  private refuse(outside: Value<"pred">, report: Pointer<"global", "b64">): void {
    const { k } = this;
    k.store(report, k.constant("b64", statesOutOfRange), { where: k.and(outside, k.compare("eq", k.threadIndex(), 0)) });
    k.exit(outside);
  }
}
