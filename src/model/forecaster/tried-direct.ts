// The direct member of a combination: which penalty forecasts best from earlier rows.
import { orDispose } from "@spillway/core/disposal.js";
import type { Matrix } from "@spillway/numerics";
import type { AnyReservoirComputer } from "../../reservoir/index.js";
import { DirectMember, DirectTraining, directShape, directShares } from "./direct.js";
import { bestOf, type Tried, type Validation } from "./tried.js";
import { forecastAll } from "./validation.js";

/** The direct member takes part from so many rows on. */
export const fewestDirectRows = 150;

/**
 * The direct member with the best penalty; undefined if there are too few rows.
 * @param from opens its reservoir; or one of several series, which is not given back here
 */
export async function tryDirect(
  validation: Validation,
  from: AnyReservoirComputer | (() => Promise<AnyReservoirComputer>),
  signal: AbortSignal | undefined,
): Promise<Tried | undefined> {
  const { data, filled, origins, horizon, season, parts } = validation;
  const series = data.held ?? data.series;
  const { rows } = series;
  if (rows < fewestDirectRows) return undefined;
  const isOwn = typeof from === "function";
  const computer = isOwn ? await from() : from;
  const training = new DirectTraining(computer, series, filled, directShape(rows, horizon, season));
  const close = async () => {
    training.dispose();
    if (isOwn) await computer.dispose();
  };
  const direct = async (): Promise<Tried | undefined> => {
    await training.add(origins[0]!, signal);
    if (!training.isEnough) {
      await close();
      return undefined;
    }
    const members = training.members(directShares, validation);
    const first = members.find((one) => one instanceof DirectMember);
    first?.start({ series: parts.training[0]!.series });
    const made = await forecastAll([data], parts, members, { horizon }, signal);
    const { index, scores } = bestOf(made, directShares, validation);
    if (index < 0) {
      await close();
      return undefined;
    }
    return {
      name: "direct",
      forecasts: made[index] as Matrix<Float64Array>,
      scores,
      async train(work) {
        await training.add(rows, work.signal);
        const [member] = training.members([directShares[index]!], validation);
        if (!(member instanceof DirectMember)) throw member!;
        member.start({ series });
        training.dispose();
        return { members: [member], groups: [0] };
      },
      dispose: close,
    };
  };
  return orDispose({ dispose: close }, direct);
}
