// The lab's HTTP: bytes to its port, upgrades among them. What it answers well must have been asked
// under its own name.
import { frame, get, hostMark, RawLab, tokenMark, upgrade } from "../../lab/raw.js";
import type { FuzzFormat } from "../format.js";

/** The sentence of a refusal. */
class Refusal extends Error {}

const ending = "Connection: close\r\n\r\n";
let lab: RawLab;

export default {
  corpus: () =>
    [
      get("/"),
      get(`/?token=${tokenMark}`),
      get("/index.html", `Host: localhost:00000\r\nAccept: */*\r\nCookie: a=b\r\n`),
      get("/assets/none.js?v=1#x", `Host: ${hostMark}\r\nAccept-Encoding: gzip, br\r\nRange: bytes=0-10\r\n`),
      `HEAD / HTTP/1.1\r\nHost: ${hostMark}\r\n\r\nGET /%2e%2e/a HTTP/1.1\r\nHost: ${hostMark}\r\n${ending}`,
      `POST /run HTTP/1.1\r\nHost: ${hostMark}\r\nContent-Length: 5\r\n\r\nhello`,
      `PUT / HTTP/1.1\r\nHost: ${hostMark}\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
      `GET / HTTP/1.0\r\nHost: ${hostMark}\r\n\r\n`,
      `CONNECT example.org:80 HTTP/1.1\r\nHost: ${hostMark}\r\n\r\n`,
      `OPTIONS * HTTP/1.1\r\nHost: example.org\r\nOrigin: http://example.org\r\n${ending}`,
      upgrade(),
      `${upgrade()}${frame('{"type":"run"}').toString("latin1")}`,
      upgrade({ origin: "http://example.org" }),
      upgrade({ target: "/?token=wrong" }),
    ].map((text) => Buffer.from(text, "latin1")),
  start: async () => {
    lab = await RawLab.open();
  },
  read: async (input) => {
    const bytes = lab.fill(input);
    const answer = (await lab.exchange(bytes, { half: true, reset: input.length % 5 === 0 })).toString("latin1");
    const asked = bytes.toString("latin1").toLowerCase();
    if (/^HTTP\/1\.1 (101|200)/m.test(answer) && !asked.includes(lab.host) && !asked.includes(`localhost:${lab.port}`))
      throw new Error("a foreign host is answered");
    if (answer.startsWith("HTTP/1.1 101") && !(asked.includes(lab.token) && asked.includes(`http://`)))
      throw new Error("a socket is opened without token or origin");
    const refused = /^HTTP\/1\.1 [45]\d\d [\s\S]*?\r\n\r\n([\s\S]*)\n$/.exec(answer.slice(answer.lastIndexOf("HTTP/1.1 ")));
    if (refused) throw new Refusal(Buffer.from(refused[1]!, "latin1").toString());
  },
  check: async () => {
    if (!(await lab.serves())) throw new Error("the page is not served");
  },
  errors: [Refusal],
  tokens: [
    ...["GET", "POST", "HEAD", "CONNECT", "TRACE", "HTTP/1.1", "HTTP/1.0", "HTTP/2.0", "\r\n", "\r\n\r\n", "\n", ": "],
    ...["Host", hostMark, "localhost:00000", "example.org", "Origin", `http://${hostMark}`, "null", "http://", "file://", "[::1]"],
    ...["Connection", "close", "keep-alive", "Upgrade", "websocket", "h2c", "Sec-WebSocket-Key", "Sec-WebSocket-Version", "13", "8"],
    ...["Sec-WebSocket-Extensions", "permessage-deflate", "Sec-WebSocket-Protocol", "Expect", "100-continue", "Content-Length"],
    ...["Transfer-Encoding", "chunked", "/", "//", "/%", "/%ff", "/..", "/%2e%2e/", "?token=", tokenMark, "*", "\\", "#"],
  ],
} satisfies FuzzFormat;
