// A record's text, to the byte as Optuna's own writer has it but for spaces, and what is read of
// the records of other versions.
import { describe, expect, it } from "vitest";
import type { StudyOperation } from "../../../packages/search/src/index.js";
import { decodeRecord, encodeRecord } from "../../../packages/search/src/journal/records.js";

const by = "6f0c1b52-0";
const at = Date.UTC(2026, 10, 22, 9, 59, 38, 729);
const time = "2026-11-22T09:59:38.729000+00:00";
const radius = { value: 0.5, distribution: { kind: "float", low: 0.1, high: 1.5, log: false, step: undefined } } as const;
const size = { value: 300, distribution: { kind: "int", low: 100, high: 400, log: false, step: 100 } } as const;
const ring = { value: 1, distribution: { kind: "choice", choices: ["ä", true, null, 2] } } as const;

const floatText = String.raw`"{\"name\":\"FloatDistribution\",\"attributes\":{\"step\":null,\"low\":0.1,\"high\":1.5,\"log\":false}}"`;
const intText = String.raw`"{\"name\":\"IntDistribution\",\"attributes\":{\"log\":false,\"step\":100,\"low\":100,\"high\":400}}"`;
const choiceText = String.raw`"{\"name\":\"CategoricalDistribution\",\"attributes\":{\"choices\":[\"\u00e4\",true,null,2]}}"`;

const rows: readonly (readonly [operation: StudyOperation, text: string])[] = [
  [{ by, type: "createStudy", name: "a", direction: "maximise" }, `{"op_code":0,"worker_id":"${by}","study_name":"a","directions":[2]}`],
  [{ by, type: "deleteStudy", study: 3 }, `{"op_code":1,"worker_id":"${by}","study_id":3}`],
  [
    { by, type: "studyAttribute", study: 0, system: false, name: "k", value: [1, null] },
    `{"op_code":2,"worker_id":"${by}","study_id":0,"user_attr":{"k":[1,null]}}`,
  ],
  [
    { by, type: "studyAttribute", study: 0, system: true, name: "k", value: "\u20ac" },
    `{"op_code":3,"worker_id":"${by}","study_id":0,"system_attr":{"k":"\\u20ac"}}`,
  ],
  [
    {
      ...{ by, type: "createTrial", study: 0 },
      template: {
        ...{ state: "complete", value: Number.POSITIVE_INFINITY, started: at, finished: at },
        parameters: { radius, size, ring },
        ...{ attributes: { a: Number.NaN }, systemAttributes: { b: 1 }, intermediate: { 500: 0.25, 1000: Number.NEGATIVE_INFINITY } },
      },
    },
    `{"op_code":4,"worker_id":"${by}","study_id":0,"datetime_start":"${time}","state":1,"value":Infinity,"values":null,"datetime_complete":"${time}",` +
      `"distributions":{"radius":${floatText},"size":${intText},"ring":${choiceText}},"params":{"radius":0.5,"size":300,"ring":1},` +
      `"user_attrs":{"a":NaN},"system_attrs":{"b":1},"intermediate_values":{"500":0.25,"1000":-Infinity}}`,
  ],
  [
    { by, type: "parameter", trial: 7, name: "radius", parameter: radius },
    `{"op_code":5,"worker_id":"${by}","trial_id":7,"param_name":"radius","param_value_internal":0.5,"distribution":${floatText}}`,
  ],
  [
    { by, type: "state", trial: 7, state: "running", value: undefined, at },
    `{"op_code":6,"worker_id":"${by}","trial_id":7,"state":0,"values":null,"datetime_start":"${time}"}`,
  ],
  [
    { by, type: "state", trial: 7, state: "complete", value: 0.125, at },
    `{"op_code":6,"worker_id":"${by}","trial_id":7,"state":1,"values":[0.125],"datetime_complete":"${time}"}`,
  ],
  [
    { by, type: "intermediate", trial: 7, step: 500, value: Number.NaN },
    `{"op_code":7,"worker_id":"${by}","trial_id":7,"step":500,"intermediate_value":NaN}`,
  ],
  [
    { by, type: "trialAttribute", trial: 7, system: false, name: "NaN", value: '"NaN" and Infinity' },
    String.raw`{"op_code":8,"worker_id":"${by}","trial_id":7,"user_attr":{"NaN":"\"NaN\" and Infinity"}}`,
  ],
  [
    { by, type: "trialAttribute", trial: 7, system: true, name: "k", value: { deep: [Number.NaN, "Infinity"] } },
    `{"op_code":9,"worker_id":"${by}","trial_id":7,"system_attr":{"k":{"deep":[NaN,"Infinity"]}}}`,
  ],
];

const template = (fields: string) => decodeRecord(`{"op_code":4,"worker_id":"w","study_id":0,${fields}}`);
const withDistribution = (text: object) =>
  decodeRecord(
    JSON.stringify({
      op_code: 5,
      worker_id: "w",
      trial_id: 0,
      param_name: "x",
      param_value_internal: 2,
      distribution: JSON.stringify(text),
    }),
  );

describe("a record", () => {
  it.each(rows)("of %o is this text, and is read back", (operation, text) => {
    expect(encodeRecord(operation)).toBe(text);
    expect(decodeRecord(text)).toEqual(operation);
  });

  it("has times with an offset, or local ones as older versions wrote them", () => {
    const started = (text: string) => (template(`"datetime_start":"${text}"`) as { template: { started: number } }).template.started;
    expect(started("2026-11-22T10:59:38.729000+01:00")).toBe(at);
    expect(started("2026-11-22T09:59:38.729000")).toBe(new Date(2026, 10, 22, 9, 59, 38, 729).getTime());
    expect(template('"datetime_start":null')).toMatchObject({ template: { state: "running", started: undefined } });
  });

  it("has one value alone or in a list; several objectives have none here", () => {
    const value = (text: string) => template(`"datetime_start":null,"state":1,${text}`);
    expect(value('"value":2,"values":null')).toMatchObject({ template: { value: 2 } });
    expect(value('"value":null,"values":[3]')).toMatchObject({ template: { value: 3 } });
    expect(value('"value":null,"values":[3,4]')).toMatchObject({ template: { value: undefined } });
    expect(decodeRecord('{"op_code":0,"study_name":"two","directions":[1,2]}')).toMatchObject({ direction: "several" });
  });

  it("takes the distributions of older and newer versions", () => {
    const read = (text: object) => (withDistribution(text) as { parameter: { distribution: object } }).parameter.distribution;
    expect(read({ name: "UniformDistribution", attributes: { low: 0, high: 1 } })).toEqual({ kind: "float", low: 0, high: 1, log: false });
    expect(read({ name: "LogUniformDistribution", attributes: { low: 1, high: 2 } })).toMatchObject({ kind: "float", log: true });
    expect(read({ name: "DiscreteUniformDistribution", attributes: { low: 0, high: 1, q: 0.5 } })).toMatchObject({ step: 0.5 });
    expect(read({ name: "IntUniformDistribution", attributes: { low: 0, high: 4, step: 2 } })).toMatchObject({ kind: "int", step: 2 });
    expect(read({ name: "IntLogUniformDistribution", attributes: { low: 1, high: 4, step: 1 } })).toMatchObject({ kind: "int", log: true });
    expect(read({ type: "float", low: 0, high: 1, log: true })).toMatchObject({ kind: "float", log: true, step: undefined });
  });

  it.each([
    ['{"op_code":11}', /^its op_code is 11; this version knows 0 to 10/],
    ["{}", /^its op_code is missing/],
    ["[]", /^it is an array of 0; a record is an object/],
    ["", /^it is no JSON: ""/],
    ['{"op_code":1', /^it is no JSON/],
    ['{"op_code":1,"study_id":-1}', /^its study_id is -1; it takes a whole number of at least 0/],
    ['{"op_code":0,"study_name":1,"directions":[1]}', /^its study_name is 1; it takes a text/],
    ['{"op_code":0,"study_name":"a","directions":[3]}', /^its directions are an array of 1/],
    ['{"op_code":2,"study_id":0,"user_attr":{}}', /^its user_attr is \{\}; it takes an object with one name/],
    ['{"op_code":4,"study_id":0,"state":5}', /^its state is 5; it takes a number from 0 to 4/],
    ['{"op_code":4,"study_id":0,"datetime_start":"noon"}', /^its datetime_start is "noon"; it takes a time/],
    ['{"op_code":4,"study_id":0,"state":0,"params":{"x":1}}', /^the distribution of "x" is missing; it takes a text/],
    ['{"op_code":4,"study_id":0,"state":0,"intermediate_values":{"x":1}}', /^its intermediate value at "x" is 1/],
    ['{"op_code":6,"trial_id":0,"state":1,"values":["1"]}', /^its value is "1"; it takes a number/],
    ['{"op_code":7,"trial_id":0,"step":1.5,"intermediate_value":1}', /^its step is 1.5/],
    ['{"op_code":5,"trial_id":0,"param_name":"x","param_value_internal":1,"distribution":"{}"}', /^the distribution "\{\}" is none/],
    [`{"op_code":2,"study_id":0,"user_attr":{"k":${"[".repeat(1e5)}${"]".repeat(1e5)}}}`, /^its user_attr has more than 200 lists/],
    [`{"op_code":4,"study_id":0,"state":0,"system_attrs":{"k":${"[".repeat(1e5)}${"]".repeat(1e5)}}}`, /^its system_attrs has more than/],
    [`\ufeff{"op_code":1,"study_id":0}`, /^it begins with a byte order mark/],
  ])("%s is refused", (line, sentence) => {
    expect(() => decodeRecord(line)).toThrow(sentence);
  });
});
