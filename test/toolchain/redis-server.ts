// A Redis server for tests, and a proxy before it that misbehaves as networks do. Needs
// redis-server; a missing one fails.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";

export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as { port: number };
  await new Promise((closed) => probe.close(closed));
  return port;
}

/** A server that keeps what it has in a folder, if it is `durable`. */
export class RedisServer {
  readonly port: number;
  readonly #folder: string;
  readonly #durable: boolean;
  #process: ChildProcess | undefined;

  private constructor(port: number, folder: string, durable: boolean) {
    this.port = port;
    this.#folder = folder;
    this.#durable = durable;
  }

  static async start(folder: string, { durable = false } = {}): Promise<RedisServer> {
    const server = new RedisServer(await freePort(), folder, durable);
    await server.start();
    return server;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    const keep = this.#durable ? ["--appendonly", "yes", "--appendfsync", "always"] : [];
    const args = ["--port", String(this.port), "--save", "", "--dir", this.#folder, ...keep];
    this.#process = spawn("redis-server", args, { stdio: ["ignore", "pipe", "inherit"] });
    for await (const text of this.#process.stdout!) if (String(text).includes("Ready to accept")) break;
  }

  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    const ended = once(this.#process!, "exit");
    this.#process!.kill(signal);
    await ended;
  }
}

/** Stands between a client and a server. */
export class FaultyProxy {
  readonly #server: Server;
  readonly #pairs = new Set<readonly [client: Socket, server: Socket]>();
  /** Answers that are let through before the connection breaks; undefined for all. */
  answers: number | undefined;
  /** Whether bytes of clients are swallowed. */
  isSilent = false;
  /** Whether connections are ended at once. */
  isShut = false;

  private constructor(target: number) {
    this.#server = createServer((client) => this.#join(client, target));
  }

  static async to(target: number): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(target);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get url(): string {
    return `redis://127.0.0.1:${(this.#server.address() as { port: number }).port}`;
  }

  /** Breaks every connection. */
  cut(): void {
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy();
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((closed) => this.#server.close(closed));
  }

  #join(client: Socket, target: number): void {
    if (this.isShut) return void client.destroy();
    const server = connect(target, "127.0.0.1");
    const pair = [client, server] as const;
    this.#pairs.add(pair);
    const end = () => {
      this.#pairs.delete(pair);
      for (const socket of pair) socket.destroy();
    };
    for (const socket of pair) socket.on("error", end).on("close", end);
    client.on("data", (bytes) => {
      if (!this.isSilent) server.write(bytes);
    });
    server.on("data", (bytes) => {
      if (this.answers === undefined) return void client.write(bytes);
      if (this.answers-- > 0) return void client.write(bytes);
      this.answers = undefined;
      end();
    });
  }
}
