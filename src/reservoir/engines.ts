// The list of engines, and the choice among them. The package's index names them and where they are
// loaded from.
import { checkHas } from "@spillway/core/checks.js";
import { deviceName } from "@spillway/core/device-name.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { getOrMake } from "@spillway/core/maps.js";
import { suggestion } from "@spillway/core/near-names.js";
import { callback, flag, given, type InputOf, number, option, optional, resolve } from "@spillway/core/options.js";
import { nameTaken } from "@spillway/core/registry.js";
import type { Context } from "@spillway/gpu";
import type { EngineSelection } from "./computer-options.js";
import { EngineUnavailableError } from "./engine/errors.js";
import type { Engine, EngineFeature, EngineOptions, EngineStatus } from "./engine.js";
import { contextKind } from "./options.js";
import type { AnyShape, ModelShape } from "./shape.js";

export const registrationTable = {
  /**
   * Whether "auto" may choose it. Of several, the first registered is the one that the others must
   * be faster than.
   */
  automatic: given(flag, 'Whether "auto" may choose it.'),
  /** Whether it is there once for each device, "cuda:1" beside "cuda". Default false. */
  numbered: option(flag, false, "Whether it is there once for each device."),
  /**
   * How many devices there are, of an engine that is numbered: then several can be named,
   * "cuda:0-3" or "cuda:all". Left out, they cannot.
   */
  count: optional(callback<() => Promise<number>>(), "How many devices there are; left out, several cannot be named."),
  /** Whether it needs Node. Default false. */
  needsNode: option(flag, false, "Whether it needs Node."),
  /** No step of it is faster than this. If another is, "auto" need not even load it. Default 0. */
  leastMicroseconds: option(number({ atLeast: 0, unit: "microseconds" }), 0, "No step of it is faster than this."),
};

/** How an engine is known. */
export interface RegistrationOptions extends InputOf<typeof registrationTable> {}

/** A registered engine and how to load it. */
interface Registration extends RegistrationOptions {
  readonly name: string;
  /** What was registered. */
  readonly given: LoadEngine;
  /** The same, once for each device. */
  readonly load: LoadEngine;
}

type LoadEngine = (device: number) => Promise<Engine>;

const registrations = new Map<string, Registration>();

/** An engine that has to be started and fed is worth it if a step is faster by this factor. */
const worthwhile = 2;

/**
 * Makes an engine known under a name. It is loaded once, when it is asked for; `load` is given the
 * number of the device, 0 unless named. The same function again changes nothing.
 * @throws ArgumentError for a name that another engine has, "auto" among them
 */
export function registerEngine(name: string, load: (device: number) => Promise<Engine>, options: RegistrationOptions): void {
  const known = resolve(registrationTable, options, "registerEngine");
  const there = registrations.get(name);
  if (there?.given === load) return;
  if (there || name === "auto") throw nameTaken("registerEngine", "engine", name);
  const loaded = new Map<number, Promise<Engine>>();
  const once = (device: number): Promise<Engine> => getOrMake(loaded, device, () => checkedEngine(name, load, device));
  registrations.set(name, { name, given: load, load: once, ...known });
}

/** @throws ArgumentError if what is loaded lacks a member that every engine has */
async function checkedEngine(name: string, load: LoadEngine, device: number): Promise<Engine> {
  const takes = "a function that loads an engine: an object of name, supports, probe, plan and open";
  return checkHas(`registerEngine: load of "${name}"`, await load(device), takes, "name", "supports", "probe", "plan", "open");
}

let loadOnContext: ((context: Context) => Promise<Engine>) | undefined;

/**
 * Registers engines that run on an open device. `load` throws ArgumentError if it gets no open
 * device.
 */
export function registerContextEngine(load: (context: Context) => Promise<Engine>): void {
  loadOnContext = load;
}

/**
 * The engine on a device that is open. @throws EngineUnavailableError for another engine by `name`,
 * or a device that is disposed or lost
 */
export async function engineOn(context: Context, name = "auto"): Promise<EngineChoice> {
  if (!loadOnContext) throw new EngineUnavailableError(name, 'no engine is registered; import "spillway" itself, not only a part of it');
  const engine = await loadOnContext(contextKind.read(context, "context"));
  if (name !== "auto" && name !== engine.name)
    throw new EngineUnavailableError(name, `the context is of the engine "${engine.name}"; leave engine out, or leave context out`);
  const status = await engine.probe();
  if (!status.available) throw new EngineUnavailableError(engine.name, status.reason);
  return { engine, reason: `the context was given; ${status.reason}` };
}

/** Names of the engines that can be asked for. */
export function engineNames(): string[] {
  return [...registrations.keys()];
}

/** An engine and why it was chosen. */
export interface EngineChoice {
  readonly engine: Engine;
  readonly reason: string;
}

/**
 * Loads an engine by name, or for "auto" the one whose steps are modelled to be fastest for the
 * work's sizes, those of one reservoir or of all members of an ensemble; without sizes, the first
 * that runs here.
 * @throws EngineUnavailableError
 */
export async function chooseEngine(name = "auto", shape?: AnyShape | readonly AnyShape[]): Promise<EngineChoice> {
  if (registrations.size === 0)
    throw new EngineUnavailableError(name, 'no engine is registered; import "spillway" itself, not only a part of it');
  return name === "auto" ? automatic(shape) : named(name);
}

/**
 * The engine of an open device, if one is given, else as {@link chooseEngine}. A plan is checked
 * against it. @throws EngineUnavailableError; ArgumentError for a plan on an engine without plans
 */
export async function selectEngine(
  { context, engine: name, plan, kernelSource }: Pick<EngineSelection, "context" | "engine" | "plan"> & Pick<EngineOptions, "kernelSource">,
  shape: () => Promise<AnyShape | readonly AnyShape[] | undefined>,
): Promise<EngineChoice> {
  const choice = context ? await engineOn(context, name) : await chooseEngine(name, await shape());
  checkPlanOptions(choice.engine, { plan, kernelSource });
  return choice;
}

/**
 * The device that work runs on which no reservoir decides; undefined for engines of the host and
 * "auto". @throws EngineUnavailableError
 */
export async function deviceOf({ context, engine = "auto" }: Pick<EngineSelection, "context" | "engine">): Promise<Context | undefined> {
  if (context) await engineOn(context, engine);
  return context ?? (engine === "auto" ? undefined : (await chooseEngine(engine)).engine.device?.context());
}

/** The registered engine and the devices that a name means. @throws EngineUnavailableError */
function find(name: string): { readonly known: Registration; readonly devices: readonly number[] | "all" } {
  const { family, devices = [0] } = deviceName(name) ?? { family: name.split(":")[0]! };
  const known = registrations.get(family);
  const bare = name === family;
  const single = devices !== "all" && devices.length === 1;
  if (known && deviceName(name) && (bare || (known.numbered && (single || known.count)))) return { known, devices };
  const near = suggestion(family, engineNames());
  throw new EngineUnavailableError(name, `there is no engine of that name; it takes "auto", ${nameList()}${near}`);
}

/** Refuses a name that no engine has, before any work. @throws EngineUnavailableError */
export function checkEngineName(name: string): void {
  if (name !== "auto") find(name);
}

async function named(name: string): Promise<EngineChoice> {
  const { known, devices } = find(name);
  if (known.needsNode && !inNode()) throw new EngineUnavailableError(name, "it runs in Node only");
  const engine = await loadOn(name, known, devices);
  const status = await engine.probe();
  if (!status.available) throw new EngineUnavailableError(name, status.reason);
  return { engine, reason: `asked for; ${status.reason}` };
}

/** The engine on a device, or one that distributes work over several. */
async function loadOn(name: string, known: Registration, devices: readonly number[] | "all"): Promise<Engine> {
  let numbers = devices;
  if (numbers === "all") {
    try {
      numbers = Array.from({ length: await known.count!() }, (_, device) => device);
    } catch (error) {
      throw new EngineUnavailableError(name, (error as Error).message.split("\n")[0]!);
    }
    if (numbers.length === 0) throw new EngineUnavailableError(name, "there is no device");
  }
  const engines = await Promise.all(numbers.map((device) => known.load(device)));
  if (engines.length === 1) return engines[0]!;
  const { distributedEngine } = await import("./engine/distributed.js");
  return distributedEngine(name, engines);
}

/** What sizes say of a reservoir that not every engine runs. */
const lacking: readonly { readonly feature: EngineFeature; readonly field: keyof ModelShape; readonly why: string }[] = [
  { feature: "ownActivations", field: "ownActivation", why: "runs no activation function of your own" },
  { feature: "cells", field: "cell", why: "has the leaky cell alone" },
  { feature: "integers", field: "integers", why: "has no integer arithmetic" },
];

/**
 * Looks at automatic engines in the order of their registration, and no further than one can be
 * worth it.
 */
async function automatic(work: AnyShape | readonly AnyShape[] | undefined): Promise<EngineChoice> {
  const shapes = work && ("length" in work ? work : [work]);
  const notes: string[] = [];
  let compared = false;
  let best: { engine: Engine; status: EngineStatus; cost: number | undefined } | undefined;
  for (const registration of registrations.values()) {
    if (!registration.automatic || (registration.needsNode && !inNode())) continue;
    const { leastMicroseconds = 0 } = registration;
    if (best && (best.cost === undefined || best.cost < worthwhile * leastMicroseconds)) {
      if (best.cost !== undefined)
        notes.push(
          `${registration.name} was not asked: no step there takes less than ${leastMicroseconds} us, and it would have to be twice as fast`,
        );
      continue;
    }
    const engine = await registration.load(0);
    const status = await engine.probe();
    if (!status.available) {
      // Only the finding: the error for a request for the engine says what to install.
      notes.push(`${engine.name} is not available: ${status.reason.split("; ")[0]}`);
      continue;
    }
    const lacks = lacking.find(({ feature, field }) => !engine.supports.has(feature) && shapes?.some((shape) => field in shape));
    if (lacks) {
      notes.push(`${engine.name} ${lacks.why}`);
      continue;
    }
    let cost: number | undefined;
    try {
      cost = shapes && costOf(engine, shapes);
    } catch (error) {
      notes.push(`${engine.name} does not take it: ${(error as Error).message}`);
      continue;
    }
    if (best?.cost !== undefined && cost === undefined) continue;
    if (best?.cost !== undefined && cost !== undefined) {
      const [slower, faster] = [`${format(best.cost)} us on ${best.engine.name}`, `${format(cost)} us on ${engine.name}`];
      const enough = cost * worthwhile <= best.cost;
      const why = enough || cost >= best.cost ? "" : ", which is not twice as fast";
      notes.push(`a step of ${sizesOf(shapes!)} is modelled at ${slower} and ${faster}${why}`);
      compared = true;
      if (!enough) continue;
    }
    best = { engine, status, cost };
  }
  if (!best) throw new EngineUnavailableError("auto", notes.join("; "));
  const alone = best.cost !== undefined && !compared ? [`a step of ${sizesOf(shapes!)} is modelled at ${format(best.cost)} us`] : [];
  return { engine: best.engine, reason: [`auto: ${best.status.reason}`, ...alone, ...notes].join("; ") };
}

/**
 * Microseconds of a step of all reservoirs: together if the engine does that, else one after the
 * other; undefined if it has no model of it.
 */
function costOf(engine: Engine, shapes: readonly AnyShape[]): number | undefined {
  const together = engine.cost?.microseconds(shapes);
  if (together !== undefined || shapes.length === 1) return together;
  const known = new Map<string, number | undefined>();
  let sum: number | undefined = 0;
  for (const shape of shapes) {
    const key = JSON.stringify(shape);
    if (!known.has(key)) known.set(key, engine.cost?.microseconds([shape]));
    const cost = known.get(key);
    if (cost === undefined) return undefined;
    sum += cost;
  }
  return sum;
}

/** "50 neurons", or "1000 reservoirs of 50 to 200 neurons". */
function sizesOf(shapes: readonly AnyShape[]): string {
  const sizes = shapes.map(({ size }) => size);
  const [least, most] = [sizes.reduce((a, b) => Math.min(a, b)), sizes.reduce((a, b) => Math.max(a, b))];
  const neurons = `${least === most ? "" : `${least} to `}${most} neurons`;
  return shapes.length === 1 ? neurons : `${shapes.length} reservoirs of ${neurons}`;
}

/** What every registered engine says of itself. */
export async function probeEngines(): Promise<{ name: string; status: EngineStatus }[]> {
  const usable = [...registrations.values()].filter(({ needsNode }) => !needsNode || inNode());
  return Promise.all(usable.map(async ({ name, load }) => ({ name, status: await (await load(0)).probe() })));
}

function nameList(): string {
  const names = [...registrations.values()].flatMap(({ name, numbered }) => (numbered ? [`"${name}"`, `"${name}:1"`] : [`"${name}"`]));
  return names.join(", ").replace(/, ([^,]*)$/, " or $1");
}

const inNode = (): boolean => globalThis.process?.versions?.node !== undefined;

const format = (microseconds: number): string => microseconds.toPrecision(2).replace(/e\+(\d+)$/, (_, zeros) => `e${zeros}`);

/**
 * Refuses options that choose among plans if an engine has none to choose from. @throws
 * ArgumentError
 */
export function checkPlanOptions(engine: Engine, { plan, kernelSource }: Pick<EngineOptions, "plan" | "kernelSource">): void {
  if (engine.supports.has("plans")) return;
  for (const [name, value] of Object.entries({ plan, kernelSource })) {
    if (value !== undefined && value !== "auto")
      throw ArgumentError.because(`${name} is ${JSON.stringify(value)}; the engine "${engine.name}" has only one way to run`, {
        field: name,
      });
  }
}
