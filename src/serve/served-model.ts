// A model that is open, whatever kind it is: its routes and what it says of itself.
import { ArgumentError } from "@spillway/core/errors.js";
import type { JsonSchema } from "@spillway/core/options.js";
import type { AnomalyDetector, Classifier, Forecaster, LoadedReservoir, ModelKind } from "../model/index.js";
import type { Pipeline } from "../pipeline/index.js";
import type { AnyReservoirComputer } from "../reservoir/index.js";
import { describeStep, gridText } from "../series/time-grid.js";
import { ClassBatches, classRoutes } from "./classes.js";
import { detectorRoutes } from "./detector.js";
import { type Route, route } from "./route.js";
import { Sessions } from "./sessions.js";
import { stepByStepRoutes } from "./step-by-step.js";
import { forecasterSteps, reservoirSteps, type StepByStep } from "./steps.js";
import { Work } from "./work.js";

/** What can be served: a trained model, a detector, or a reservoir with or without a readout. */
// biome-ignore lint/suspicious/noExplicitAny: forecasters of any model.
export type ServableModel = Forecaster<any> | Classifier | Pipeline | AnomalyDetector | LoadedReservoir;

/** A model that is open, with what is answered by it. */
export interface ServedModel {
  readonly kind: ModelKind;
  /** The last row that it was trained on, its time stamp or number; if its file says so. */
  readonly trainedTo?: string | undefined;
  /** What runs it: the engine's name. */
  readonly engine: string;
  readonly routes: readonly Route[];
  /** Requests whose work waits or runs. */
  readonly waiting: () => number;
  readonly sessions: () => number;
  /** Ends event streams and sessions. */
  readonly end: () => void;
  /** Gives the model back when its work is over. */
  readonly dispose: () => Promise<void>;
}

/** What serves a model: limits of its work and of its sessions. */
export interface ServingOptions {
  readonly timeout: number;
  readonly maxSessions: number;
  readonly idle: number;
}

/** What differs between the kinds of models. */
interface Served extends Pick<ServedModel, "kind" | "trainedTo" | "engine" | "routes"> {
  /** What the model is, and its inputs. */
  readonly facts: () => Readonly<Record<string, unknown>>;
  readonly batches?: Pick<ClassBatches, "waiting">;
  readonly sessions?: Pick<Sessions<unknown>, "size" | "end">;
  readonly close: () => unknown;
}

/** The routes of a model and its description. @throws ArgumentError, NotFittedError */
export function servedModel(model: ServableModel, options: ServingOptions): ServedModel {
  const work = new Work(options.timeout);
  const { facts, routes, batches, sessions, close, ...about } = servedBy(model, work, options);
  return {
    ...about,
    routes: [modelRoute(facts), ...routes],
    waiting: () => work.waiting + (batches?.waiting ?? 0),
    sessions: () => sessions?.size ?? 0,
    end: () => sessions?.end(),
    dispose: () => work.last(async () => void (await close())),
  };
}

function servedBy(model: ServableModel, work: Work, options: ServingOptions): Served {
  if (typeof model !== "object" || model === null) throw new ArgumentError("model", model, takes);
  if ("feedback" in model) return detecting(model, work, options);
  if ("classifier" in model) return naming("pipeline", model, model.classifier.computers, work);
  if ("predictProba" in model) return naming("classifier", model, model.computers, work);
  if ("forecast" in model) return stepping(model.kind, forecasterSteps(model), work, options, () => model.dispose());
  if ("computer" in model) return stepping("reservoir", reservoirSteps(model), work, options, () => model.computer.dispose());
  throw new ArgumentError("model", model, takes);
}

const takes = "a trained forecaster, classifier or pipeline, a detector, or { computer, readout } of a reservoir";

function naming(kind: ModelKind, model: Classifier | Pipeline, computers: readonly AnyReservoirComputer[], work: Work): Served {
  const [computer] = computers as [AnyReservoirComputer];
  const neurons = Math.max(...computers.map(({ model: { size } }) => size));
  const batches = new ClassBatches(model, neurons, work);
  const { classes } = model;
  return {
    kind,
    engine: computer.engine.name,
    facts: () => ({ kind, inputs: kind === "pipeline" ? undefined : computer.model.inputSize, classes }),
    routes: classRoutes(model, neurons, batches),
    batches,
    close: () => model[Symbol.asyncDispose](),
  };
}

function stepping<State>(
  kind: ModelKind,
  model: StepByStep<State>,
  work: Work,
  { maxSessions, idle }: ServingOptions,
  close: () => unknown,
): Served {
  const sessions = new Sessions<State>(maxSessions, idle);
  const { engine, inputs, outputs, known, fedBack, horizon, keys = [] } = model;
  const facts = () => {
    const { grid, table } = model;
    const time = grid && { form: grid.form, step: describeStep(grid.step), trained: gridText(grid) };
    const { columns, scoredFrom, trainedTo = time?.trained } = table ?? {};
    return {
      ...{ kind, inputs, outputs, known, feedback: fedBack > 0, horizon },
      ...{ time, columns, trainedTo, scoredFrom, rows: model.rows, warmup: model.leastRows },
      ...(keys.length > 0 && { keys }),
    };
  };
  return { kind, trainedTo: facts().trainedTo, engine, facts, routes: stepByStepRoutes(model, work, sessions), sessions, close };
}

function detecting(detector: AnomalyDetector, work: Work, { maxSessions, idle }: ServingOptions): Served {
  const sessions = new Sessions<Float64Array>(maxSessions, idle);
  const kind = "detector";
  const { columns, alarmRate, detect } = detector.settings;
  const { rows } = detector;
  const facts = () => ({ kind, columns, alarmRate, detect, rows });
  return { kind, engine: "cpu", facts, routes: detectorRoutes(detector, work, sessions), sessions, close: () => {} };
}

function modelRoute(facts: Served["facts"]): Route {
  const schema: JsonSchema = { type: "object", properties: { kind: { type: "string" } }, required: ["kind"] };
  return route({
    method: "GET",
    path: "/model",
    summary: "What the model is, and its inputs.",
    answer: { status: 200, description: "Kind, columns of inputs and outputs, classes.", schema },
    run: facts,
  });
}
