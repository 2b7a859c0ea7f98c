// A model that is open, whatever kind it is: its routes and what it says of itself.
import { ArgumentError } from "@spillway/core/errors.js";
import type { JsonSchema } from "@spillway/core/options.js";
import type { AnomalyDetector, Classifier, Forecaster, LoadedReservoir, ModelKind } from "../model/index.js";
import type { Pipeline } from "../pipeline/index.js";
import type { AnyReservoirComputer } from "../reservoir/index.js";
import { describeStep, gridText } from "../series/time-grid.js";
import { ClassBatches, classRoutes, type NamesClasses } from "./classes.js";
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

/** The routes of a model and its description. @throws ArgumentError, NotFittedError */
export function servedModel(model: ServableModel, { timeout, maxSessions, idle }: ServingOptions): ServedModel {
  const work = new Work(timeout);
  const named = (kind: ModelKind, model: Classifier | Pipeline, computers: readonly AnyReservoirComputer[]): ServedModel => {
    const [computer] = computers as [AnyReservoirComputer];
    const classes: NamesClasses = {
      classes: model.classes,
      neurons: Math.max(...computers.map(({ model: { size } }) => size)),
      predict: (sequences, options) => model.predict(sequences, options),
      predictProba: (sequences, options) => model.predictProba(sequences, options),
    };
    const batches = new ClassBatches(classes, work);
    const facts = { inputs: kind === "pipeline" ? undefined : computer.model.inputSize, classes: model.classes };
    return {
      kind,
      engine: computer.engine.name,
      routes: [modelRoute({ kind, ...facts }), ...classRoutes(classes, batches)],
      waiting: () => work.waiting + batches.waiting,
      sessions: () => 0,
      end: () => {},
      dispose: () => work.last(() => Promise.resolve(model[Symbol.asyncDispose]())),
    };
  };
  const stepped = <State>(kind: ModelKind, model: StepByStep<State>, owner: { dispose(): Promise<void> }): ServedModel => {
    const sessions = new Sessions<State>(maxSessions, idle);
    const { inputs, outputs, known, fedBack, horizon, keys = [] } = model;
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
    return {
      kind,
      trainedTo: facts().trainedTo,
      engine: model.engine,
      routes: [modelRoute(facts), ...stepByStepRoutes(model, work, sessions)],
      waiting: () => work.waiting,
      sessions: () => sessions.size,
      end: () => sessions.end(),
      dispose: () => work.last(() => owner.dispose()),
    };
  };
  const detecting = (detector: AnomalyDetector): ServedModel => {
    const sessions = new Sessions<Float64Array>(maxSessions, idle);
    const { columns, alarmRate, detect } = detector.settings;
    const facts = { kind: "detector", columns, alarmRate, detect, rows: detector.rows };
    return {
      kind: "detector",
      engine: "cpu",
      routes: [modelRoute(facts), ...detectorRoutes(detector, work, sessions)],
      waiting: () => work.waiting,
      sessions: () => sessions.size,
      end: () => sessions.end(),
      dispose: () => work.last(() => Promise.resolve()),
    };
  };
  if (typeof model !== "object" || model === null) throw new ArgumentError("model", model, takes);
  if ("feedback" in model) return detecting(model);
  if ("classifier" in model) return named("pipeline", model, model.classifier.computers);
  if ("predictProba" in model) return named("classifier", model, model.computers);
  if ("forecast" in model) return stepped(model.kind, forecasterSteps(model), model);
  if ("computer" in model) return stepped("reservoir", reservoirSteps(model), model.computer);
  throw new ArgumentError("model", model, takes);
}

const takes = "a trained forecaster, classifier or pipeline, a detector, or { computer, readout } of a reservoir";

function modelRoute(facts: Readonly<Record<string, unknown>> | (() => Readonly<Record<string, unknown>>)): Route {
  const schema: JsonSchema = { type: "object", properties: { kind: { type: "string" } }, required: ["kind"] };
  return route({
    method: "GET",
    path: "/model",
    summary: "What the model is, and its inputs.",
    answer: { status: 200, description: "Kind, columns of inputs and outputs, classes.", schema },
    run: () => (typeof facts === "function" ? facts() : facts),
  });
}
