// Networks of populations on a device: drawn there if their rules allow it, and run there.
import { disposeQuietlyAsync, type Held, Making } from "@spillway/core/disposal.js";
import type { Context, Stream } from "@spillway/gpu";
import { EngineCapacityError, EngineUnavailableError, formatBytes } from "../../../reservoir/engine.js";
import {
  type DeviceSlots,
  type DeviceTable,
  drawTable,
  isDrawnThere,
  largestReach,
  packSlots,
  slotsSum,
  tableSum,
  uploadTable,
} from "../../../spikes/gpu/network/table.js";
import { checkLargestSum, drawSynapses, initialValues } from "../../../spikes/network/draw.js";
import { whyGeneral } from "../../../spikes/network/engines.js";
import type { NetworkModel, NetworkPlan, PlasticTable } from "../../../spikes/network/plan.js";
import { initialState } from "../../../spikes/network/session.js";
import { isSimulated } from "../device.js";
import { usableMemory } from "../memory.js";
import { spinLimitOf } from "../spin-limit.js";
import { type NetworkLaunch, type NetworkPlanName, planLaunch } from "./launch.js";
import { generalNeuronsOf, isPlastic, type NetworkNeurons, neuronsOf, signsOf, sourceClasses } from "./neurons.js";
import { plasticBytes } from "./plasticity.js";
import { DeviceNetwork } from "./stepper.js";

/** How a network runs on a device. */
export interface DeviceNetworkOptions {
  /**
   * "slots" keeps pending input in the blocks' shared memory, "table" in global memory; "general"
   * is slower and runs every network whose weights stay, "plastic" those with plastic projections.
   * Left out, the first of them that runs this one.
   */
  readonly plan?: NetworkPlanName | undefined;
  /** Clock ticks after which a wait between blocks is an error; default 8e9. */
  readonly spinLimit?: number | undefined;
  /** What errors and summaries call the engine; default "cuda". */
  readonly engine?: string | undefined;
}

/**
 * Draws a network's synapses, on the device if its rules allow it, else on the host, and puts it
 * there in its first state. A model is drawn already.
 * @throws EngineUnavailableError for a network that the plan asked for does not run,
 * EngineCapacityError before anything is drawn if it does not fit, ArgumentError as `drawNetwork`
 */
export async function openNetwork(
  context: Context,
  plan: NetworkPlan | NetworkModel,
  options: DeviceNetworkOptions = {},
): Promise<DeviceNetwork> {
  const { info } = context;
  const engine = options.engine ?? "cuda";
  if (info.attributes.cooperativeLaunch === 0) throw new EngineUnavailableError(engine, `${info.name} has no cooperative launches`);
  const wanted = wantedPlan(plan, options.plan, engine);
  const start = "synapses" in plan ? plan : initialValues(plan);
  const isGeneral = wanted === "general" || wanted === "plastic";
  const neurons = isGeneral ? generalNeuronsOf(plan, start.drive) : neuronsOf(plan, start.drive);
  const launch = checkedLaunch(context, plan, neurons, wanted);
  using memory = new Making();
  using drawing = new Making();
  const stream = drawing.own(context.stream({ label: "drawing of a network" }));
  const began = performance.now();
  const { table, plastic } = await tableOf(stream, context, plan, launch.plan === "slots" ? drawing : memory);
  const slots =
    launch.plan === "slots"
      ? await packSlots(stream, context, table, { classes: sourceClasses(plan), blocks: launch.blocks }, memory)
      : undefined;
  await stream.done();
  const drawingMs = performance.now() - began;
  const sum = slots ? await slotsSum(stream, context, slots, table.sources) : await tableSum(stream, context, table);
  await stream.done();
  drawing.dispose();
  const facts = {
    ...{ summary: `${engine}: ${summaryOf(launch, table, slots, plastic)}`, tableSum: sum.toString(16).padStart(16, "0"), drawingMs },
    stepsPerCall: isSimulated(context) ? 50 : Math.max(200, Math.min(10_000, Math.floor(8e8 / plan.size))),
  };
  const parts = { launch, neurons, synapses: slots ?? table, signs: signsOf(plan), plastic, memory };
  const network = new DeviceNetwork(context, plan, facts, { ...parts, spinLimit: spinLimitOf(options.spinLimit) });
  memory.done();
  try {
    network.setState(initialState({ ...plan, ...start, plastic }));
    return network;
  } catch (error) {
    await disposeQuietlyAsync([network]);
    throw error;
  }
}

/**
 * The kernel of a network; undefined leaves the choice to its size. @throws EngineUnavailableError
 */
function wantedPlan(plan: NetworkPlan, asked: NetworkPlanName | undefined, engine: string): NetworkPlanName | undefined {
  const why = whyGeneral(plan);
  const needed = isPlastic(plan) ? "plastic" : why ? "general" : undefined;
  const refused = (reason: string, instead: string) =>
    new EngineUnavailableError(engine, `the plan "${asked}" does not run it: ${reason}; take ${instead}, or leave it out`);
  if (needed && asked && asked !== needed) throw refused(why!, `"${needed}"`);
  if (!needed && asked === "plastic") throw refused("it has no plastic projections", '"general"');
  return needed ?? asked;
}

async function tableOf(
  stream: Stream,
  context: Context,
  plan: NetworkPlan | NetworkModel,
  held: Held,
): Promise<{ readonly table: DeviceTable; readonly plastic: readonly PlasticTable[] }> {
  if ("synapses" in plan) return { table: uploadTable(context, plan.synapses, held), plastic: plan.plastic };
  if (!isDrawnThere(plan)) {
    const { synapses, plastic } = drawSynapses(plan);
    return { table: uploadTable(context, synapses, held), plastic };
  }
  const table = await drawTable(stream, context, plan, held);
  checkLargestSum(plan, await largestReach(stream, context, table, plan.receptors * plan.size));
  return { table, plastic: [] };
}

/** The layout, checked against the device's memory before anything is drawn. */
function checkedLaunch(
  context: Context,
  plan: NetworkPlan,
  { background }: NetworkNeurons,
  wanted: NetworkPlanName | undefined,
): NetworkLaunch {
  const { info } = context;
  const classes = sourceClasses(plan);
  const shape = {
    size: plan.size,
    synapses: plan.expectedSynapses,
    longestDelay: plan.ringRows - 1,
    classes: classes.length,
    thresholds: background?.thresholds.length ?? 0,
    distributions: background ? background.thresholds.length / background.count : 0,
  };
  const launch = planLaunch(shape, info, wanted);
  const what = `a network of ${plan.size} neurons with ${Math.round(plan.expectedSynapses).toLocaleString("en")} synapses on ${info.name}`;
  const limit = usableMemory(info);
  const constant = plan.projections.filter(({ plasticity }) => plasticity === null);
  const tableBytes =
    (plan.oneSign ? 6 : 8) * constant.reduce((sum, each) => sum + synapsesOf(each), 0) +
    4 * plan.projections.reduce((sum, { source }) => sum + source.size, 0);
  const fixed = plan.size * (64 + 8 * plan.currents + 8 * plan.receptors * (launch?.rows ?? 64)) + plasticBytes(plan, synapsesOf) + 2 ** 20;
  if (tableBytes + fixed > limit) throw new EngineCapacityError(what, tableBytes + fixed, limit, "take fewer synapses");
  if (launch?.plan !== "slots") {
    if (launch) return launch;
    throw new EngineUnavailableError("cuda", `${what} does not fit the plan "slots": take "table", or leave it out`);
  }
  const slotBytes = classes.reduce((sum, { first, size }) => {
    const own = plan.projections.filter(({ source }) => source.first < first + size && source.first + source.size > first);
    const mean = own.reduce((all, each) => all + synapsesOf(each), 0) / size / launch.blocks;
    return sum + 4 * size * launch.blocks * (8 + mean + 7 * Math.sqrt(mean));
  }, 0);
  if (tableBytes + slotBytes + fixed <= limit) return launch;
  if (wanted === "slots") throw new EngineCapacityError(what, tableBytes + slotBytes + fixed, limit, 'take the plan "table"');
  return planLaunch(shape, info, "table")!;
}

/** Synapses of a projection, on average. */
function synapsesOf({ rule, source, target }: NetworkPlan["projections"][number]): number {
  switch (rule.rule) {
    case "fixedTotalNumber":
      return rule.number;
    case "fixedInDegree":
      return rule.number * target.size;
    case "fixedOutDegree":
      return rule.number * source.size;
    case "list":
      return rule.synapses.length;
    case "oneToOne":
      return source.size;
    case "bernoulli":
      return rule.probability * source.size * target.size;
    default:
      return source.size * target.size;
  }
}

function summaryOf(
  { plan, blocks, threads }: NetworkLaunch,
  { synapses }: DeviceTable,
  slots: DeviceSlots | undefined,
  plastic: readonly PlasticTable[],
): string {
  const bytes = formatBytes(slots?.bytes ?? 6 * synapses);
  const changing = plastic.reduce((sum, { packed }) => sum + packed.length, 0);
  const more = changing > 0 ? `, ${changing.toLocaleString("en")} plastic ones` : "";
  return `${plan}, ${blocks} blocks of ${threads} threads, ${synapses.toLocaleString("en")} synapses in ${bytes}${more}`;
}
