// A study in Redis or Valkey, in the keys that Optuna's JournalRedisBackend uses. The server orders
// the records; nobody locks.
import { checkText } from "@spillway/core/checks.js";
import { ArgumentError, SpillwayError } from "@spillway/core/errors.js";
import { type InputOf, number, option, optional, resolve, text } from "@spillway/core/options.js";
import { describe, visible } from "@spillway/core/text.js";
import { FileError } from "@spillway/io/errors.js";
import type { StudyOperation, StudyStorage } from "../storage.js";
import { RecordError } from "./record-error.js";
import { decodeRecord, encodeRecord } from "./records.js";

export const redisJournalTable = {
  /** What its keys begin with, as Optuna's `prefix`. Default that of the address, or none. */
  prefix: optional(text(), "What its keys begin with, as Optuna's prefix; left out, that of the address, or none."),
  /** Seconds in which the server has to answer a call; default 60. */
  timeout: option(number({ above: 0, unit: "seconds" }), 60, "Seconds in which the server has to answer a call."),
};

/** Where in a server a journal lies. */
export interface RedisJournalOptions extends InputOf<typeof redisJournalTable> {}

/** What is used of a client. */
interface Client {
  connect(): Promise<void>;
  setnx(key: string, value: string): Promise<number>;
  get(key: string): Promise<string | null>;
  mget(...keys: string[]): Promise<(string | null)[]>;
  eval(script: string, keys: number, ...rest: string[]): Promise<unknown>;
  on(event: "error", listener: (error: Error) => void): unknown;
  once(event: "close", listener: () => void): unknown;
  off(event: "close", listener: () => void): unknown;
  disconnect(reconnect?: boolean): void;
}

/**
 * Appends records, each as Optuna's own script does: a number is drawn and the record stands under
 * it. ARGV: prefix, how many records are there ("" for any number), records.
 */
const script = `
local number = string.format('%s:log_number', ARGV[1])
redis.call('setnx', number, '-1')
if ARGV[2] ~= '' and tonumber(redis.call('get', number)) ~= tonumber(ARGV[2]) - 1 then return 0 end
for i = 3, #ARGV do
  local at = redis.call('incr', number)
  redis.call('set', string.format('%s:log:%d', ARGV[1], at), ARGV[i])
end
return 1`;

/** Records that are read at a time. */
const piece = 1000;
/**
 * Milliseconds in which a server has to answer the first time, or a record has to follow its
 * number.
 */
const patience = 10_000;

/**
 * A study's operations in Redis or Valkey, as Optuna's JournalRedisBackend keeps them: processes in
 * Python and here may share it. It takes the package `iovalkey` or `ioredis`, which is the user's
 * to install. How durable an append is, is the server's setting (`appendonly yes`). Optuna's
 * snapshots are neither read nor written.
 * @param url redis://host:6379/0?prefix=name, also rediss:// and valkey://
 * @throws ArgumentError for another address; SpillwayError "unavailable" if there is no client, or no server; from any call if the
 * server does not answer. Then the call may have been carried out
 */
export async function redisJournal(url: string, options: RedisJournalOptions = {}): Promise<StudyStorage> {
  checkText("url", url);
  const given = resolve(redisJournalTable, options, "redisJournal");
  const address = addressOf(url);
  const prefix = given.prefix ?? address.searchParams.get("prefix") ?? "";
  address.searchParams.delete("prefix");
  const client = await clientOf(address.href);
  return new RedisJournal(client, prefix, shownUrl(address.href), 1000 * given.timeout);
}

class RedisJournal implements StudyStorage {
  readonly name: string;
  readonly #client: Client;
  readonly #prefix: string;

  readonly #timeoutMs: number;

  constructor(client: Client, prefix: string, name: string, timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
    this.#client = client;
    this.#prefix = prefix;
    this.name = name;
  }

  async append(operations: readonly StudyOperation[], expected?: number): Promise<boolean> {
    const records = operations.map(encodeRecord);
    const args = [this.#prefix, expected === undefined ? "" : String(expected), ...records];
    return (await this.#answer(() => this.#client.eval(script, 0, ...args))) === 1;
  }

  async read(from: number): Promise<readonly StudyOperation[]> {
    const number = (await this.#answer(() => this.#client.get(`${this.#prefix}:log_number`))) ?? "-1";
    const last = Number(number);
    if (!Number.isSafeInteger(last) || last < -1)
      throw new FileError(
        this.name,
        `its ${this.#prefix}:log_number is ${describe(number)}; it takes the number of its last record`,
        "content",
      );
    if (last + 1 < from)
      throw new FileError(this.name, `it has ${last + 1} records and had ${from}; another journal replaced it`, "content");
    const out: StudyOperation[] = [];
    for (let begin = from; begin <= last; begin += piece) {
      const records = await this.#records(begin, Math.min(piece, last + 1 - begin));
      for (const [i, record] of records.entries()) out.push(this.#decoded(record, begin + i));
    }
    return out;
  }

  /**
   * Records whose numbers were drawn. One that is not there yet is waited for, since in a cluster
   * these are two commands; one that is gone would be waited for without an end.
   */
  async #records(begin: number, count: number): Promise<readonly string[]> {
    const keys = Array.from({ length: count }, (_, i) => `${this.#prefix}:log:${begin + i}`);
    const end = performance.now() + Math.min(patience, this.#timeoutMs);
    for (let wait = 1; ; wait = Math.min(2 * wait, 100)) {
      const records = await this.#answer(() => this.#client.mget(...keys));
      const missing = records.indexOf(null);
      if (missing < 0) return records as readonly string[];
      if (performance.now() >= end)
        throw new FileError(
          this.name,
          `record ${begin + missing} is not there, and later ones are counted; a server that throws keys away when its memory is full (maxmemory-policy) keeps no study`,
          "content",
        );
      await new Promise((later) => setTimeout(later, wait));
    }
  }

  async close(): Promise<void> {
    this.#client.disconnect();
  }

  /** What the server answers. One that does not in time gets a new connection for the next call. */
  async #answer<Answer>(call: () => Promise<Answer>): Promise<Answer> {
    // The client keeps a call until it is connected again, which may be never.
    let onClose = (): void => undefined;
    let timer: NodeJS.Timeout | undefined;
    const lost = new Promise<never>((_, reject) => {
      onClose = () => reject(this.#silence("the connection is lost"));
      timer = setTimeout(() => {
        reject(this.#silence(`no answer in ${this.#timeoutMs / 1000} s`));
        this.#client.disconnect(true);
      }, this.#timeoutMs);
    });
    this.#client.once("close", onClose);
    try {
      const answer = call();
      answer.catch(() => undefined);
      return await Promise.race([answer, lost]);
    } catch (error) {
      throw error instanceof SpillwayError ? error : this.#silence(visible((error as Error).message, 500), error);
    } finally {
      clearTimeout(timer);
      this.#client.off("close", onClose);
    }
  }

  #silence(reason: string, cause?: unknown): SpillwayError {
    return new SpillwayError("unavailable", `${this.name} does not answer: ${reason}`, { cause });
  }

  #decoded(record: string, number: number): StudyOperation {
    try {
      return decodeRecord(record);
    } catch (error) {
      if (!(error instanceof RecordError)) throw error;
      throw new FileError(this.name, `record ${number} is none of a journal: ${error.message}`, "content");
    }
  }
}

/** A client that is connected. @throws SpillwayError */
async function clientOf(url: string): Promise<Client> {
  const make = await constructorOf();
  const client = new make(url, { lazyConnect: true, connectTimeout: patience, maxRetriesPerRequest: 3 });
  let last: Error | undefined;
  client.on("error", (error) => {
    last = error;
  });
  try {
    await client.connect();
  } catch (error) {
    client.disconnect();
    const why = visible((last ?? (error as Error)).message, 500);
    throw new SpillwayError("unavailable", `no Redis or Valkey answers at ${shownUrl(url)}: ${why}`, { cause: error });
  }
  return client;
}

type ClientConstructor = new (url: string, options: object) => Client;

async function constructorOf(): Promise<ClientConstructor> {
  for (const name of ["iovalkey", "ioredis"]) {
    const found = await import(name).catch(() => undefined);
    if (found) return (found.default?.default ?? found.default) as ClientConstructor;
  }
  throw new SpillwayError("unavailable", "a study in Redis or Valkey takes the package iovalkey, which is not here: npm install iovalkey");
}

/** The parts of an address. @throws ArgumentError, whose sentence holds no password */
function addressOf(url: string): URL {
  const isAddress = /^(redis|valkey)s?:\/\//i.test(url) && URL.canParse(url);
  const address = isAddress ? new URL(url.replace(/^valkey/i, "redis")) : undefined;
  // Behind the host, an @ is what is left of a password that was cut at a character of its own.
  if (!address || /@/.test(address.pathname + address.hash + (address.searchParams.has("prefix") ? "" : address.search)))
    throw new ArgumentError(
      "url",
      shownUrl(url),
      "redis://user:password@host:6379/0?prefix=name, with / ? # @ of a password as %2F %3F %23 %40",
    );
  return address;
}

/** The address without user, password and options. */
export function shownUrl(url: string): string {
  return visible(url.replace(/\/\/.*@/s, "//").replace(/\?.*$/s, ""), 200);
}
