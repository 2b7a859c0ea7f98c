import { describe, expect, it } from "vitest";
import "../../src/index.js";
import { defaultSettings } from "../../src/lab/index.js";
import type { ServerMessage } from "../../src/lab/messages.js";
import { runRequest } from "../../src/lab/run.js";

const request = { type: "run", id: 5, settings: { ...defaultSettings, size: 300 }, steps: 300_000 } as const;

describe("a run for a page", () => {
  it("ends with a sentence after its time", async () => {
    const messages: ServerMessage[] = [];
    await runRequest(request, "cpu", new AbortController().signal, (message) => messages.push(message), 0.05);
    expect(messages.at(-1)).toEqual({
      type: "error",
      id: 5,
      message: "the run took more than 0.05 s; take fewer neurons or steps",
    });
  });

  it("says nothing more once its page has gone", async () => {
    const stop = new AbortController();
    const messages: ServerMessage[] = [];
    const running = runRequest(request, "cpu", stop.signal, (message) => messages.push(message));
    stop.abort();
    await running;
    expect(messages).toEqual([]);
  });

  it("answers what a reservoir does not take with its sentence", async () => {
    const messages: ServerMessage[] = [];
    const settings = { ...defaultSettings, topology: "cycleWithJumps", size: 5 } as const;
    await runRequest({ ...request, settings }, "cpu", new AbortController().signal, (message) => messages.push(message));
    expect(messages).toEqual([{ type: "error", id: 5, message: "topology.jump is 10; it takes a whole number below the size, 5" }]);
  });
});
