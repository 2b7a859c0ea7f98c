// A forecaster in the memory of a module: its members, where they stand, and room for a step.
import type { ReservoirModel } from "../../reservoir/index.js";
import { loopOf, shapeOf } from "../c/program.js";
import { checkMembers, type RateMember, unheld } from "../c/refuse.js";
import type { ForecasterParts } from "../forecaster/file.js";
import { aligned, bytesOf, ModelMemory, memberWords, type Words, wordsOf } from "./memory.js";
import { bytesOfNumbers, plainReservoir, reservoirWords, stateBytes } from "./reservoir.js";

type PlainMember = RateMember & { readonly model: ReservoirModel };

/** What a host has to know of a forecaster. */
export interface ForecasterAbout {
  readonly kind: "forecaster";
  /** Values of a row that `predict` takes. */
  readonly inputs: number;
  readonly outputs: number;
  /** Values that are known of a row; 0 unless `observe` stands in the place of `predict`. */
  readonly known: number;
  readonly feedback: boolean;
  /** Values from outside that each step of a closed loop takes; -1 if there is no closed loop. */
  readonly outside: number;
}

/** @throws ArgumentError for what the module does not hold */
export function forecasterMemory(
  parts: ForecasterParts,
  calendar: readonly unknown[],
): { readonly memory: ModelMemory; readonly about: ForecasterAbout } {
  if (calendar.length > 0) throw unheld("takes the calendar", "calendar");
  if (parts.settings.missing === "mask") throw unheld("takes a mask of missing values", "missing");
  const members = checkMembers(parts).map((member) => ({ ...member, model: plainReservoir(member.parts) }));
  const [{ model, road }] = members as [PlainMember];
  if (road.transforms.steps.length > 0) throw unheld("transforms its series", "transforms");
  const shape = shapeOf("model", members, parts);
  const { inputs, outputs, feedback, lags } = shape;
  const observes = shape.known > 0 && !feedback;
  const numbers = bytesOfNumbers(model);
  const memory = new ModelMemory();
  const places = stateOf(members, outputs);
  const [begin, reset] = [new Uint8Array(places.bytes), new Uint8Array(places.bytes)];
  const mostRows = Math.max(1, ...lags);
  begin.set(bytesOf("int32", [Math.min(mostRows, shape.seenRows)]));
  const state = memory.room(places.bytes);
  const records = members.map((member, k): Words<typeof memberWords> => {
    const { readout } = member;
    const { loopScale, loop, held, recent } = loopOf(member, shape);
    const place = places.members[k]!;
    const real = (values: ArrayLike<number>) => bytesOf(model.precision, values);
    const double = (values: ArrayLike<number> | undefined) => memory.array("float64", values);
    const at = member.state.reservoir;
    begin.set(stateBytes(member.model, at.values), place.x);
    begin.set(real(at.input), place.u);
    begin.set(real(feedback ? at.output : recent.subarray(0, outputs)), place.fed);
    begin.set(real(recent.subarray(0, member.lags * outputs)), place.recent);
    reset.set(stateBytes(member.model, member.model.initialState), place.x);
    return {
      ...reservoirWords(member.model, memory),
      features: readout.weights.cols,
      squareHalf: Number(readout.features.state === "squareHalf"),
      squares: Number(readout.features.squares),
      sees: Number(readout.features.input),
      lags: member.lags,
      readout: double(readout.weights.data),
      intercept: double(readout.intercept),
      loopReadout: double(loop.weights.data),
      loopIntercept: double(loop.intercept),
      inputMean: double(member.road.inputScale.mean),
      inputDeviation: double(member.road.inputScale.deviation),
      targetMean: double(member.road.targetScale.mean),
      targetDeviation: double(member.road.targetScale.deviation),
      loopMean: double(loopScale.mean),
      loopDeviation: double(loopScale.deviation),
      lower: double(held?.lower),
      upper: double(held?.upper),
      x: state + place.x,
      u: state + place.u,
      fed: state + place.fed,
      recent: state + place.recent,
    };
  });
  const most = shape.largest;
  const features = Math.max(...members.map(({ readout }) => readout.weights.cols), 2 * members.length);
  memory.head({
    ...{ realBytes: numbers.real, integers: Number(shape.integers), members: members.length, inputs, outputs },
    ...{ feedback: Number(feedback), held: Number(shape.held), mostRows },
    leastRows: observes ? mostRows : Math.max(0, ...lags),
    table: memory.array("int32", wordsOf(memberWords, records)),
    ...{ state, stateBytes: places.bytes, begin: memory.bytes(begin), reset: memory.bytes(reset) },
    input: memory.room(8 * (inputs + 2 * outputs)),
    output: memory.room(8 * outputs),
    partial: memory.room(32 * 8),
    next: memory.room(most * numbers.real),
    features: memory.room(8 * features),
    driven: memory.room(4 * (inputs + outputs)),
    made: memory.room(8 * outputs * members.length),
    y: memory.room(numbers.real * outputs),
    groups: memory.array("int32", parts.groups),
    groupCount: Math.max(...parts.groups) + 1,
  });
  const about = { kind: "forecaster", inputs, outputs, known: observes ? shape.known : 0, feedback } as const;
  return { memory, about: { ...about, outside: shape.closes ? inputs - (feedback ? 0 : outputs) : -1 } };
}

/** Offsets in the state of what each member remembers, behind the count of rows. */
function stateOf(members: readonly PlainMember[], outputs: number) {
  let bytes = 16;
  const take = (count: number) => {
    const at = bytes;
    bytes += aligned(count);
    return at;
  };
  const places = members.map(({ model, lags }) => {
    const { real, state } = bytesOfNumbers(model);
    return {
      x: take(model.size * state),
      u: take(model.inputSize * real),
      fed: take(outputs * real),
      recent: take(lags * outputs * real),
    };
  });
  return { members: places, bytes };
}
