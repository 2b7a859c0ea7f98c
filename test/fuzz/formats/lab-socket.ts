// The lab's WebSocket: frames after a handshake with the token. Every message is answered, or the
// socket is closed with a code.
import { defaultSettings } from "../../../src/lab/index.js";
import { frame, framesOf, RawLab, upgrade } from "../../lab/raw.js";
import type { FuzzFormat } from "../format.js";
import { mutateJson } from "../mutate.js";
import type { Random } from "../random.js";

/** What a page is told instead of a result. */
class Refusal extends Error {}

const run = { type: "run", id: 1, settings: { ...defaultSettings, size: 10 }, steps: 20 };
const messages = [run, { ...run, id: 2, settings: { ...run.settings, topology: "cycleWithJumps", jump: 3, signal: "narma" } }, [], "x"];
/** A message that is answered last: who has its answer has all answers that need no run. */
const last = frame(JSON.stringify({ type: "last", id: 4711 }));
let lab: RawLab;

/** Some text in one frame or in fragments, with control frames between them. */
function framed(text: string, random: Random): Buffer {
  const bytes = Buffer.from(text);
  const cut = random.below(bytes.length + 1);
  switch (random.below(5)) {
    case 0:
      return Buffer.concat([frame(bytes.subarray(0, cut), 0x01), frame("", 0x89), frame(bytes.subarray(cut), 0x80)]);
    case 1:
      return Buffer.concat([frame(bytes, 0x82), frame(Buffer.from([3, 232]), 0x88)]);
    case 2:
      return Buffer.concat(Array(random.size(100)).fill(frame(bytes, random.below(256))));
    case 3:
      return Buffer.concat([...Array(random.size(2000)).fill(frame("", random.pick([0x01, 0x00, 0x89, 0x8a]))), frame(bytes)]);
    default:
      return frame(bytes);
  }
}

export default {
  corpus: () => messages.map((message) => frame(JSON.stringify(message))),
  mutate: (_input, random) => framed(JSON.stringify(mutateJson(random.pick(messages), random)), random),
  start: async () => {
    lab = await RawLab.open();
  },
  read: async (input) => {
    const sent = Buffer.concat([lab.fill(upgrade()), input, last]);
    const enough = (answer: Buffer) => answer.includes('"id":4711');
    const answer = await lab.exchange(sent, { enough, half: true, reset: input.length % 7 === 0 });
    for (const { opcode, payload } of framesOf(answer)) {
      if (opcode !== 1) continue;
      const message = JSON.parse(payload.toString());
      if (message.type === "error" && message.id !== 4711) throw new Refusal(message.message);
    }
  },
  check: async () => {
    if (!(await lab.serves())) throw new Error("the page is not served");
  },
  errors: [Refusal],
} satisfies FuzzFormat;
