// The bookkeeping that all sessions share, with an x that only counts.
import { describe, expect, it } from "vitest";
import { type FloatArray, Matrix } from "../../packages/numerics/src/index.js";
import { type DoneChunk, SessionRecord, writeFeedback } from "../../src/engine/session-record.js";
import { plainFeatures } from "../../src/reservoir/features.js";
import { model } from "./contract.js";

const of = model({ size: 1, inputSize: 1, feedback: { size: 1 }, noiseLevel: 0.1, spectralRadius: null });
const sequence = {
  inputs: Matrix.from(Float32Array.of(1, 2, 3, 4), "float32"),
  teacher: Matrix.from(Float32Array.of(5, 6, 7, 8), "float32"),
};

function newRecord(): SessionRecord {
  let x: FloatArray = new Float32Array(1);
  return new SessionRecord(of, {
    getValues: () => x,
    setValues: (values) => {
      x = values.slice();
    },
  });
}

/** Runs the sequence in chunks of two steps; the third state is not finite if it `fails`. */
function run(record: SessionRecord, { fails = false, events = [] as string[] } = {}): Promise<void> {
  let from = 0;
  return record.runOne(sequence, {}, (progress) =>
    record.takeChunks<DoneChunk>(
      sequence,
      progress,
      {
        next: async () => {
          if (from === 4) return undefined;
          const chunk = { from, to: from + 2, finite: fails && from === 2 ? 0 : 2, neuron: 0 };
          from += 2;
          return chunk;
        },
        goBack: () => void events.push("went back"),
      },
      (chunk) => void events.push(`took ${chunk.from} to ${chunk.from + chunk.finite}`),
    ),
  );
}

const at = (record: SessionRecord) => {
  const { step, input, output } = record.getState();
  return { step, input: input[0], output: output[0] };
};

describe("the record of a session", () => {
  it("has the step count, the last input and the last output after a run", async () => {
    const record = newRecord();
    await run(record);
    expect(at(record)).toEqual({ step: 4, input: 4, output: 8 });
  });

  it("stands at the last finite step when a state is not finite, once x was put back", async () => {
    const record = newRecord();
    const events: string[] = [];
    await expect(run(record, { fails: true, events })).rejects.toMatchObject({ name: "NonFiniteStateError", step: 2, neuron: 0 });
    expect(events).toEqual(["took 0 to 2", "took 2 to 2", "went back"]);
    expect(at(record)).toEqual({ step: 2, input: 2, output: 6 });
  });

  it("refuses steps past the noise counter before the first of them is made", async () => {
    const record = newRecord();
    const state = { ...record.getState(), step: 2 ** 32 - 3 };
    record.setState(state);
    const events: string[] = [];
    await expect(run(record, { events })).rejects.toThrow("step 4294967297 is beyond the noise counter");
    expect([events, record.step]).toEqual([[], state.step]);
    const readout = {
      features: plainFeatures,
      stateSize: 1,
      inputSize: 1,
      weights: Matrix.zeros(1, 1, "float64"),
      intercept: new Float64Array(1),
    };
    await expect(record.closeLoop({ readout, steps: 4 }, () => 4)).rejects.toThrow("beyond the noise counter");
  });

  it("puts its state back after sequences that were run from the start, also if one of them fails", async () => {
    for (const fails of [false, true]) {
      const record = newRecord();
      await run(record);
      const starts: unknown[] = [];
      const each = record.runEach([sequence, sequence], {}, async () => {
        starts.push(at(record));
        record.advance(1, Float32Array.of(9), Float32Array.of(9));
        if (fails) throw new Error("it failed");
      });
      await (fails ? expect(each).rejects.toThrow("it failed") : each);
      expect(starts).toEqual(Array.from({ length: fails ? 1 : 2 }, () => ({ step: 0, input: 0, output: 0 })));
      expect(at(record)).toEqual({ step: 4, input: 4, output: 8 });
    }
  });

  it("leaves the error of a lost device as it is: nothing is put back", async () => {
    let lost = false;
    const record = new SessionRecord(of, {
      getValues: () => new Float32Array(1),
      setValues: () => {
        if (lost) throw new Error("no device");
      },
      get lost() {
        return lost;
      },
    });
    const each = record.runEach([sequence], {}, async () => {
      lost = true;
      throw new Error("the device is lost");
    });
    await expect(each).rejects.toThrow("the device is lost");
  });

  it("says that it was disposed, also to work that waits", async () => {
    const record = newRecord();
    const each = record.runEach([sequence], {}, async () => {
      record.end();
      record.alive();
    });
    await expect(each).rejects.toThrow(/was disposed/);
    expect(record.end()).toBe(false);
    expect(() => record.getState()).toThrow(/was disposed/);
  });

  it("feeds back the last output, then the teacher's rows, one step late", () => {
    const rows = new Float32Array(2);
    const fed = (teacher: Matrix | undefined, from: number) => {
      writeFeedback(rows, Float32Array.of(3), teacher, from, from + 2);
      return [...rows];
    };
    expect(fed(sequence.teacher, 0)).toEqual([3, 5]);
    expect(fed(sequence.teacher, 2)).toEqual([6, 7]);
    expect(fed(undefined, 2)).toEqual([3, 3]);
  });
});
