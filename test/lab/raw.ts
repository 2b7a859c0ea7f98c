// A lab spoken to in bytes: requests, upgrades and frames that no client library would send.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import "../../src/index.js";
import { openLab } from "../../src/lab/index.js";

/** What stands in inputs for the lab's host and token, which differ from run to run. */
export const hostMark = "127.0.0.1:00000";
export const tokenMark = "t".repeat(32);
/** The page that is served. */
export const pageText = "<title>lab</title>";

/** How an exchange ends on this side. */
export interface Ending {
  /**
   * Closes the connection once the answer is this. Left out, the answer goes on until the server
   * closes.
   */
  readonly enough?: (answer: Buffer) => boolean;
  /** Breaks the connection off as soon as the bytes are written. */
  readonly reset?: boolean;
  /** Says at once that no more bytes follow. */
  readonly half?: boolean;
}

/** A lab on a free port, with a page of one line. */
export class RawLab implements AsyncDisposable {
  readonly host: string;
  readonly token: string;
  readonly port: number;
  readonly #close: () => Promise<void>;

  private constructor(url: string, close: () => Promise<void>) {
    const { host, port, searchParams } = new URL(url);
    this.host = host;
    this.port = Number(port);
    this.token = searchParams.get("token")!;
    this.#close = close;
  }

  static async open(): Promise<RawLab> {
    const folder = await mkdtemp(join(tmpdir(), "spillway-lab-"));
    await writeFile(join(folder, "index.html"), pageText);
    const lab = await openLab({ page: folder, engine: "cpu" });
    await rm(folder, { recursive: true });
    return new RawLab(lab.url, () => lab.close());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#close();
  }

  /** The bytes with the marks replaced by this lab's host and token. */
  fill(bytes: Uint8Array | string): Buffer {
    const text = Buffer.from(bytes).toString("latin1");
    return Buffer.from(text.replaceAll(":00000", `:${this.port}`).replaceAll(tokenMark, this.token), "latin1");
  }

  /** Sends bytes and gives the answer. */
  exchange(bytes: Uint8Array | string, { enough = () => false, reset = false, half = false }: Ending = {}): Promise<Buffer> {
    return new Promise((resolve) => {
      const socket = connect({ port: this.port, host: "127.0.0.1", allowHalfOpen: true }, () => {
        if (half) socket.end(bytes);
        else socket.write(bytes, () => reset && socket.resetAndDestroy());
      });
      let answer: Buffer = Buffer.alloc(0);
      socket.on("data", (part) => {
        answer = Buffer.concat([answer, part]);
        if (enough(answer)) socket.destroy();
      });
      socket.on("end", () => socket.end());
      socket.on("error", () => socket.destroy());
      socket.on("close", () => resolve(answer));
    });
  }

  /** Whether the page is still served. */
  async serves(): Promise<boolean> {
    return (await (await fetch(`http://${this.host}/`)).text()) === pageText;
  }
}

/** A request whose answer ends the connection. */
export const get = (target: string, headers = `Host: ${hostMark}\r\n`) => `GET ${target} HTTP/1.1\r\n${headers}Connection: close\r\n\r\n`;

/** A request for a WebSocket. */
export function upgrade(change: { host?: string; origin?: string; target?: string } = {}): string {
  const { host = hostMark, origin = `http://${hostMark}`, target = `/?token=${tokenMark}` } = change;
  const lines = [`GET ${target} HTTP/1.1`, `Host: ${host}`, `Origin: ${origin}`, "Upgrade: websocket", "Connection: Upgrade"];
  return [...lines, "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "", ""].join("\r\n");
}

/**
 * A frame as a browser sends it, masked; `first` is its first byte: FIN, reserved bits and opcode.
 */
export function frame(payload: Uint8Array | string, first = 0x81): Buffer {
  const body = Buffer.from(payload);
  const long = body.length > 65_535;
  const head = Buffer.alloc(long ? 10 : body.length > 125 ? 4 : 2);
  head[0] = first;
  head[1] = 0x80 | (long ? 127 : body.length > 125 ? 126 : body.length);
  if (long) head.writeBigUInt64BE(BigInt(body.length), 2);
  else if (body.length > 125) head.writeUInt16BE(body.length, 2);
  const mask = Buffer.from([0x12, 0x34, 0x56, 0x78]);
  return Buffer.concat([head, mask, body.map((byte, i) => byte ^ mask[i % 4]!)]);
}

/** The frames of a server's answer after its handshake: opcode and payload each. */
export function framesOf(answer: Buffer): readonly { readonly opcode: number; readonly payload: Buffer }[] {
  const frames: { opcode: number; payload: Buffer }[] = [];
  let at = answer.indexOf("\r\n\r\n") + 4;
  while (at > 3 && at + 2 <= answer.length) {
    const short = answer[at + 1]! & 0x7f;
    const extra = short === 126 ? 2 : short === 127 ? 8 : 0;
    if (at + 2 + extra > answer.length) break;
    const length = extra === 2 ? answer.readUInt16BE(at + 2) : extra === 8 ? Number(answer.readBigUInt64BE(at + 2)) : short;
    const from = at + 2 + extra;
    if (from + length > answer.length) break;
    frames.push({ opcode: answer[at]! & 0x0f, payload: answer.subarray(from, from + length) });
    at = from + length;
  }
  return frames;
}
