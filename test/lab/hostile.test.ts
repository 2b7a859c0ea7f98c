// What a lab that anyone on this machine can reach has to survive: raw bytes, foreign hosts,
// sockets that break off.
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { defaultSettings } from "../../src/lab/index.js";
import { parseRequest } from "../../src/lab/messages.js";
import { type Ending, frame, framesOf, get, hostMark, RawLab, upgrade } from "./raw.js";

let lab: RawLab;
beforeAll(async () => {
  lab = await RawLab.open();
});
afterAll(() => lab[Symbol.asyncDispose]());

const exchange = (bytes: Buffer | string, ending?: Ending) => lab.exchange(lab.fill(bytes), ending);
const serves = async () => expect(await lab.serves()).toBe(true);

/**
 * Opens a socket, sends frames after the handshake, and gives the code that the server closes it
 * with.
 */
async function closeCodeAfter(...frames: Buffer[]): Promise<number | undefined> {
  const closing = (answer: Buffer) => framesOf(answer).find(({ opcode }) => opcode === 8);
  const answer = await exchange(Buffer.concat([Buffer.from(upgrade()), ...frames]), { enough: (bytes) => closing(bytes) !== undefined });
  expect(answer.toString("latin1")).toContain("101 Switching Protocols");
  return closing(answer)?.payload.readUInt16BE(0);
}

describe("a lab that is sent raw bytes", () => {
  it.each(["/%", "/%ff", "//", "///", "/%00", "/\\", "/?%", "*", "http://[", "http://example.org/", "/constructor", "/__proto__"])(
    "answers GET %s with a status and serves on",
    async (target) => {
      expect(String(await exchange(get(target)))).toMatch(/^HTTP\/1\.1 (200|400|404) /);
      await serves();
    },
  );

  it("answers what is no HTTP with a sentence", async () => {
    expect(String(await exchange("\x16\x03\x01\x02\r\n\r\n"))).toMatch(/^HTTP\/1\.1 400 [\s\S]*\r\n\r\nthis is no HTTP request\n$/);
    expect(String(await exchange(get("/", `Host: ${hostMark}\r\nX: ${"x".repeat(100_000)}\r\n`)))).toMatch(/^HTTP\/1\.1 431 /);
    await serves();
  });

  it("survives a refused upgrade whose sender breaks off", async () => {
    for (let k = 0; k < 20; k++) await exchange(upgrade({ origin: "http://example.org" }), { reset: true });
    await serves();
  });

  it("closes a socket that sends too long, unmasked or malformed frames, and serves on", async () => {
    expect(await closeCodeAfter(frame("x".repeat(70_000)))).toBe(1009);
    expect(await closeCodeAfter(Buffer.from([0x81, 0x01, 0x41]))).toBe(1002);
    expect(await closeCodeAfter(frame("x", 0xf3))).toBe(1002);
    expect(await closeCodeAfter(frame(Buffer.from([0xff, 0xfe])))).toBe(1007);
    await serves();
  });
});

describe("a lab that is asked under another name", () => {
  const foreign = ["example.org", "example.org:80", "127.0.0.1", "127.0.0.1:1", "0.0.0.0", "[::1]", "localhost.example.org", ""];

  it.each(foreign)("refuses every path to the host %s", async (name) => {
    for (const target of ["/", "/index.html", "/none", "//", "/%"]) {
      expect(String(await exchange(get(target, `Host: ${name}\r\n`))), target).toMatch(/^HTTP\/1\.1 403 /);
    }
    expect(String(await exchange(upgrade({ host: name })))).toMatch(/^HTTP\/1\.1 403 /);
  });

  it("refuses a request that names no host, and one that names another in its target", async () => {
    expect(String(await exchange("GET / HTTP/1.0\r\n\r\n"))).toMatch(/^HTTP\/1\.1 403 /);
    expect(String(await exchange(get(`http://example.org/`)))).toMatch(/^HTTP\/1\.1 400 /);
  });

  it.each(["null", "http://example.org", "https://127.0.0.1", ""])("refuses a socket to the origin %s", async (origin) => {
    expect(String(await exchange(upgrade({ origin })))).toMatch(/^HTTP\/1\.1 403 /);
  });

  it("is also localhost", async () => {
    const answer = await exchange(get("/", `Host: LOCALHOST:${lab.port}\r\n`));
    expect(String(answer)).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe("a lab that is asked for too much", () => {
  it("opens eight sockets at once, and refuses the ninth with a sentence", async () => {
    const open: Socket[] = [];
    const status = () =>
      new Promise<string>((resolve) => {
        const socket = connect(lab.port, "127.0.0.1", () => socket.write(lab.fill(upgrade())));
        open.push(socket);
        socket.on("error", () => {});
        socket.once("data", (part) => resolve(String(part)));
      });
    const answers: string[] = [];
    for (let k = 0; k < 9; k++) answers.push(await status());
    for (const socket of open) socket.destroy();
    expect(answers.slice(0, 8).every((answer) => answer.startsWith("HTTP/1.1 101 "))).toBe(true);
    expect(answers[8]).toMatch(/^HTTP\/1\.1 503 [\s\S]*8 pages are connected/);
  });

  it("runs one thing at a time for a page", async () => {
    const request = (id: number) => frame(JSON.stringify({ type: "run", id, settings: { ...defaultSettings, size: 20 }, steps: 2000 }));
    const messages = String(
      await exchange(Buffer.concat([Buffer.from(upgrade()), request(1), request(2)]), {
        enough: (bytes) => bytes.includes('"type":"result"'),
      }),
    );
    expect(messages).toContain('"id":2,"message":"run 1 is under way; wait for its result"');
    expect(messages).toContain('{"type":"result","id":1,');
  });
});

describe("a message of a page", () => {
  const request = { type: "run", id: 1, settings: defaultSettings, steps: 10 };
  const refusal = (change: object) => {
    const answer = parseRequest(JSON.stringify({ ...request, ...change }));
    return answer.type === "error" ? answer.message : answer;
  };

  it("names a signal and a topology that there are", () => {
    for (const name of ["constructor", "__proto__", "toString", "web", 1, null, {}]) {
      expect(refusal({ settings: { ...defaultSettings, signal: name } })).toMatch(/^signal is .*; it takes one of mackeyGlass, /);
      expect(refusal({ settings: { ...defaultSettings, topology: name } })).toMatch(/^topology is .*; it takes one of erdosRenyi, /);
    }
  });

  it("holds numbers within the sliders' ranges", () => {
    for (const name of ["spectralRadius", "leakRate", "connectionProbability", "inputScaling", "bias", "noiseLevel", "seed"]) {
      for (const value of [-1, 1e9, "1", null, [1], {}]) {
        expect(refusal({ settings: { ...defaultSettings, [name]: value } }), name).toMatch(new RegExp(`^${name} is .*; it takes a`));
      }
    }
  });

  it("says what the readout sees in words that there are", () => {
    for (const value of ["cubes", "constructor", 1, null, {}]) {
      expect(refusal({ settings: { ...defaultSettings, transform: value } })).toMatch(/^transform is .*; it takes one of plain, /);
      expect(refusal({ settings: { ...defaultSettings, readInput: value } })).toMatch(/^readInput is .*; it takes true or false$/);
    }
  });

  it("is refused in a short sentence, however long or deep it is", () => {
    const deep = `${"[".repeat(30_000)}${"]".repeat(30_000)}`;
    for (const name of ["type", "id", "settings", "steps"]) {
      const text = JSON.stringify({ ...request, [name]: 0 }).replace(`"${name}":0`, `"${name}":${deep}`);
      const answer = parseRequest(text);
      expect(answer.type === "error" && answer.message.length < 200, name).toBe(true);
    }
    expect(refusal({ type: "x".repeat(60_000) })).toMatch(/^type is "x{57}\.\.\."; it takes "run"$/);
  });

  it("asks for no more connections than can be drawn in a minute", () => {
    const settings = { ...defaultSettings, size: 20_000, connectionProbability: 1 };
    expect(refusal({ settings })).toBe("400,000,000 connections; a run takes up to 40,000,000: fewer neurons or a smaller probability");
    expect(refusal({ settings: { ...settings, topology: "orthogonal" } })).toBe("size is 20000; an orthogonal W takes up to 2000");
    expect(refusal({ settings: { ...settings, topology: "ring" } })).toBeTypeOf("object");
  });
});
