// A model file opened for serving: whatever kind it is, its routes and what it says of itself.
import type { JsonSchema } from "@spillway/core/options.js";
import { readBytes } from "@spillway/io";
import { Classifier, decodeReservoir, FieldForecaster, Forecaster, type ModelKind, NvarForecaster } from "../model/index.js";
import { decodeModelFile } from "../model/model-file.js";
import { Pipeline } from "../pipeline/index.js";
import type { AnyReservoirComputer } from "../reservoir/index.js";
import { describeStep, gridText } from "../series/time-grid.js";
import { ClassBatches, classRoutes, type NamesClasses } from "./classes.js";
import { type Route, route } from "./route.js";
import { Sessions } from "./sessions.js";
import { stepByStepRoutes } from "./step-by-step.js";
import { forecasterSteps, reservoirSteps, type StepByStep } from "./steps.js";
import { Work } from "./work.js";

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

export interface ServingOptions {
  readonly engine?: string | undefined;
  readonly threads?: number | undefined;
  readonly timeout: number;
  readonly maxSessions: number;
  readonly idle: number;
}

/** Opens a model file of any kind. @throws FileError with the reason if it cannot be used */
export async function openServed(path: string, { engine, threads, timeout, maxSessions, idle }: ServingOptions): Promise<ServedModel> {
  const bytes = await readBytes(path);
  const { kind } = await decodeModelFile(bytes, path);
  const open = { engine, threads, source: path };
  const work = new Work(timeout);
  const named = (model: Omit<NamesClasses, "neurons"> & AsyncDisposable, computers: readonly AnyReservoirComputer[]): ServedModel => {
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
  const stepped = <State>(model: StepByStep<State>, owner: { dispose(): Promise<void> }): ServedModel => {
    const sessions = new Sessions<State>(maxSessions, idle);
    const { inputs, outputs, known, fedBack, grid, horizon, table } = model;
    const time = grid && { form: grid.form, step: describeStep(grid.step), trained: gridText(grid) };
    const { columns, trainedTo = time?.trained, scoredFrom } = table ?? {};
    const facts = { inputs, outputs, known, feedback: fedBack > 0, horizon, time, columns, trainedTo, scoredFrom };
    return {
      kind,
      trainedTo,
      engine: model.engine,
      routes: [modelRoute({ kind, ...facts }), ...stepByStepRoutes(model, work, sessions)],
      waiting: () => work.waiting,
      sessions: () => sessions.size,
      end: () => sessions.end(),
      dispose: () => work.last(() => owner.dispose()),
    };
  };
  switch (kind) {
    case "classifier": {
      const classifier = await Classifier.fromBytes(bytes, open);
      return named(classifier, classifier.computers);
    }
    case "pipeline": {
      const pipeline = await Pipeline.fromBytes(bytes, open);
      return named(pipeline, pipeline.classifier.computers);
    }
    case "forecaster": {
      const forecaster = await Forecaster.fromBytes(bytes, open);
      return stepped(forecasterSteps(forecaster), forecaster);
    }
    case "nvar": {
      const forecaster = await NvarForecaster.fromBytes(bytes, open);
      return stepped(forecasterSteps(forecaster), forecaster);
    }
    case "field": {
      const forecaster = await FieldForecaster.fromBytes(bytes, open);
      return stepped(forecasterSteps(forecaster), forecaster);
    }
    case "reservoir": {
      const loaded = await decodeReservoir(bytes, open);
      return stepped(reservoirSteps(loaded), loaded.computer);
    }
  }
}

function modelRoute(facts: Readonly<Record<string, unknown>>): Route {
  const schema: JsonSchema = { type: "object", properties: { kind: { type: "string" } }, required: ["kind"] };
  return route({
    method: "GET",
    path: "/model",
    summary: "What the model is, and what it takes.",
    answer: { status: 200, description: "Kind, columns of inputs and outputs, classes.", schema },
    run: () => facts,
  });
}
