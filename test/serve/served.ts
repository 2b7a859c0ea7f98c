// Models in files, and servers of them, for tests.

import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type ClientRequest, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import "../../src/index.js";
import { AnomalyDetector, Classifier, FieldForecaster, Forecaster, NvarForecaster, saveReservoir } from "../../src/model/index.js";
import { Pipeline } from "../../src/pipeline/index.js";
import { ReservoirComputer } from "../../src/reservoir/index.js";
import { type ModelServer, type ServeOptions, serveModel } from "../../src/serve/index.js";

/** A wave of some rows from a row on. */
export const wave = (rows: number, from = 0) => Array.from({ length: rows }, (_, t) => [Math.sin(0.3 * (t + from))]);
/** A wave that runs around a ring of 6 sites. */
export const ring = Array.from({ length: 160 }, (_, t) => Array.from({ length: 6 }, (_, c) => Math.sin(0.3 * t + (c * Math.PI) / 3)));
/** A swing of 30 rows, slow or quick. */
export const swing = (rate: number, phase = 0) => Array.from({ length: 30 }, (_, t) => [Math.sin(rate * t + phase)]);

/** Time stamps of some days from a day on. */
export const days = (count: number, from = 0) =>
  Array.from({ length: count }, (_, t) => new Date(Date.UTC(2024, 0, 1 + from + t)).toISOString().slice(0, 10));

const cases = Array.from({ length: 8 }, (_, k) => [swing(0.2, k), swing(0.6, k)]).flat();
const labels = cases.map((_, k) => (k % 2 === 0 ? "slow" : "quick"));
const reservoir = { size: 30, seed: 1 };

const makers: Readonly<Record<string, (path: string) => Promise<void>>> = {
  async forecaster(path) {
    await using model = await Forecaster.fit(wave(300), { reservoir, engine: "cpu" });
    await model.save(path);
  },
  async lagged(path) {
    await using model = await Forecaster.fit(wave(300), { reservoir, lags: 4, engine: "cpu" });
    await model.save(path);
  },
  async calendar(path) {
    const known = wave(300).map((_, t) => [t % 7]);
    await using model = await Forecaster.fit({ series: wave(300), known }, { reservoir, engine: "cpu" });
    await model.save(path);
  },
  /** Days with the weekday, a known column, and bands. */
  async timed(path) {
    const known = wave(200).map((_, t) => [t % 5]);
    const data = { series: wave(200), known, times: days(200) };
    const how = { reservoir: { size: 20, seed: 1 }, members: 1, horizon: 8, calendar: ["weekday"], engine: "cpu" } as const;
    await using model = await Forecaster.fit(data, { ...how, table: { columns: ["flow"], known: ["open"], time: "day" } });
    await model.save(path);
  },
  async ensemble(path) {
    await using model = await Forecaster.fit(wave(300), { reservoir, members: 3, engine: "cpu" });
    await model.save(path);
  },
  async combined(path) {
    await using model = await Forecaster.fit(wave(40), { horizon: 4, members: ["theta", "damped"], engine: "cpu" });
    await model.save(path);
  },
  async several(path) {
    const sequences = new Map(["north", "south"].map((key, s) => [key, wave(90, 7 * s)]));
    await using model = await Forecaster.fit({ sequences }, { horizon: 4, members: ["theta", "pooled"], engine: "cpu" });
    await model.save(path);
  },
  async nvar(path) {
    await using model = await NvarForecaster.fit(wave(300), { delays: 3 });
    await model.save(path);
  },
  async knownNvar(path) {
    const known = wave(300).map((_, t) => [t % 7]);
    await using model = await NvarForecaster.fit({ series: wave(300), known }, { delays: 3 });
    await model.save(path);
  },
  async field(path) {
    await using model = await FieldForecaster.fit(ring, { reservoir, groups: 3, halo: 1, engine: "cpu" });
    await model.save(path);
  },
  /** Two members of a ring with a known column, of which values were missing. */
  async knownField(path) {
    const series = ring.map((row, t) => (t % 9 === 4 ? [...row.slice(0, 5), Number.NaN] : row));
    const data = { series, known: ring.map((_, t) => [t % 7]) };
    await using model = await FieldForecaster.fit(data, { reservoir, groups: 3, halo: 1, missing: "mask", members: 2, engine: "cpu" });
    await model.save(path);
  },
  async pair(path) {
    const inputs = wave(300).map(([x]) => [x!, x! ** 2]);
    await using model = await Forecaster.fit({ inputs, targets: wave(300, 1) }, { reservoir, engine: "cpu" });
    await model.save(path);
  },
  async generator(path) {
    await using model = await Forecaster.fit(wave(300), { reservoir: { ...reservoir, feedback: { scaling: 0.5 } }, engine: "cpu" });
    await model.save(path);
  },
  async classifier(path) {
    await using model = await Classifier.fit(cases, labels, { reservoir, engine: "cpu" });
    await model.save(path);
  },
  async pipeline(path) {
    await using model = await new Pipeline({ reservoir }, { engine: "cpu" }).fit(cases, labels);
    await model.save(path);
  },
  async detector(path) {
    const detector = await AnomalyDetector.create({ size: 5 });
    detector.detect(wave(300));
    await detector.save(path);
  },
  async reservoir(path) {
    await using computer = await ReservoirComputer.create({ ...reservoir, inputSize: 2 }, { engine: "cpu" });
    await saveReservoir(path, computer);
  },
};

/** A folder of models that is made as they are asked for. */
export class Models implements AsyncDisposable {
  readonly #folder: string;
  readonly #made = new Map<string, Promise<string>>();
  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async create(): Promise<Models> {
    return new Models(await mkdtemp(join(tmpdir(), "spillway-serve-")));
  }

  /** The path of a model. */
  path(name: string): Promise<string> {
    const path = join(this.#folder, `${name}.safetensors`);
    const made = this.#made.get(name) ?? makers[name]!(path).then(() => path);
    this.#made.set(name, made);
    return made;
  }

  /** A server of a model on a free port. */
  async serve(name: string, options: ServeOptions = {}): Promise<ModelServer> {
    return serveModel(await this.path(name), { port: 0, engine: "cpu", ...options });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }
}

export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: unknown;
}

/** A server, as far as it has to be known to be asked. */
type Asked = Pick<ModelServer, "port">;

/** Begins to send JSON, in pieces: its length is not known before. */
export function startPost({ port }: Asked, path: string): ClientRequest {
  return request({ port, host: "127.0.0.1", method: "POST", path, headers: { "content-type": "application/json" }, agent: false });
}

/** Sends a request and reads the answer; a body that is no text is sent as JSON. */
export async function ask(
  { port }: Asked,
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answered> {
  const json = body === undefined ? {} : { "content-type": "application/json" };
  const sent = request({ port, host: "127.0.0.1", method, path, headers: { ...json, ...headers }, agent: false });
  sent.end(body === undefined || typeof body === "string" ? body : JSON.stringify(body));
  const [response] = (await once(sent, "response")) as [import("node:http").IncomingMessage];
  let text = "";
  for await (const part of response) text += String(part);
  const isJson = response.headers["content-type"] === "application/json" && text !== "";
  return { status: response.statusCode!, headers: response.headers, body: isJson ? JSON.parse(text) : text };
}

/** Sends a body and gives what stands in the answer. @throws Error if the answer is a refusal */
export async function post<Body>(server: Asked, path: string, body: unknown): Promise<Body> {
  const answered = await ask(server, "POST", path, body);
  if (answered.status >= 300) throw new Error(JSON.stringify(answered.body));
  return answered.body as Body;
}
