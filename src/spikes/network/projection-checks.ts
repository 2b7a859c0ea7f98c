// What the rules and weights of a projection must be for its populations.
import { ArgumentError } from "@spillway/core/errors.js";
import { stepsIn } from "../steps.js";
import type { PopulationConfig, ProjectionConfig, SpikeTimingConfig } from "./config.js";
import type { NeuronRange } from "./plan.js";

/** @throws ArgumentError if the rule cannot connect the neurons of its two ranges */
export function checkRule(
  { from, to, connect, multiple, selfConnections }: ProjectionConfig,
  field: string,
  source: NeuronRange,
  target: NeuronRange,
  timeStep: number,
): void {
  const at = `${field}.connect`;
  const [sources, targets] = [source.size, target.size];
  if ("number" in connect && connect.number > 0 && !selfConnections) {
    // These rules draw a partner for each synapse: of only one, which may be the neuron itself.
    const [only, others] = connect.rule === "fixedInDegree" ? [source, target] : [target, source];
    if (only.size === 1 && only.first >= others.first && only.first < others.first + others.size)
      throw new ArgumentError(
        `${field}.selfConnections`,
        selfConnections,
        `true with ${connect.rule} from ${from} to ${to}: a neuron there has no partner but itself`,
      );
  }
  switch (connect.rule) {
    case "fixedTotalNumber":
      if (!multiple) throw new ArgumentError(`${field}.multiple`, multiple, "true with fixedTotalNumber; bernoulli never has several");
      break;
    case "fixedInDegree":
    case "fixedOutDegree": {
      const others = connect.rule === "fixedInDegree" ? sources : targets;
      if (!multiple && connect.number > others / 2)
        throw new ArgumentError(`${at}.number`, connect.number, `at most half of ${others} if multiple is false`);
      break;
    }
    case "oneToOne":
      if (sources !== targets) throw new ArgumentError(at, connect.rule, `populations of one size, and not of ${sources} and ${targets}`);
      break;
    case "list":
      connect.synapses.forEach((synapse, k) => {
        const [from, to, weight, delay] = synapse;
        const isIn = (value: number, size: number) => Number.isInteger(value) && value >= 0 && value < size;
        const isWhole = isIn(from!, sources) && isIn(to!, targets);
        const steps = delay === undefined ? 1 : stepsIn(delay, timeStep);
        if (
          !isWhole ||
          !(synapse.length === 2 || (synapse.length === 4 && Number.isFinite(weight) && steps >= (delay === 0 ? 0 : 1) && steps <= 65534))
        )
          throw new ArgumentError(
            `${at}.synapses[${k}]`,
            synapse,
            `[source below ${sources}, target below ${targets}], and behind them weight and delay or neither`,
          );
      });
      break;
    case "distance": {
      const points = connect.grid?.reduce((product, side) => product * side, 1) ?? Number.POSITIVE_INFINITY;
      const most = Math.max(sources, targets);
      if (points < most) throw new ArgumentError(`${at}.grid`, connect.grid, `at least as many points as there are neurons, ${most}`);
      break;
    }
    default:
  }
}

/** @throws ArgumentError if a weight onto a conductance may be below 0 */
export function checkConductances(
  { receptor, weight, connect }: ProjectionConfig,
  { receptors }: PopulationConfig,
  least: number,
  field: string,
): void {
  if (receptors[receptor]!.reversalPotential === null) return;
  const takes = `weights of at least 0, as ${receptor} is a conductance; distributions take least: 0`;
  if (least < 0) throw new ArgumentError(`${field}.weight`, weight, takes);
  const listed = connect.rule === "list" ? connect.synapses.findIndex((each) => (each[2] ?? 0) < 0) : -1;
  if (listed >= 0 && connect.rule === "list")
    throw new ArgumentError(`${field}.connect.synapses[${listed}]`, connect.synapses[listed], takes);
}

/** @throws ArgumentError if a weight may begin with another sign, or beyond its bounds */
export function checkSizes(
  { weight, connect }: ProjectionConfig,
  { minimumWeight, maximumWeight }: SpikeTimingConfig,
  sign: number,
  least: number,
  most: number,
  field: string,
): void {
  const between = `${Math.min(sign * minimumWeight, sign * maximumWeight)} to ${Math.max(sign * minimumWeight, sign * maximumWeight)}`;
  const isIn = (size: number) => size >= minimumWeight * (1 - 1e-12) && size <= maximumWeight * (1 + 1e-12);
  if (!isIn(least) || !isIn(most))
    throw new ArgumentError(
      `${field}.weight`,
      weight,
      `weights from ${between}, the bounds of its plasticity; distributions take least and most`,
    );
  if (connect.rule !== "list") return;
  const outside = connect.synapses.findIndex((each) => each.length === 4 && !isIn(sign * each[2]!));
  if (outside >= 0)
    throw new ArgumentError(
      `${field}.connect.synapses[${outside}]`,
      connect.synapses[outside],
      `weights from ${between}, as its plasticity`,
    );
}
