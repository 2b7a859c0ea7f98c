// Every public function is named in same-mistake.test.ts, or has a reason why it is not; every
// public error is a SpillwayError with a code. Which mistakes its rows make is for the reader.
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { SpillwayError } from "../../packages/core/src/errors.js";
import { tasks } from "../../src/tasks/index.js";

/**
 * Functions without a row, by the reason. A new one either gets a row for each mistake that can be
 * made with it, or stands here.
 */
const withoutRow: Readonly<Record<string, readonly string[]>> = {
  "its options are what describes options": [
    ...[
      "byName",
      "byType",
      "callback",
      "checked",
      "checkedLater",
      "choice",
      "choiceOf",
      "either",
      "filled",
      "given",
      "list",
      "number",
      "object",
    ],
    ...["option", "optional", "record", "resolve", "schemaOf", "text", "tuple", "whole", "withoutDefaults"],
  ],
  "takes one value, a name or a path, and no options": [
    ...["probeNccl", "ncclIdentity", "openCommunicators", "communicatorGroup"],
    ...[
      "describe",
      "checkSparse",
      "engineNames",
      "probeEngines",
      "cudaBlas",
      "deviceDoubleDouble",
      "loadWasm",
      "isSpiking",
      "activationOf",
      "toWasm",
    ],
    ...["asTrained", "trainerOf", "knownLyapunovExponent", "samplingInterval", "digamma", "show"],
    ...["writeFileAtomic", "readNpy", "readSafetensors", "readWav", "saveReservoir"],
    ...[
      "encodeReservoir",
      "writeNpy",
      "writeSafetensors",
      "experimentJsonSchema",
      "readSearchResult",
      "loadExperiment",
      "readRun",
      "resolveDataPath",
    ],
    ...["formatResult", "rangeOf", "coordinates", "filterCentres"],
    ...[
      "integrateAndFireNumbers",
      "encodePatternNpz",
      "patternToCsv",
      "patternToJson",
      "qualityMapToJson",
      "qualityMapFromJson",
      "writeSpikePattern",
      "PatternTemplates.load",
    ],
    ...["readNir", "writeNir", "encodeNir", "conflictsOf", "isingEnergy"],
    ...["settingsFromLink", "settingsToLink", "stateHash", "experimentOf", "reservoirOf", "signalOf", "leaveOneGroupOut"],
    ...["AtomicFile.create", "AnomalyDetector.load", "TrainedReadout.fromJSON", "RandomStream", "seedKeys", "philox4x32"],
  ],
  "reads the content of a file, which has errors of its own": [
    ...["decodeNpy", "decodeSafetensors", "decodeWav", "encodeNpy", "encodeSafetensors", "npyToMatrix", "parseExperimentText"],
  ],
  "has its options checked by a function that has a row": [
    ...[
      "AnomalyDetector",
      "readSearch",
      "loadData",
      "transformSeries",
      "transformed",
      "fitTransforms",
      "restoredForecast",
      "generateTask",
      "drivingRows",
      "encode",
      "readUeaFolder",
    ],
  ],
  "arithmetic on numbers or arrays that its caller has checked": [
    ...["gridSize", "hyperband", "mergeStudies", "parameterImportance", "repairJournal", "MemoryStorage", "StudyLog"],
    ...[
      "validationStarts",
      "bfloat16ToFloat32",
      "float16ToFloat32",
      "bfloat16Bits",
      "halfBits",
      "halfValue",
      "allocate",
      "asMatrix",
      "checkSparse",
    ],
    ...["cholesky", "ddAdd", "ddDivide", "ddMultiply", "ddSqrt"],
    ...["doubleDouble", "eigenvalues", "evaluateRows", "isSparse"],
    ...["portableCos", "portableExp", "portableLog", "portablePow", "portableSin", "portableSinCos"],
    ...[
      "normalCdf",
      "normalQuantile",
      "drawNetwork",
      "tableSum",
      "spikeHash",
      "ReferenceNetwork",
      "SpikingNetwork",
      "loadNetworkExperiment",
      "saveNetwork",
    ],
    ...["portableTanh", "portableTanh32", "toDense", "toSparse"],
    ...["PortableGram", "solveSquare", "axisValues", "SystemBlas", "SystemBlas.load"],
    ...[
      "Conceptor.from",
      "Matrix.from",
      "TrainedReadout",
      "numericalRank",
      "effectiveRank",
      "singularValues",
      "symmetricEigen",
      "spectrum",
      "GramAccumulator",
      "RowAccumulator",
      "accumulate",
    ],
    ...["TriangularAccumulator", "OnlineTrainer", "RidgeTrainer", "SoftmaxReadout", "SoftmaxTrainer", "interspikeIntervals"],
    ...["learningStats", "neuronRates", "receiverOperatingCurve", "slicePattern", "spikeCount", "spikeRate"],
    ...["spikeTrains", "spikesInWindow", "squashToUnit", "synapticWeights", "liquidNetwork", "timeProfile", "SpikePattern.from"],
  ],
  "part of the contract with engines": [
    ...["DeviceMatrix", "DeviceSequences", "WorkPacer", "AtomicFile", "addMeasurements", "addProfiles", "applyReadout", "checkFinite"],
    ...["checkWashout", "chooseEngine", "engineOn", "evaluateReadout", "expectedShape", "featureCount", "loopTime", "modelOf"],
    ...["reservoirStep", "shapeOf", "sparseFromRows", "writeFeatures", "checkSummary"],
  ],
  "a handle that another function makes, or a question about a device": [
    ...[
      "CompileCache",
      "DenseRoutines",
      "DeviceBuffer",
      "DeviceBuffer.allocate",
      "DeviceEvent",
      "Communicator",
      "DeviceEvent.create",
      "DeviceSlice",
    ],
    ...["DeviceDetector", "DeviceSpikePattern", "DeviceSpikePattern.upload", "DeviceSpikePatterns", "DeviceSpikePatterns.upload"],
    ...["encodeOnDevice", "GpuCompute", "GpuDevice", "GpuTensor", "Graph", "Graph.recording", "Graph.create", "Kernel", "KernelLauncher"],
    ...["Module", "Module.load", "LockedMatrix", "NeuralNetwork", "Nvrtc", "PinnedBuffer", "PinnedBuffer.lock", "Stream"],
    ...["Stream.create", "StructType", "bytesOf", "defaultCacheFolder", "driverForPtx"],
    ...["loadDriver", "sharedExecutor"],
    ...["shippedManifest", "shippedSource", "vector", "NeuromorphicOperations"],
    ...["FaultyDriver", "SimulatedDriver"],
  ],
  "writes PTX from a shape, which is checked by PtxBuildError": [
    ...["Pointer", "PtxKernel", "PtxProgram", "Value", "Variable", "attention", "classShares", "dequantizeQ4", "elementwise", "gemmNaive"],
    ...["gemmTensorCore", "gemmTiled", "gemv", "kernelName", "layerNorm", "leakyStep", "literal", "parsePtx"],
    ...["quantizeQ4", "quantizedGemm", "rmsNorm", "rowSoftmax"],
    ...["stateStatistics", "typeBytes", "validateKernel"],
  ],
  "says what another function found": ["Forecast", "baselineName", "coverage", "calendarSeasons"],
  "takes a description that the experiment's table has checked": [],
  "draws a figure from measurements": [
    "plotCapacity",
    "plotCurves",
    "plotQualityMap",
    "plotComparison",
    "plotMemoryCapacity",
    "plotSpectrum",
  ],
};

const rows = readFileSync("test/core/same-mistake.test.ts", "utf8");
const hasRow = (name: string): boolean => new RegExp(`\\b${name.replace(".", "\\.")}\\b`).test(rows);

type Callable = ((...args: never) => unknown) & { readonly prototype: unknown } & Readonly<Record<string, unknown>>;
const isClass = (value: Callable): boolean => /^class\b/.test(Function.prototype.toString.call(value));
const isError = (value: Callable): boolean => isClass(value) && value.prototype instanceof Error;

const functions = new Map<string, Callable>();
beforeAll(async () => {
  const { exports } = JSON.parse(readFileSync("package.json", "utf8")) as { exports: Record<string, { default?: string }> };
  for (const { default: target } of Object.values(exports)) {
    if (target === undefined) continue;
    const entry = (await import(`../../${target.replace("./dist/", "src/").replace(/\.js$/, ".ts")}`)) as Record<string, Callable>;
    for (const [name, value] of Object.entries(entry)) {
      if (typeof value !== "function") continue;
      functions.set(name, value);
      if (!isClass(value) || isError(value)) continue;
      for (const maker of Object.getOwnPropertyNames(value))
        if (typeof value[maker] === "function") functions.set(`${name}.${maker}`, value[maker] as Callable);
    }
  }
});

describe("every public function", () => {
  it("is named by a row of the same mistake, or has a reason why it is not", () => {
    const excused = new Set([...Object.values(withoutRow).flat(), ...tasks.names()]);
    // What adds a part has its fields checked by the registry.
    const isExcused = (name: string) => excused.has(name) || name.startsWith("register");
    const missing = [...functions].filter(([name, value]) => !isError(value) && !hasRow(name) && !isExcused(name)).map(([name]) => name);
    expect(missing).toEqual([]);
  });

  it("is excused only if it is there", () => {
    const gone = Object.values(withoutRow)
      .flat()
      .filter((name) => !functions.has(name));
    expect(gone).toEqual([]);
  });
});

/** Where no argument is checked. */
const unchecked = new Set([
  ...withoutRow["its options are what describes options"]!,
  ...withoutRow["part of the contract with engines"]!,
  ...withoutRow["a handle that another function makes, or a question about a device"]!,
  // Their arithmetic is in loops, or makes the sentences of errors.
  ...[
    "checkSparse",
    "ddAdd",
    "ddDivide",
    "ddMultiply",
    "ddSqrt",
    "philox4x32",
    "portableSinCos",
    "activationOf",
    "accumulate",
    "communicatorGroup",
  ],
  // They change what is registered, or serve until they are stopped.
  ...["registerDriver", "registerContextEngine", "registerSpikingKind", "openLab", "serve", "serveModel"],
  ...["openCommunicators", "keepAlive"],
]);

describe("a first argument of another type", () => {
  const writes = /^(write|save|ensure)|\.create$/;
  it.each([undefined, null, {}, 5, "x", [], [{}], () => 0])("is refused with an error of the package: %j", async (wrong) => {
    const raw: string[] = [];
    for (const [name, value] of functions) {
      if (isClass(value) || unchecked.has(name) || (typeof wrong === "string" && writes.test(name))) continue;
      const owner = functions.get(name.split(".")[0]!);
      try {
        const made = await Reflect.apply(value, name.includes(".") ? owner : undefined, [wrong]);
        await (made as { dispose?: () => unknown } | undefined)?.dispose?.();
      } catch (error) {
        if (!(error instanceof SpillwayError)) raw.push(`${name}: ${String(error)}`);
      }
    }
    expect(raw).toEqual([]);
  });
});

it("every public error is a SpillwayError, which has a code", () => {
  const errors = [...functions].filter(([, value]) => isError(value));
  expect(errors.length).toBeGreaterThan(20);
  for (const [name, value] of errors) expect(name === "SpillwayError" || value.prototype instanceof SpillwayError, name).toBe(true);
});
