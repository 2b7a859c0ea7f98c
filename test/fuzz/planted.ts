// A reader with one fault of every kind, by which the framework itself is tested.
import type { FuzzFormat } from "./format.js";

class OwnError extends Error {}

const faults: Readonly<Record<string, () => unknown>> = {
  error: () => (undefined as unknown as { length: number }).length,
  message: () => {
    throw new OwnError("it holds \u001b[2J");
  },
  prototype: () => Object.assign(Object.prototype, { planted: 1 }),
  time: () => {
    for (;;);
  },
  wait: () => new Promise(() => {}),
  memory: () => {
    for (const all: Uint8Array[] = []; ; ) all.push(new Uint8Array(2 ** 22).fill(1));
  },
  ended: () =>
    new Promise(() =>
      setTimeout(() => {
        throw new RangeError("uncaught");
      }),
    ),
  refused: () => {
    throw new OwnError("it is refused");
  },
};

export default {
  corpus: () => [new TextEncoder().encode("all is well, and nothing is refused")],
  read: (input) => {
    const text = new TextDecoder().decode(input);
    return Object.entries(faults).find(([name]) => text.includes(`<${name}>`))?.[1]();
  },
  errors: [OwnError],
  tokens: ["<error>", "<message>", "<refused>"],
} satisfies FuzzFormat;
