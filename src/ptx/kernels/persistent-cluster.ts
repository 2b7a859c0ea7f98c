// Many steps of one reservoir within one cluster of blocks, for the smallest ones: states are
// stored straight into the shared memory of the other blocks, and barrier objects there count their
// bytes. Portable arithmetic, as in persistent.ts. sm_90 and later.
import { type Pointer, PtxBuildError, type PtxKernel, type Value, type Variable } from "../builder/index.js";
import { checkSizes, type GeneratedKernel, generate, type KernelGeneratorOptions, range, refusal } from "./generated-kernel.js";
import { checkNeuron, type NeuronShape, NeuronStep, runArguments, stepArguments } from "./persistent-neuron.js";
import { DenseRows } from "./persistent-rows.js";

/** The reservoir that a cluster steps, and how its rows are shared out. */
export interface PersistentClusterShape extends NeuronShape {
  /** Neurons: up to 16 blocks of rowsPerWarp * warps rows. */
  readonly size: number;
  /** Rows that the 32 lanes of a warp share. Default 4. */
  readonly rowsPerWarp?: 1 | 2 | 4 | 8;
  /** Warps of a block. Default 4, or 8 if that would take more than 16 blocks. */
  readonly warps?: number;
}

export const persistentClusterName = "reservoir_persistent_cluster";

/**
 * The run of persistentGrid for a dense W within one cluster, whose blocks are the grid. Arguments:
 * weights, leak, drive, feedback, state (any numbers), states, report, steps, spinLimit and those
 * of noise, all as there.
 * @throws ArgumentError, PtxBuildError, PtxTargetError
 */
export function persistentCluster(shape: PersistentClusterShape, options: KernelGeneratorOptions = {}): GeneratedKernel {
  const { size, rowsPerWarp = 4, arithmetic } = shape;
  const warps = shape.warps ?? (128 * Math.ceil(size / 128) <= 16 * 4 * rowsPerWarp ? 4 : 8);
  const name = persistentClusterName;
  checkNeuron(name, shape);
  checkSizes(name, { size, warps }, 65536);
  if (![1, 2, 4, 8].includes(rowsPerWarp)) throw refusal(name, "rowsPerWarp", rowsPerWarp, "1, 2, 4 or 8");
  if (warps > 32 || (warps & (warps - 1)) !== 0) throw refusal(name, "warps", warps, "a power of two up to 32");
  const rows = new DenseRows(size, rowsPerWarp, arithmetic);
  const blocks = Math.ceil(rows.padded / (rowsPerWarp * warps));
  if (blocks > 16)
    throw new PtxBuildError(`${size} neurons take ${blocks} blocks of ${rowsPerWarp * warps} rows; a cluster has at most 16`, name);
  return generate({ name, grid: [blocks], block: [32 * warps], cluster: blocks, minBlocks: 1 }, options, (k) =>
    new PersistentCluster(k, rows, warps, blocks, shape).build(),
  );
}

/**
 * Where a lane sends its neuron's state: a place in another block's x, and the two barrier objects
 * there.
 */
interface Destination {
  readonly place: Pointer<"shared", "f32">;
  readonly barriers: Pointer<"shared", "b64">;
  /** False in lanes that are left over; undefined if none is. */
  readonly where: Value<"pred"> | undefined;
}

interface Wait {
  readonly spinLimit: Value<"u64">;
  readonly lost: Variable<"u32">;
  readonly report: Pointer<"global", "b64">;
  readonly step: Value<"u32">;
  readonly firstStep: Value<"u32"> | undefined;
}

class PersistentCluster {
  private readonly k: PtxKernel;
  private readonly rows: DenseRows;
  private readonly warps: number;
  private readonly blocks: number;
  private readonly shape: NeuronShape;

  constructor(k: PtxKernel, rows: DenseRows, warps: number, blocks: number, shape: NeuronShape) {
    this.k = k;
    this.rows = rows;
    this.warps = warps;
    this.blocks = blocks;
    this.shape = shape;
  }

  build(): void {
    const { k, rows, warps, shape } = this;
    const { padded } = rows;
    const weights = rows.parameters(k);
    const memory = stepArguments(k, shape);
    const report = k.pointer("b64", "report");
    const [steps, spinLimit] = [k.parameter("u32", "steps"), k.parameter("u64", "spinLimit")];
    const { firstStep, noise } = runArguments(k, shape);
    const x = k.shared("f32", 2 * padded);
    const barriers = k.shared("b64", 2);
    const leader = k.compare("eq", k.threadIndex(), 0);
    this.begin(memory.state, x, barriers, leader);
    const first = k.mul(k.mad(k.clusterRank(), warps, k.warpIndex()), rows.perWarp);
    rows.load(k, weights, first, warps);
    const neuron = new NeuronStep(k, rows, first, memory, steps, shape, noise);
    const destinations = this.destinations(k.at(x, neuron.place), barriers);
    // A lane that loses patience goes on to the end without waiting or sending: the lanes of a warp
    // need not agree on it.
    const lost = k.variable("u32", 0);
    const [here, there] = [k.variable("u32", 0), k.variable("u32", 1)];
    k.for("u32", { from: k.constant("u32", 0), to: steps }, (step) => {
      k.if(leader, () => k.expectBytes(k.at(barriers, there), 4 * padded));
      k.if(k.compare("ne", step, 0), () => this.wait(k.at(barriers, here), k.sub(step, 1), { spinLimit, lost, report, step, firstStep }));
      const value = neuron.advance(rows.dot(k, k.at(x, here, padded)));
      const patient = k.compare("eq", lost, 0);
      for (const { place, barriers: theirs, where } of destinations)
        k.storeAsync(k.at(place, there, padded), value, k.at(theirs, there), where ? k.and(patient, where) : patient);
      neuron.finish(step);
      k.assign(here, there);
      k.assign(there, k.xor(there, 1));
    });
    // The last states have come before a block ends, whose shared memory they are stored to.
    k.if(k.compare("ne", steps, 0), () =>
      this.wait(k.at(barriers, here), k.sub(steps, 1), { spinLimit, lost, report, step: steps, firstStep }),
    );
    neuron.end();
    k.clusterBarrier();
  }

  /**
   * The first states, and barrier objects that await one arrival, the leader's, with the bytes it
   * expects.
   */
  private begin(
    state: Pointer<"global", "f32">,
    x: Pointer<"shared", "f32">,
    barriers: Pointer<"shared", "b64">,
    leader: Value<"pred">,
  ): void {
    const { k, rows, warps } = this;
    k.for("u32", { from: k.threadIndex(), to: rows.padded, step: 32 * warps }, (neuron) => {
      const value = k.load(k.at(state, neuron), { where: k.compare("lt", neuron, rows.size), otherwise: 0 });
      k.store(k.at(x, rows.placeOf(k, neuron)), value);
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

  /**
   * Waits for the states of a step, at most so long; whoever waits in vain says so once and never
   * waits again.
   */
  private wait(barrier: Pointer<"shared", "b64">, awaited: Value<"u32">, { spinLimit, lost, report, step, firstStep }: Wait): void {
    const { k } = this;
    const parity = k.and(k.shr(awaited, 1), 1);
    const waits = (): Value<"pred"> => k.and(k.compare("eq", lost, 0), k.not(k.tryWait(barrier, parity)));
    k.if(waits(), () => {
      const end = k.add(k.clock(), spinLimit);
      k.repeatWhile(() => {
        k.assign(lost, k.select(k.compare("gt", k.clock(), end), k.constant("u32", 1), lost));
        return waits();
      });
      k.if(k.compare("ne", lost, 0), () =>
        k.compareAndSwap(report, 0, k.join("b64", firstStep ? k.add(firstStep, step) : step, k.add(k.clusterRank(), 1))),
      );
    });
  }
}
