import { describe, expect, it } from "vitest";
import type { ReservoirOptions } from "../../src/reservoir/config.js";
import { resolveConfig } from "../../src/reservoir/config-schema.js";

const wrong = (options: object) => () => resolveConfig(options as ReservoirOptions);

describe("a reservoir's description", () => {
  it("needs a size only and fills in the rest", () => {
    expect(resolveConfig({ size: 10 })).toEqual({
      size: 10,
      inputSize: 1,
      spectralRadius: 0.95,
      radiusMethod: "auto",
      connectionProbability: 0.1,
      weightDistribution: "uniform",
      selfConnections: false,
      inputConnectivity: 1,
      inputDistribution: "uniform",
      inputScaling: 1,
      bias: 0,
      biasDistribution: "uniform",
      biasDensity: 1,
      leakRate: 0.3,
      noiseLevel: 0,
      activation: "tanh",
      topology: { type: "erdosRenyi" },
      feedback: null,
      initialState: "zeros",
      seed: "spillway",
      storage: "auto",
      weightPrecision: "full",
      arithmetic: "portable",
      precision: "float32",
    });
  });

  it("is JSON: resolving what was resolved changes nothing", () => {
    const config = resolveConfig({ size: 7, topology: "ring", feedback: { scaling: 0.5 }, leakRate: [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 1] });
    expect(resolveConfig(JSON.parse(JSON.stringify(config)))).toEqual(config);
  });

  it.each([
    [{ leakRate: 1 }],
    [{ spectralRadius: 1.4 }],
    [{ spectralRadius: 0 }],
    [{ connectionProbability: 0 }],
    [{ inputSize: 0 }],
    [{ spectralRadius: null }],
  ])("takes %j", (fields) => {
    expect(resolveConfig({ size: 5, ...fields })).toMatchObject(fields);
  });

  it.each([
    [{}, "size is missing; it takes a whole number of at least 1"],
    [{ size: 0 }, "size is 0; it takes a whole number of at least 1"],
    [{ size: 2.5 }, "size is 2.5; it takes a whole number of at least 1"],
    [{ size: "ten" }, 'size is "ten"; it takes a whole number of at least 1'],
    [{ size: 5, leakRate: 0 }, "leakRate is 0; it takes a number above 0 and at most 1, one per neuron, or {from, to}"],
    [{ size: 5, leakRate: 1.5 }, "leakRate is 1.5; it takes a number above 0 and at most 1, one per neuron, or {from, to}"],
    [{ size: 5, leakRate: { from: 0, to: 1 } }, "leakRate.from is 0; it takes a number above 0 and at most 1"],
    [{ size: 5, leakRate: { from: 0.1 } }, "leakRate.to is missing; it takes a number above 0 and at most 1"],
    [{ size: 3, leakRate: [0.1, 0.2] }, "leakRate is an array of 2; it takes a number, or one per neuron (3)"],
    [{ size: 5, spectralRadius: -1 }, "spectralRadius is -1; it takes a number of at least 0, or null to leave the weights as drawn"],
    [
      { size: 5, spectralRadius: Number.NaN },
      "spectralRadius is NaN; it takes a number of at least 0, or null to leave the weights as drawn",
    ],
    [{ size: 5, connectionProbability: 1.1 }, "connectionProbability is 1.1; it takes a number from 0 to 1"],
    [{ size: 5, activation: "softplus" }, 'activation is "softplus"; it takes one of tanh, identity, relu, sigmoid'],
    [{ size: 5, inputSize: 2, inputScaling: [1] }, "inputScaling is an array of 1; it takes a number, or one per input (2)"],
    [{ size: 5, feedback: { scaling: "big" } }, 'feedback.scaling is "big"; it takes a finite number, or one per output'],
    [{ size: 5, feedback: 1 }, "feedback is 1; it takes null, or an object with size, scaling, density and distribution"],
    [{ size: 5, initialState: [1, 2] }, "initialState is an array of 2; it takes a number, or one per neuron (5)"],
    [{ size: 5, topology: { type: "cycleWithJumps", jump: 9 } }, "topology.jump is 9; it takes a whole number below the size, 5"],
    [{ size: 5, topology: { type: "blockDiagonal", blocks: 6 } }, "topology.blocks is 6; it takes at most the size, 5"],
  ])("refuses %j in a sentence", (options, sentence) => {
    expect(wrong(options)).toThrow(sentence);
    expect(wrong(options)).toThrow(expect.objectContaining({ name: "ArgumentError" }));
  });

  it("refuses an unknown topology with the names there are", () => {
    expect(wrong({ size: 5, topology: "circle" })).toThrow(/topology.* is .*; it takes one of erdosRenyi, fixedInDegree, ring, /);
  });

  it("refuses unknown fields and says which one was meant", () => {
    expect(wrong({ size: 5, spectralradius: 0.9 })).toThrow('unknown field "spectralradius": did you mean "spectralRadius"?');
    expect(wrong({ sise: 5 })).toThrow('unknown field "sise": did you mean "size"?'); // and not that size is missing
    expect(wrong({ size: 5, feedback: { scalling: 1 } })).toThrow('unknown field "feedback.scalling": did you mean "scaling"?');
    expect(wrong({ size: 5, xyzzyplugh: 1 })).toThrow(/unknown field "xyzzyplugh"; known fields are size, inputSize/);
  });
});
