// What an engine does not support is refused before it reaches the engine.
import { ArgumentError } from "@spillway/core/errors.js";
import { builtInNames, isOwnActivation } from "../activations.js";
import type { AnyModel } from "../composite/model.js";
import type { ReservoirConfig } from "../config.js";
import type { Engine } from "../engine.js";
import type { RegisteredReservoirConfig } from "../registered/options.js";

type Supporting = Pick<Engine, "name" | "supports">;

/** Refuses fields of a rate reservoir that an engine does not run. @throws ArgumentError */
export function checkRates(
  { name, supports }: Supporting,
  { activation, cell, arithmetic }: Partial<Pick<ReservoirConfig, "activation" | "cell" | "arithmetic">>,
): void {
  const refuse = (field: string, value: string, takes: string) => {
    throw new ArgumentError(field, value, takes);
  };
  const here = `on the engine "${name}"`;
  if (activation && isOwnActivation(activation) && !supports.has("ownActivations")) {
    const names = [...builtInNames].join(", ");
    refuse("activation", activation, `one of ${names} ${here}; a function of your own runs on "cpu" and "reference"`);
  }
  if (cell && !supports.has("cells"))
    refuse("cell", cell.type, `nothing ${here}, which has the leaky cell alone; "cpu" and "reference" run it`);
  if (arithmetic === "integer" && !supports.has("integers"))
    refuse("arithmetic", arithmetic, `"portable" or "fast" ${here}; "cpu", "cuda", "sim" and "reference" compute in integers`);
}

/** Refuses a registered kind on an engine that runs none. @throws ArgumentError */
export function checkKind({ name, supports }: Supporting, { kind }: RegisteredReservoirConfig): void {
  if (supports.has("registeredKinds")) return;
  throw ArgumentError.because(`kind is "${kind}"; the engine "${name}" runs no registered kinds, "cpu" and "reference" do`, {
    field: "kind",
    value: kind,
    expected: "a kind of reservoir that the engine runs",
  });
}

/** Refuses a model that an engine does not run. @throws ArgumentError */
export function checkSupported(engine: Supporting, model: AnyModel): void {
  if (model.kind === "composite") for (const part of model.parts) checkRates(engine, part.config);
  if (model.kind === "registered") checkKind(engine, model.config);
  if (model.kind === undefined) checkRates(engine, model.config);
}
