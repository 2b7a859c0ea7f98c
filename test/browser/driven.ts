// Firefox and the WebKit of GTK, driven over the protocols that they speak themselves: pages are
// opened, and programs run in them.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer, type ServerResponse } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { WebSocket } from "ws";

/** A browser with one page. */
export interface Driven {
  /** Resolves when the page is loaded. */
  goto(url: string): Promise<void>;
  /**
   * Runs the body of an async function in the page and gives what it returns, as JSON carries it.
   * @throws Error with what the body throws
   */
  evaluate(body: string): Promise<unknown>;
  close(): Promise<void>;
}

const webKitBinary = "/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser";
/** The longest that a browser takes to start, and a program in it to end. */
const longest = { startMs: 30_000, programMs: 120_000 };

const isOnPath = (command: string) => (process.env["PATH"] ?? "").split(delimiter).some((folder) => existsSync(join(folder, command)));

/** Whether this machine has what {@link openWebKit} starts. */
export const hasWebKit = () => isOnPath("WebKitWebDriver") && isOnPath("xvfb-run") && existsSync(webKitBinary);

/** Whether this machine has what {@link openFirefox} starts. */
export const hasFirefox = () => isOnPath("firefox-esr");

/** An answer that says whether the body threw, since neither protocol carries an error whole. */
interface Answer {
  readonly value?: unknown;
  readonly error?: string;
}

const guarded = (body: string) =>
  `(async () => { ${body} })().then((value) => JSON.stringify({ value }), (error) => JSON.stringify({ error: String(error) }))`;

function answerIn(text: string): unknown {
  const { value, error } = JSON.parse(text) as Answer;
  if (error !== undefined) throw new Error(error);
  return value;
}

/** Ends a process and all that it started. */
async function endGroup(child: ChildProcess): Promise<void> {
  const ended = child.exitCode !== null || new Promise((resolve) => child.once("exit", resolve));
  try {
    process.kill(-child.pid!, "SIGKILL");
  } catch {
    // It has ended.
  }
  await ended;
}

/** Preferences of Firefox by their names, and more variables of its environment. */
export interface FirefoxOptions {
  readonly preferences?: Readonly<Record<string, string | number | boolean>>;
  readonly environment?: Readonly<Record<string, string>>;
}

/** A headless Firefox with a profile of its own, and what ends it. */
function startFirefox({ preferences = {}, environment }: FirefoxOptions, ...words: readonly string[]) {
  const profile = mkdtempSync(join(tmpdir(), "spillway-firefox-"));
  const lines = Object.entries(preferences).map(
    (preference) => `user_pref(${preference.map((part) => JSON.stringify(part)).join(", ")});\n`,
  );
  writeFileSync(join(profile, "user.js"), lines.join(""));
  const options = ["--headless", "--no-remote", "--profile", profile, ...words];
  const child = spawn("firefox-esr", options, {
    stdio: ["ignore", "ignore", "pipe"],
    detached: true,
    env: { ...process.env, ...environment },
  });
  const close = async () => {
    await endGroup(child);
    rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  };
  return { child, close };
}

/** What a page holds for {@link openFirefoxAlone}: it asks the address behind its # for programs. */
export const takesPrograms = `<script type="module">
  const address = location.hash.slice(1);
  while (address) {
    const program = await (await fetch(address)).text();
    await fetch(address, { method: "POST", body: await eval(program) });
  }
</script>`;

/**
 * Firefox without a protocol, for pages with {@link takesPrograms}. Under WebDriver BiDi 27 of 778
 * runs of a worker that may start workers hung in `new Worker`, without it none of 960.
 */
export async function openFirefoxAlone(): Promise<Driven> {
  let waiting: ServerResponse | undefined;
  const relay = createHttpServer(async (request, response) => {
    response.setHeader("access-control-allow-origin", "*");
    if (request.method === "GET") {
      waiting = response;
      relay.emit("asked");
      return;
    }
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    response.end();
    relay.emit("answered", String(Buffer.concat(parts)));
  });
  await once(relay.listen(0, "127.0.0.1"), "listening");
  let end = async () => {};
  return {
    async goto(url) {
      await end();
      waiting = undefined;
      end = startFirefox({}, `${url}#http://127.0.0.1:${(relay.address() as AddressInfo).port}`).close;
      await once(relay, "asked");
    },
    async evaluate(body) {
      if (!waiting) await once(relay, "asked");
      const answered = once(relay, "answered");
      waiting!.end(guarded(body));
      waiting = undefined;
      return answerIn((await answered)[0]);
    },
    async close() {
      await end();
      relay.close();
      relay.closeAllConnections();
    },
  };
}

/** Firefox, headless, over WebDriver BiDi. */
export async function openFirefox(firefox: FirefoxOptions = {}): Promise<Driven> {
  const { child, close } = startFirefox(firefox, "--remote-debugging-port=0");
  try {
    const address = await new Promise<string>((resolve, reject) => {
      let said = "";
      child.stderr!.on("data", (part) => {
        said += part;
        const found = /WebDriver BiDi listening on (ws:\S+)/.exec(said);
        if (found) resolve(found[1]!);
      });
      child.once("exit", () => reject(new Error(`Firefox ended: ${said}`)));
      child.once("error", reject);
      setTimeout(() => reject(new Error(`Firefox said no address: ${said}`)), longest.startMs).unref();
    });
    const send = await openBiDi(`${address}/session`);
    await send("session.new", { capabilities: {} });
    const { contexts } = (await send("browsingContext.getTree", {})) as { contexts: { context: string }[] };
    const { context } = contexts[0]!;
    return {
      close,
      async goto(url) {
        await send("browsingContext.navigate", { context, url, wait: "complete" });
      },
      async evaluate(body) {
        const program = { expression: guarded(body), target: { context }, awaitPromise: true };
        const { result } = (await send("script.evaluate", program)) as { result: { value: string } };
        return answerIn(result.value);
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Commands over a WebSocket, each with its answer. */
async function openBiDi(address: string): Promise<(method: string, params: object) => Promise<unknown>> {
  const socket = new WebSocket(address);
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  const waiting = new Map<number, (answer: { type: string; result?: unknown; message?: string }) => void>();
  socket.on("message", (data) => {
    const answer = JSON.parse(String(data));
    waiting.get(answer.id)?.(answer);
    waiting.delete(answer.id);
  });
  socket.on("close", () => {
    for (const answered of waiting.values()) answered({ type: "error", message: "the browser has gone" });
  });
  let id = 0;
  return (method, params) =>
    new Promise((resolve, reject) => {
      waiting.set(++id, ({ type, result, message }) => (type === "success" ? resolve(result) : reject(new Error(`${method}: ${message}`))));
      socket.send(JSON.stringify({ id, method, params }));
    });
}

/** The WebKit of GTK, on a display of its own, over WebDriver. */
export async function openWebKit(): Promise<Driven> {
  const port = await freePort();
  const driver = spawn("xvfb-run", ["-a", "WebKitWebDriver", `--port=${port}`], { stdio: "ignore", detached: true });
  const close = () => endGroup(driver);
  const post = async (path: string, body: object) => {
    const response = await fetch(`http://127.0.0.1:${port}/session${path}`, { method: "POST", body: JSON.stringify(body) });
    const { value } = (await response.json()) as { value: unknown };
    if (!response.ok) throw new Error((value as { message: string }).message);
    return value;
  };
  const capabilities = { alwaysMatch: { "webkitgtk:browserOptions": { binary: webKitBinary, args: ["--automation"] } } };
  const open = async (): Promise<string> => {
    for (const begun = Date.now(); ; ) {
      try {
        return ((await post("", { capabilities })) as { sessionId: string }).sessionId;
      } catch (error) {
        // Until the driver listens, the connection is refused.
        if (!(error instanceof TypeError) || Date.now() - begun > longest.startMs) throw error;
        await wait(100);
      }
    }
  };
  try {
    const session = await open();
    return {
      close,
      async goto(url) {
        await post(`/${session}/url`, { url });
      },
      async evaluate(body) {
        // Asked for until it is there: WebKit now and then loses what an asynchronous script gives.
        const run = async (script: string) => (await post(`/${session}/execute/sync`, { script, args: [] })) as string;
        await run(`globalThis.answer = ""; ${guarded(body)}.then((text) => { globalThis.answer = text; }); return "";`);
        for (const begun = Date.now(); Date.now() - begun < longest.programMs; await wait(20)) {
          const answer = await run("return globalThis.answer");
          if (answer !== "") return answerIn(answer);
        }
        throw new Error(`the program did not end within ${longest.programMs / 1000} s`);
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as { port: number };
  await new Promise((closed) => server.close(closed));
  return port;
}
