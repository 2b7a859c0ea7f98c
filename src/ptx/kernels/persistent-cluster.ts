// Many steps of one reservoir within one cluster of blocks, for the smallest ones: states are stored straight into the shared memory of the
// other blocks, and barrier objects there count their bytes. Portable arithmetic, as in persistent.ts. sm_90 and later.
import { type Pointer, PtxBuildError, type PtxKernel, type Value, type Variable } from "../builder/index.js";
import { checkSizes, generate, type GeneratedKernel, type GeneratorOptions, range } from "./generated-kernel.js";
import { Patience } from "./persistent.js";
import { DenseRows, NeuronStep } from "./persistent-rows.js";

export interface PersistentClusterShape {
  /** Neurons: up to 16 blocks of rowsPerWarp * warps rows. */
  readonly size: number;
  /** Rows that the 32 lanes of a warp share. Default 4. */
  readonly rowsPerWarp?: 1 | 2 | 4 | 8;
  /** Warps of a block. Default 8. */
  readonly warps?: number;
}

export const persistentClusterName = "reservoir_persistent_cluster";

/**
 * The run of persistentGrid for a dense W within one cluster, whose blocks are the grid. Arguments: weights, leak, drive, state (any numbers), states, report, steps,
 * spinLimit, all as there.
 * @throws PtxBuildError, PtxTargetError
 */
export function persistentCluster(shape: PersistentClusterShape, options: GeneratorOptions = {}): GeneratedKernel {
  const { size, rowsPerWarp = 4, warps = 8 } = shape;
  const name = persistentClusterName;
  checkSizes(name, { size, warps }, 65536);
  if (![1, 2, 4, 8].includes(rowsPerWarp)) throw new PtxBuildError(`rowsPerWarp is ${rowsPerWarp}; it takes 1, 2, 4 or 8`, name);
  if (warps > 32 || (warps & (warps - 1)) !== 0) throw new PtxBuildError(`warps is ${warps}; it takes a power of two up to 32`, name);
  const rows = new DenseRows(size, rowsPerWarp);
  const blocks = Math.ceil(rows.padded / (rowsPerWarp * warps));
  if (blocks > 16)
    throw new PtxBuildError(`${size} neurons take ${blocks} blocks of ${rowsPerWarp * warps} rows; a cluster has at most 16`, name);
  return generate({ name, grid: [blocks], block: [32 * warps], cluster: blocks, minBlocks: 1 }, options, (k) =>
    new PersistentCluster(k, rows, warps, blocks).build(),
  );
}

/** Where a lane sends its neuron's state: a place in another block's x, and the two barrier objects there. */
interface Destination {
  readonly place: Pointer<"shared", "f32">;
  readonly barriers: Pointer<"shared", "b64">;
  /** False in lanes that are left over; undefined where none is. */
  readonly where: Value<"pred"> | undefined;
}

class PersistentCluster {
  private readonly k: PtxKernel;
  private readonly rows: DenseRows;
  private readonly warps: number;
  private readonly blocks: number;

  constructor(k: PtxKernel, rows: DenseRows, warps: number, blocks: number) {
    this.k = k;
    this.rows = rows;
    this.warps = warps;
    this.blocks = blocks;
  }

  build(): void {
    const { k, rows, warps } = this;
    const { padded } = rows;
    const weights = rows.parameters(k);
    const [leak, drive, state, states] = ["leak", "drive", "state", "states"].map((name) => k.pointer("f32", name));
    const report = k.pointer("b64", "report");
    const [steps, spinLimit] = [k.parameter("u32", "steps"), k.parameter("u64", "spinLimit")];
    const x = k.shared("f32", 2 * padded);
    const barriers = k.shared("b64", 2);
    const leader = k.compare("eq", k.threadIndex(), 0);
    this.begin(state!, x, barriers, leader);
    const firstRow = k.mul(k.mad(k.clusterRank(), warps, k.warpIndex()), rows.perWarp);
    rows.load(k, weights, firstRow);
    const neuron = new NeuronStep(k, rows, firstRow, { leak: leak!, drive: drive!, state: state!, states: states! }, steps);
    const destinations = this.destinations(k.at(x, rows.position(k, neuron.index)), barriers);
    const [lost, none] = [k.variable("u32", 0), k.constant("u32", 0)];
    k.for("u32", { from: none, to: steps }, (step, loop) => {
      const here = k.and(step, 1);
      const there = k.xor(here, 1);
      k.if(leader, () => k.expectBytes(k.at(barriers, there), 4 * padded));
      k.if(k.compare("ne", step, 0), () => this.wait(k.at(barriers, here), k.and(k.shr(k.sub(step, 1), 1), 1), spinLimit, lost));
      k.if(k.compare("ne", lost, 0), () => k.compareAndSwap(report, 0, k.join("b64", step, k.add(k.clusterRank(), 1))));
      loop.break(k.vote("any", k.compare("ne", lost, 0)));
      const value = neuron.advance(rows.dot(k, k.at(x, here, padded)));
      for (const { place, barriers: theirs, where } of destinations)
        k.storeAsync(k.at(place, there, padded), value, k.at(theirs, there), where);
      neuron.finish(step);
    });
    // The last states have come before a block ends, whose shared memory they are stored to.
    const last = k.sub(steps, 1);
    k.if(k.and(k.compare("ne", steps, 0), k.compare("eq", lost, 0)), () =>
      this.wait(k.at(barriers, k.and(steps, 1)), k.and(k.shr(last, 1), 1), spinLimit, lost),
    );
    neuron.end();
    k.clusterBarrier();
  }

  /** The first states, and barrier objects that await one arrival, the leader's, with the bytes it expects. */
  private begin(
    state: Pointer<"global", "f32">,
    x: Pointer<"shared", "f32">,
    barriers: Pointer<"shared", "b64">,
    leader: Value<"pred">,
  ): void {
    const { k, rows, warps } = this;
    k.for("u32", { from: k.threadIndex(), to: rows.padded, step: 32 * warps }, (neuron) => {
      const value = k.load(k.at(state, neuron), { where: k.compare("lt", neuron, rows.size), otherwise: 0 });
      k.store(k.at(x, rows.position(k, neuron)), value);
    });
    k.if(leader, () => {
      for (const parity of [0, 1]) k.initBarrierObject(barriers.plus(parity), 1);
      k.fenceBarrierInit();
    });
    k.clusterBarrier();
  }

  /** Lanes with the same neuron share the blocks of the cluster out among them. */
  private destinations(place: Pointer<"shared", "f32">, barriers: Pointer<"shared", "b64">): Destination[] {
    const { k, rows, blocks } = this;
    const share = 32 / rows.perWarp;
    const first = k.rem(k.and(k.threadIndex(), 31), share);
    return range(Math.ceil(blocks / share)).map((turn) => {
      const rank = turn === 0 ? first : k.add(first, turn * share);
      const all = (turn + 1) * share <= blocks;
      const there = all ? rank : k.min(rank, blocks - 1);
      const where = all ? undefined : k.compare("lt", rank, blocks);
      return { place: k.inCluster(place, there), barriers: k.inCluster(barriers, there), where };
    });
  }

  /** Waits for a phase of a barrier object, or until `lost` is set. */
  private wait(barrier: Pointer<"shared", "b64">, parity: Value<"u32">, spinLimit: Value<"u64">, lost: Variable<"u32">): void {
    const { k } = this;
    const patience = new Patience(k, spinLimit);
    k.repeatWhile(() => {
      const waiting = k.not(k.tryWait(barrier, parity));
      return k.and(waiting, k.not(patience.over(waiting, lost)));
    });
  }
}
