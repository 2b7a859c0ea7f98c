// The same mistake gives the same class and code in every public function.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as gpu from "../../packages/gpu/src/index.js";
import * as io from "../../packages/io/src/index.js";
import * as numerics from "../../packages/numerics/src/index.js";
import * as ptx from "../../packages/ptx/src/index.js";
import { cmaes, grid, journalFile, randomSampler, redisJournal, SearchSpace, Study, sobol, tpe } from "../../packages/search/src/index.js";
import * as sim from "../../packages/sim/src/index.js";
import * as analysis from "../../src/analysis/index.js";
import { lockedMatrix } from "../../src/engine/cuda/locked-matrix.js";
import * as kernels from "../../src/engine/kernels/index.js";
import {
  parseExperiment,
  readNetworkExperiment,
  runExperiment,
  runFigures,
  runNetworkExperiment,
  searchExperiment,
} from "../../src/experiment/index.js";
import * as spillway from "../../src/index.js";
import { openLab } from "../../src/lab/index.js";
import * as metrics from "../../src/metrics/index.js";
import * as model from "../../src/model/index.js";
import { colourGraph } from "../../src/oscillators/index.js";
import * as pipeline from "../../src/pipeline/index.js";
import * as plot from "../../src/plot/index.js";
import { lstd } from "../../src/readout/index.js";
import * as engine from "../../src/reservoir/engines.js";
import { quantumReservoir } from "../../src/reservoir/index.js";
import * as sampling from "../../src/sampling/index.js";
import * as series from "../../src/series/index.js";
import { handler, serveModel } from "../../src/serve/index.js";
import * as spikesOnDevice from "../../src/spikes/gpu/index.js";
import * as spikes from "../../src/spikes/index.js";
import * as tasks from "../../src/tasks/index.js";
import { errorOf } from "../error-of.js";

type Call = readonly [name: string, call: (wrong: never) => unknown];

const searched: plot.PlottedStudy = {
  direction: "minimise",
  trials: [],
  space: { parameters: [{ name: "a", kind: "float", low: 0, high: 1, log: false, choices: [] }] },
};
const { ReservoirComputer, ReservoirEnsemble, Forecaster, Classifier } = spillway;
const reference = { engine: "reference" } as const;
const rows = (count: number, cols = 1, value = 0.1) =>
  Array.from({ length: count }, (_, t) => Array.from({ length: cols }, (_, c) => value * (t + c)));
const nan = () => [...rows(9), [Number.NaN]];
const pattern = new spikes.SpikePattern({ times: [1, 5], neurons: [0, 1] }, { durationMs: 10, neuronCount: 2 });
/** Two spins that would be alike. */
const pair: sampling.IsingModel = { spins: 2, couplings: [[0, 1, 1]] };
const square = numerics.Matrix.zeros(2, 2);
const cases = Array.from({ length: 6 }, (_, b) => rows(5, 2, b % 2 === 0 ? 0.1 : -0.1));
const labels = ["a", "b", "a", "b", "a", "b"];
const labelled = { sequences: cases, labels };
const parameters = { reservoir: { size: 6, connectionProbability: 0.5 } };
const small = { reservoir: { size: 6 }, ...reference };
/** A kernel that does nothing, as PTX. */
const ptxOfModule = (() => {
  const module = new ptx.PtxModule();
  module.kernel("idle", {}, () => undefined);
  return module.emit();
})();
/** What a step of N neurons takes. */
const step = (size: number) => ({ state: new Float32Array(size), drive: new Float32Array(size), leak: new Float32Array(size) });
let computer: Awaited<ReturnType<typeof ReservoirComputer.create>>;
let forecaster: spillway.Forecaster;
let classifier: spillway.Classifier;
let context: gpu.Context;
let liquid: spikes.LiquidStateMachine;
const templates = () => new spikes.PatternTemplates(["a"], [[1, 2]], { bins: 1, channels: 2 });
let ensemble: spillway.ReservoirEnsemble;
const accumulator = () => spillway.ridge().accumulator({ stateSize: 6, inputSize: 1, outputSize: 1 });
beforeAll(async () => {
  ensemble = await ReservoirEnsemble.create([{ size: 5 }], reference);
  computer = await ReservoirComputer.create({ size: 6, connectionProbability: 0.5 }, reference);
  forecaster = await Forecaster.fit(rows(40), { ...small, washout: 5 });
  classifier = await Classifier.fit(cases as never, labels, small);
  context = gpu.openDevice("sim");
  liquid = await spikes.LiquidStateMachine.create({ size: 6, inputSize: 2 }, reference);
});
afterAll(async () => {
  await Promise.all([computer, forecaster, classifier, liquid, ensemble].map((each) => each.dispose()));
  context.dispose();
});

const withOptions: readonly Call[] = [
  ["ReservoirComputer.create, the description", (wrong) => ReservoirComputer.create({ size: 5, ...(wrong as object) })],
  ["ReservoirComputer.create, a part of it", (wrong) => ReservoirComputer.create({ size: 5, feedback: wrong })],
  ["ReservoirComputer.create, a spiking one", (wrong) => ReservoirComputer.create({ kind: "spiking", size: 5, ...(wrong as object) })],
  ["ReservoirComputer.create, where it runs", (wrong) => ReservoirComputer.create({ size: 5 }, wrong)],
  ["ReservoirEnsemble.create", (wrong) => ReservoirEnsemble.create([{ size: 5 }], wrong)],
  ["run", (wrong) => computer.run(rows(3), wrong)],
  ["its matrices", (wrong) => ReservoirComputer.create({ size: 5 }, { matrices: wrong })],
  ["ReservoirComputer.fromModel", (wrong) => ReservoirComputer.fromModel(computer.model, wrong)],
  ["batch", (wrong) => computer.batch([rows(3)], wrong)],
  ["generate", (wrong) => computer.generate(3, forecaster.readout as never, wrong)],
  ["train", (wrong) => computer.train(rows(3), rows(3), accumulator(), wrong)],
  ["stream", (wrong) => computer.stream([rows(3)], wrong).next()],
  ["run of an ensemble", (wrong) => ensemble.run(rows(3), wrong)],
  ["the training of an ensemble", (wrong) => ensemble.run(rows(3), { training: wrong })],
  ["runEnsemble", (wrong) => spillway.runEnsemble([{ size: 5 }], rows(3), wrong)],
  ["Forecaster.create", (wrong) => Forecaster.create({ ...small, ...(wrong as object) })],
  ["Forecaster.fit, the reservoir", (wrong) => Forecaster.fit(rows(200), { ...reference, reservoir: { size: 6, ...(wrong as object) } })],
  ["AnomalyDetector.create", (wrong) => spillway.AnomalyDetector.create(wrong)],
  ["AnomalyDetector.fromBytes", (wrong) => spillway.AnomalyDetector.fromBytes(new Uint8Array(0), wrong)],
  ["Forecaster.create, the readout", (wrong) => Forecaster.create({ ...small, readout: wrong })],
  ["Forecaster.forecast", (wrong) => forecaster.forecast(3, wrong)],
  ["fit of a forecaster", (wrong) => forecaster.fit(rows(40), wrong)],
  ["Forecaster.predict", (wrong) => forecaster.predict(rows(3), wrong)],
  ["Forecaster.score", (wrong) => forecaster.score(rows(9), wrong)],
  ["Forecaster.lyapunovSpectrum", (wrong) => forecaster.lyapunovSpectrum(wrong)],
  ["FieldForecaster.create", (wrong) => spillway.FieldForecaster.create({ groups: 2, reservoir: { size: 5 }, ...(wrong as object) })],
  ["FieldForecaster.fit", (wrong) => spillway.FieldForecaster.fit(rows(40), { groups: 1, reservoir: { size: 5 }, ...(wrong as object) })],
  ["FieldForecaster.fromBytes", (wrong) => spillway.FieldForecaster.fromBytes(new Uint8Array(0), wrong)],
  ["FieldForecaster.load", (wrong) => spillway.FieldForecaster.load("test/nowhere", wrong)],
  ["Conceptor.fromStates", (wrong) => model.Conceptor.fromStates(rows(9, 2), wrong)],
  ["Conceptor.fromCorrelation", (wrong) => model.Conceptor.fromCorrelation([[1]], wrong)],
  ["ConceptorMemory.store", (wrong) => model.ConceptorMemory.store([rows(200)], wrong)],
  ["NvarForecaster.create", (wrong) => spillway.NvarForecaster.create(wrong)],
  ["NvarForecaster.fit", (wrong) => spillway.NvarForecaster.fit(rows(40), wrong)],
  ["NvarForecaster.forecast", async (wrong) => (await spillway.NvarForecaster.fit(rows(40))).forecast(3, wrong)],
  ["NvarForecaster.fromBytes", (wrong) => spillway.NvarForecaster.fromBytes(new Uint8Array(0), wrong)],
  ["NvarForecaster.load", (wrong) => spillway.NvarForecaster.load("test/nowhere", wrong)],
  ["Forecaster.load", (wrong) => Forecaster.load("test/nowhere", wrong)],
  ["Classifier.load", (wrong) => Classifier.load("test/nowhere", wrong)],
  ["loadModel", (wrong) => spillway.loadModel("test/nowhere", wrong)],
  ["loadReservoir", (wrong) => spillway.loadReservoir("test/nowhere", wrong)],
  ["saveC", (wrong) => model.saveC("test/nowhere", forecaster, wrong)],
  ["saveWasm", (wrong) => model.saveWasm("test/nowhere", forecaster, wrong)],
  ["saveOnnx", (wrong) => model.saveOnnx("test/nowhere", forecaster, wrong)],
  ["registerEngine", (wrong) => engine.registerEngine("own", undefined as never, wrong)],
  ["openLab", (wrong) => openLab(wrong)],
  ["serveModel", (wrong) => serveModel("test/nowhere", wrong)],
  ["Forecaster.fromBytes", (wrong) => Forecaster.fromBytes(new Uint8Array(0), wrong)],
  ["Classifier.fromBytes", (wrong) => Classifier.fromBytes(new Uint8Array(0), wrong)],
  ["decodeReservoir", (wrong) => model.decodeReservoir(new Uint8Array(0), wrong)],
  ["toC", (wrong) => model.toC(forecaster, wrong)],
  ["toOnnx", (wrong) => model.toOnnx(forecaster, wrong)],
  ["fit of a classifier", (wrong) => classifier.fit(cases as never, labels, wrong)],
  ["Classifier.create", (wrong) => Classifier.create({ ...small, ...(wrong as object) })],
  ["Classifier.predict", (wrong) => classifier.predict(cases as never, wrong)],
  ["sweepReadouts", (wrong) => spillway.sweepReadouts(wrong)],
  ["sweepForecasts", (wrong) => spillway.sweepForecasts(wrong)],
  [
    "a setting of sweepReadouts",
    (wrong) => spillway.sweepReadouts({ ...small, settings: [wrong], inputs: rows(9), targets: rows(9), validation: 2 }),
  ],
  ["ridge", spillway.ridge],
  ["softmaxRegression", spillway.softmaxRegression],
  ["recursiveLeastSquares", spillway.recursiveLeastSquares],
  ["leastMeanSquares", spillway.leastMeanSquares],
  ["lstd", lstd],
  ["colourGraph", (wrong) => colourGraph({ vertices: 2, edges: [[0, 1]] }, 2, wrong)],
  ["sampleIsing", (wrong) => sampling.sampleIsing(pair, Object.assign({ beta: 1 }, wrong))],
  ["sampleTransverseField", (wrong) => sampling.sampleTransverseField(pair, Object.assign({ beta: 1, transverseField: 1 }, wrong))],
  ["annealIsing", (wrong) => sampling.annealIsing(pair, wrong)],
  ["quantumReservoir", (options) => quantumReservoir(options)],
  ["PredictiveCodingFilter", (wrong) => new model.PredictiveCodingFilter(wrong)],
  ["ActiveInferenceAgent", (wrong) => new model.ActiveInferenceAgent(wrong)],
  ["fit of a readout", (wrong) => spillway.ridge().fit(rows(9, 2), rows(9), wrong)],
  ["predict of a readout", (wrong) => spillway.ridge().fit(rows(9, 2), rows(9)).predict(rows(2, 2), undefined, wrong)],
  ...spillway.tasks.all().map((task): Call => [task.name, (wrong) => task.generate(20, wrong)]),
  ["toForecasting", (wrong) => spillway.toForecasting(rows(9), wrong)],
  ["nrmse", (wrong) => spillway.nrmse(rows(3), rows(3), wrong)],
  ["mase", (wrong) => metrics.mase(rows(3), rows(3), wrong)],
  ["rmsse", (wrong) => metrics.rmsse(rows(3), rows(3), wrong)],
  ["msis", (wrong) => metrics.msis(rows(3), { lower: rows(3), upper: rows(3) } as never, 0.9, wrong)],
  ["handler", (wrong) => handler(forecaster, wrong)],
  ["r2", (wrong) => spillway.r2(rows(3), rows(3), wrong)],
  ["conformalOffsets", (wrong) => series.conformalOffsets(rows(9), 1, wrong)],
  ["AdaptiveConformal", (wrong) => new series.AdaptiveConformal(rows(9), 1, wrong)],
  ["fitAutoregression", (wrong) => series.fitAutoregression(rows(9), { order: 1, lambda: 1, ...(wrong as object) })],
  ["seasonalNaive", (wrong) => spillway.seasonalNaive(rows(3), wrong)],
  ["validPredictionTime", (wrong) => spillway.validPredictionTime(rows(3), rows(3), wrong)],
  ["memoryCapacity", (wrong) => analysis.memoryCapacity(computer, wrong)],
  ["analyse", (wrong) => analysis.analyse({ size: 5 }, wrong)],
  ["qualityMap", (wrong) => analysis.qualityMap({ size: 5 }, wrong)],
  ["measureReservoirs", (wrong) => analysis.measureReservoirs([{ size: 5 }], wrong)],
  ["informationCapacity", (wrong) => analysis.informationCapacity({ size: 5 }, wrong)],
  ["kernelRank", (wrong) => analysis.kernelRank(computer, wrong)],
  ["lyapunovExponent", (wrong) => analysis.lyapunovExponent({ size: 5 }, wrong)],
  ["lyapunovSpectrum", (wrong) => analysis.lyapunovSpectrum({ size: 5 }, wrong)],
  ["echoStateIndex", (wrong) => analysis.echoStateIndex({ size: 5 }, wrong)],
  ["spectralRadius of a reservoir", (wrong) => analysis.spectralRadius({ size: 5 }, wrong)],
  ["generalisationRank", (wrong) => analysis.generalisationRank(computer, wrong)],
  ["compare", (wrong) => analysis.compare({ size: 5 }, rows(3), ["cpu", "reference"], wrong)],
  ["transferEntropy", (wrong) => analysis.transferEntropy([1, 2], [1, 2], wrong)],
  ["informationFlow", (wrong) => analysis.informationFlow([], wrong)],
  ["activeInformationStorage", (wrong) => analysis.activeInformationStorage([1], wrong)],
  ["gaussianTransferEntropy", (wrong) => analysis.gaussianTransferEntropy([1], [1], wrong)],
  ["informationDynamics", (wrong) => analysis.informationDynamics({ size: 5 }, wrong)],
  ["mutualInformation", (wrong) => analysis.mutualInformation([1], [1], wrong)],
  ["nearestNeighbourTransferEntropy", (wrong) => analysis.nearestNeighbourTransferEntropy([1], [1], wrong)],
  ["spectralRadius of a matrix", (wrong) => numerics.matrixSpectralRadius(numerics.Matrix.zeros(2, 2), wrong)],
  ["readCsv", (wrong) => io.readCsv("nowhere.csv", wrong)],
  ["readTimes", (wrong) => series.readTimes(["2020", "2021"], wrong)],
  ["csvColumns", (wrong) => io.csvColumns("1,2", wrong)],
  ["readNpz", (wrong) => io.readNpz("nowhere.npz", wrong)],
  ["readParquet", (wrong) => io.readParquet("nowhere.parquet", wrong)],
  ["readParquet", (wrong) => io.readParquet(new Uint8Array(0), wrong)],
  ["tableFrom", (wrong) => io.tableFrom([{ x: 1 }], wrong)],
  ["decodeNpz", (wrong) => io.decodeNpz(new Uint8Array(0), wrong)],
  ["readUea", (wrong) => io.readUea("nowhere.ts", wrong)],
  ["NpyWriter.create", (wrong) => io.NpyWriter.create("nowhere/a.npy", wrong)],
  ["randomSampler", randomSampler],
  ["sobol", sobol],
  ["grid", grid],
  ["tpe", tpe],
  ["cmaes", cmaes],
  ["journalFile", (wrong) => journalFile("test/nowhere", wrong)],
  ["redisJournal", (wrong) => redisJournal("redis://127.0.0.1:1", wrong)],
  ["Study.open", (wrong) => Study.open({ space: { a: { float: [0, 1] } }, ...(wrong as object) })],
  ["SearchSpace", (wrong) => new SearchSpace({ a: { float: [0, 1], ...(wrong as object) } })],
  ["searchExperiment", (wrong) => searchExperiment("nowhere.yaml", wrong)],
  ["runExperiment", (wrong) => runExperiment("nowhere.yaml", wrong)],
  ["runFigures", (wrong) => runFigures("nowhere", wrong)],
  ["parseCsv", (wrong) => io.parseCsv("1,2", wrong)],
  ["formatCsv", (wrong) => io.formatCsv(rows(2), wrong)],
  ["encodeNpz", (wrong) => io.encodeNpz({ a: numerics.Matrix.zeros(1, 1) }, wrong)],
  ["encodeWav", (wrong) => io.encodeWav(rows(2), wrong)],
  ["parseUea", (wrong) => io.parseUea("", wrong)],
  ["kFold", (wrong) => pipeline.kFold(9, wrong)],
  ["stratifiedKFold", (wrong) => pipeline.stratifiedKFold(labels, wrong)],
  ["groupKFold", (wrong) => pipeline.groupKFold(labels, wrong)],
  ["crossValidate", (wrong) => pipeline.crossValidate(parameters, labelled, wrong)],
  ["gridSearch", (wrong) => pipeline.gridSearch(parameters, { washout: [0] }, labelled, wrong)],
  ["Pipeline, its parameters", (wrong) => new pipeline.Pipeline({ ...parameters, ...(wrong as object) })],
  ...[{ type: "spikes", encoder: "latency", frameMs: 5, binMs: 1 }, { type: "cochleagram", sampleRate: 8000 }, { type: "pattern" }].map(
    (encoder): Call => [
      `Pipeline, its encoder ${encoder.type}`,
      (wrong) => new pipeline.Pipeline({ ...parameters, encoder: { ...encoder, ...(wrong as object) } as never }),
    ],
  ),
  ["Pipeline", (wrong) => new pipeline.Pipeline(parameters, wrong)],
  ["Pipeline.fromBytes", (wrong) => pipeline.Pipeline.fromBytes(new Uint8Array(), wrong)],
  ["fit of a pipeline", (wrong) => new pipeline.Pipeline(parameters).fit(cases, labels, wrong)],
  ["readWavFolder", (wrong) => pipeline.readWavFolder(".", wrong)],
  ["readSeriesFolder", (wrong) => pipeline.readSeriesFolder(".", wrong)],
  ["readSpikeFolder", (wrong) => pipeline.readSpikeFolder(".", wrong)],
  ["trainTestSplit", (wrong) => pipeline.trainTestSplit(9, wrong)],
  ["plotStateHeatmap", (wrong) => plot.plotStateHeatmap(rows(3), wrong)],
  ["plotSeries", (wrong) => plot.plotSeries(rows(3), wrong)],
  ["plotError", (wrong) => plot.plotError([rows(3)], [rows(3)], wrong)],
  ["plotResiduals", (wrong) => plot.plotResiduals([rows(3)], [rows(3)], wrong)],
  ["plotHistory", (wrong) => plot.plotHistory(searched, wrong)],
  ["plotIntermediateValues", (wrong) => plot.plotIntermediateValues(searched, wrong)],
  ["plotTimeline", (wrong) => plot.plotTimeline(searched, wrong)],
  ["plotContour", (wrong) => plot.plotContour(searched, "a", "a", wrong)],
  ["plotImportance", (wrong) => plot.plotImportance({}, wrong)],
  ["plotParallelCoordinates", (wrong) => plot.plotParallelCoordinates(searched, wrong)],
  ["plotSlices", (wrong) => plot.plotSlices(searched, wrong)],
  ["plotCalibration", (wrong) => plot.plotCalibration([0.5], [0.5], wrong)],
  ["plotTrajectories", (wrong) => plot.plotTrajectories(rows(3), wrong)],
  ["plotPhaseSpace", (wrong) => plot.plotPhaseSpace(rows(3, 2), wrong)],
  ["plotConfusion", (wrong) => plot.plotConfusion([[1]], ["a"], wrong)],
  ["toHtml", (wrong) => plot.toHtml(plot.plotSeries(rows(3)), wrong)],
  ["toImage", (wrong) => plot.toImage(plot.plotSeries(rows(3)), wrong)],
  ["reportHtml", (wrong) => plot.reportHtml({ title: "x", sections: [], ...(wrong as object) })],
  ["plotForecast", (wrong) => plot.plotForecast(rows(3), rows(3), wrong)],
  ["toSvg", (wrong) => plot.toSvg(plot.plotStateHeatmap(rows(3)), wrong)],
  ["binSpikes", (wrong) => spikes.binSpikes(pattern, wrong)],
  ["mergePatterns", (wrong) => spikes.mergePatterns([pattern], wrong)],
  ["poissonPattern", (wrong) => spikes.poissonPattern(wrong)],
  ["rateEncode", (wrong) => spikes.rateEncode(rows(3), wrong)],
  ["rateDecode", (wrong) => spikes.rateDecode(pattern, wrong)],
  ["deltaEncode", (wrong) => spikes.deltaEncode(rows(3), wrong)],
  ["deltaDecode", (wrong) => spikes.deltaDecode(pattern, wrong)],
  ["latencyEncode", (wrong) => spikes.latencyEncode(rows(3), wrong)],
  ["latencyDecode", (wrong) => spikes.latencyDecode(pattern, wrong)],
  ["phaseEncode", (wrong) => spikes.phaseEncode(rows(3), wrong)],
  ["populationEncode", (wrong) => spikes.populationEncode(rows(3), wrong)],
  ["populationDecode", (wrong) => spikes.populationDecode(pattern, wrong)],
  ["cochleagram", (wrong) => spikes.cochleagram(rows(3), wrong)],
  ["cochleaEncode", (wrong) => spikes.cochleaEncode(rows(3), wrong)],
  ["scaleToUnit", (wrong) => spikes.scaleToUnit(rows(3), wrong)],
  ["reservoirSpikes", (wrong) => spikes.reservoirSpikes(computer as never, pattern, wrong)],
  ["writeSpikeHdf5", (wrong) => spikes.writeSpikeHdf5("test/nowhere/a.h5", [pattern], wrong)],
  ["CircuitBreaker", (wrong) => new spikes.CircuitBreaker(wrong)],
  ["LiquidStateMachine.fromModel", (wrong) => spikes.LiquidStateMachine.fromModel(liquid.model as never, wrong)],
  ["Pipeline.load", (wrong) => pipeline.Pipeline.load("test/nowhere", wrong)],
  ["transferEntropyMatrix", (wrong) => analysis.transferEntropyMatrix(rows(9, 2), wrong)],
  ["writeCsv", (wrong) => io.writeCsv("test/nowhere/a.csv", rows(2), wrong)],
  ["encodeParquet", (wrong) => io.encodeParquet([[1]], wrong)],
  ["writeParquet", (wrong) => io.writeParquet("test/nowhere/a.parquet", [[1]], wrong)],
  ["writeNpz", (wrong) => io.writeNpz("test/nowhere/a.npz", {}, wrong)],
  ["writeWav", (wrong) => io.writeWav("test/nowhere/a.wav", rows(2), wrong)],
  ["plotError", (wrong) => plot.plotError([rows(3)], [rows(3)], wrong)],
  ["plotSeries", (wrong) => plot.plotSeries(rows(3), wrong)],
  ["plotPhaseSpace", (wrong) => plot.plotPhaseSpace(rows(3, 2), wrong)],
  ["plotTrajectories", (wrong) => plot.plotTrajectories(rows(3), wrong)],
  ["plotSpikeRaster", (wrong) => plot.plotSpikeRaster(pattern as never, wrong)],
  ["reportHtml", (wrong) => plot.reportHtml(wrong)],
  ["toHtml", (wrong) => plot.toHtml(plot.plotStateHeatmap(rows(3)), wrong)],
  ["toImage", (wrong) => plot.toImage(plot.plotStateHeatmap(rows(3)), wrong)],
  ["encodeSpikes", (wrong) => spikes.encodeSpikes(rows(3), { encoder: "phase", frameMs: 5, ...(wrong as object) } as never)],
  ["concatenatePatterns", (wrong) => spikes.concatenatePatterns([pattern], wrong)],
  ["shiftPattern", (wrong) => spikes.shiftPattern(pattern, 1, wrong)],
  ["jitterPattern", (wrong) => spikes.jitterPattern(pattern, wrong)],
  ["thinPattern", (wrong) => spikes.thinPattern(pattern, wrong)],
  ["spikeRaster", (wrong) => spikes.spikeRaster(pattern, wrong)],
  ["patternFromRaster", (wrong) => spikes.patternFromRaster(square, wrong)],
  ["patternFromJson", (wrong) => spikes.patternFromJson("", wrong)],
  ["patternFromCsv", (wrong) => spikes.patternFromCsv("", wrong)],
  ["decodePatternNpz", (wrong) => spikes.decodePatternNpz(new Uint8Array(), wrong)],
  ["readSpikePattern", (wrong) => spikes.readSpikePattern("a.json", wrong)],
  ["SpikeEventFile.decode", (wrong) => spikes.SpikeEventFile.decode(new Uint8Array(), wrong)],
  ["SpikeEventFile.open", (wrong) => spikes.SpikeEventFile.open("a.h5", wrong)],
  ["encodeSpikeHdf5", (wrong) => spikes.encodeSpikeHdf5([pattern], wrong)],
  ["SpikeTimingPlasticity", (wrong) => new spikes.SpikeTimingPlasticity(square, wrong)],
  ["plasticityProfile", spikes.plasticityProfile],
  ["RateHebbianPlasticity", (wrong) => new spikes.RateHebbianPlasticity(square, wrong)],
  ["oja", (wrong) => spikes.oja(square, rows(2, 2), wrong)],
  ["intrinsicPlasticity", (wrong) => spikes.intrinsicPlasticity(computer.model as never, rows(2), wrong)],
  ["learnSpikeTiming", (wrong) => spikes.learnSpikeTiming(liquid.model, [pattern], wrong)],
  ["withSynapticWeights", (wrong) => spikes.withSynapticWeights(liquid.model, numerics.Matrix.zeros(6, 6), wrong)],
  ["reservoirSnapshot", (wrong) => spikes.reservoirSnapshot(new Float64Array(2), wrong)],
  ["observe", (wrong) => new spikes.ReservoirStatistics().observe(new Float64Array(2), wrong)],
  ["run of ReservoirStatistics", (wrong) => new spikes.ReservoirStatistics().run(computer, rows(2), wrong)],
  ["simulateNeuron", (wrong) => spikes.simulateNeuron("izhikevich", [1], wrong)],
  ["SpikingNetwork.create", (wrong) => spikes.SpikingNetwork.create({ kind: "network", populations: { E: { size: 2 } } }, wrong)],
  [
    "run of SpikingNetwork",
    async (wrong) => (await spikes.SpikingNetwork.create({ kind: "network", populations: { E: { size: 2 } } })).run(1, wrong),
  ],
  ["loadNetwork", (wrong) => spikes.loadNetwork("a.safetensors", wrong)],
  ["populationStatistics", (wrong) => spikes.populationStatistics(pattern, wrong)],
  ["plotPopulationRaster", (wrong) => plot.plotPopulationRaster({ E: pattern }, wrong)],
  ["plotWeights", (wrong) => plot.plotWeights([1], [1], wrong)],
  [
    "weights of SpikingNetwork",
    async (wrong) => (await spikes.SpikingNetwork.create({ kind: "network", populations: { E: { size: 2 } } })).weights(0, wrong),
  ],
  ["plotPopulationRates", (wrong) => plot.plotPopulationRates({ E: 1 }, [], wrong)],
  ["readNetworkExperiment", (wrong: object) => readNetworkExperiment({ name: "a", network: { microcircuit: { scale: 0.01 } }, ...wrong })],
  [
    "runNetworkExperiment",
    (wrong) => runNetworkExperiment(readNetworkExperiment({ name: "a", network: { microcircuit: { scale: 0.01 } } }), wrong),
  ],
  ["microcircuit", (wrong) => spikes.microcircuit(wrong)],
  ["hpcBenchmark", (wrong) => spikes.hpcBenchmark(wrong)],
  ["decodeNir", (wrong) => spikes.decodeNir(new Uint8Array(), wrong)],
  ["networkFromNir", (wrong) => spikes.networkFromNir({ nodes: {}, edges: [] }, wrong)],
  ["networkToNir", (wrong) => spikes.networkToNir({ kind: "network", populations: { E: { size: 2 } } }, wrong)],
  ["planNetwork", (wrong: object) => spikes.planNetwork({ kind: "network", populations: { E: { size: 2 } }, ...wrong })],
  ["KuramotoOscillators", (wrong) => new spikes.KuramotoOscillators(wrong)],
  ["PatternTemplates", (wrong) => new spikes.PatternTemplates(["a"], [[1, 2]], wrong)],
  ["PatternTemplates.learn", (wrong) => spikes.PatternTemplates.learn([pattern], wrong)],
  ["PatternTemplates.decode", (wrong) => spikes.PatternTemplates.decode(new Uint8Array(), wrong)],
  ["PatternDetector", (wrong) => new spikes.PatternDetector(wrong)],
  ["PatternDetector, its thresholds", (wrong) => new spikes.PatternDetector({ thresholds: wrong })],
  ["PatternDetector, its circuit breaker", (wrong) => new spikes.PatternDetector({ circuitBreaker: wrong })],
  ["binSpikesOnDevice", (wrong) => spikesOnDevice.binSpikesOnDevice(context, pattern, wrong)],
  ["binPatternsOnDevice", (wrong) => spikesOnDevice.binPatternsOnDevice(context, [pattern], wrong)],
  ["DeviceTemplates", (wrong) => new spikesOnDevice.DeviceTemplates(context, templates(), wrong)],
  ["processPatterns", (wrong) => spikes.processPatterns(computer, [pattern], wrong)],
  ["processPattern", (wrong) => spikes.processPattern(computer, pattern, wrong)],
  ["run of a liquid", (wrong) => liquid.run(pattern, wrong)],
  ["spikes of a liquid", (wrong) => liquid.spikes(pattern, wrong)],
  ["patternInputs", (wrong) => spikes.patternInputs(computer, pattern, wrong)],
  ["PtxModule", (wrong) => new ptx.PtxModule(wrong)],
  ["openDevice", (wrong) => gpu.openDevice(wrong)],
  ["lockedMatrix", (wrong) => lockedMatrix(2, 3, wrong)],
  ["joinCommunicator", (wrong) => gpu.joinCommunicator(context, wrong)],
  ["openDevices", (wrong) => gpu.openDevices("all", wrong)],
  ["alloc", (wrong) => context.alloc("f32", 2, wrong)],
  ["zeros", (wrong) => context.zeros("f32", 2, wrong)],
  ["upload", (wrong) => context.upload(new Float32Array(2), wrong)],
  ["pinned", (wrong) => context.pinned("f32", 2, wrong)],
  ["load", (wrong) => context.load(ptxOfModule, wrong)],
  ["a kernel of a module", (wrong) => context.load(ptxOfModule).kernel("idle", [], wrong)],
  ["stream", (wrong) => context.stream(wrong)],
  ["event", (wrong) => context.event(wrong)],
  [
    "a launch",
    (wrong) => context.stream().launch(context.load(ptxOfModule).kernel("idle", []), { grid: 1, block: 1, ...(wrong as object) }),
  ],
  ["capture", (wrong) => context.stream().capture(() => undefined, wrong)],
  [
    "a 2-D copy",
    (wrong) => context.stream().copy2D(context.zeros("f32", 4), context.zeros("f32", 4), { columns: 2, rows: 2, ...(wrong as object) }),
  ],
  ["struct", (wrong) => gpu.struct({ a: "f32" }, wrong)],
  ["listDevices", (wrong) => gpu.listDevices(wrong)],
  ["loadNvrtc", (wrong) => gpu.loadNvrtc(wrong)],
  ["probe", (wrong) => gpu.probe(wrong)],
  ["shippedPtx", (wrong) => gpu.shippedPtx("executor", wrong)],
  ["KernelExecutor", (wrong) => new gpu.KernelExecutor(context, wrong)],
  ["matmul", (wrong) => new gpu.KernelExecutor(context).matmul(new Float32Array(1), new Float32Array(1), 1, 1, 1, wrong)],
  ["a layer of a network", (wrong) => new gpu.KernelExecutor(context).network([wrong])],
  ["bounds of a kernel", (wrong) => new ptx.PtxModule().kernel("idle", wrong, () => undefined)],
  ["generateKernel, where it runs", (wrong) => ptx.generateKernel({ kind: "softmax", rows: 2, dim: 4 }, wrong)],
  ["generateKernel, its shape", (wrong) => ptx.generateKernel({ kind: "softmax", rows: 2, dim: 4, ...(wrong as object) })],
  ["simulatedDriver, its checks", (wrong) => sim.simulatedDriver({ checks: wrong })],
  ["PtxMachine, its limits", (wrong) => new ptx.PtxMachine({ limits: wrong })],
  ["HostNeuromorphicKernels", (wrong) => new kernels.HostNeuromorphicKernels(wrong)],
  ["NeuromorphicKernels", (wrong) => new kernels.NeuromorphicKernels(context, wrong)],
  ["matvecInput", (wrong) => new kernels.HostNeuromorphicKernels().matvecInput({ size: 2, ...(wrong as object) })],
  ["leakyIntegration, its noise", (wrong) => new kernels.HostNeuromorphicKernels().leakyIntegration({ ...step(2), noise: wrong })],
  ["simulatedDriver", (wrong) => sim.simulatedDriver(wrong)],
  [
    "an experiment",
    (wrong) => parseExperiment({ name: "x", data: { task: "narma" }, reservoir: { size: 5 }, task: "predict", ...(wrong as object) }),
  ],
  [
    "an experiment's reservoir",
    (wrong) => parseExperiment({ name: "x", data: { task: "narma" }, reservoir: { size: 5, ...(wrong as object) }, task: "predict" }),
  ],
  [
    "an experiment's task options",
    (wrong) => parseExperiment({ name: "x", data: { task: "narma", options: wrong }, reservoir: { size: 5 }, task: "predict" }),
  ],
];

describe("the same mistake is the same class and code", () => {
  it.each(withOptions)("a misspelt option of %s", async (_, call) => {
    const error = await errorOf(() => call({ zealous: 1 } as never));
    expect(error).toMatchObject({ name: "ArgumentError", code: "unknown-field", field: expect.stringMatching(/(^|\.)zealous$/), value: 1 });
  });

  it.each([
    ["run", () => computer.run(nan())],
    ["batch", () => computer.batch([nan()])],
    ["Forecaster.fit", () => Forecaster.fit(nan(), small)],
    ["FieldForecaster.fit", () => spillway.FieldForecaster.fit(nan(), { groups: 1, reservoir: { size: 5 } })],
    ["Conceptor.fromStates", async () => model.Conceptor.fromStates(nan())],
    ["ConceptorMemory.store", () => model.ConceptorMemory.store([nan()])],
    ["NvarForecaster.fit", () => spillway.NvarForecaster.fit(nan())],
    ["Classifier.fit", () => Classifier.fit([nan(), rows(9)] as never, ["a", "b"], small)],
    ["states of ridge", () => spillway.ridge().fit(nan(), rows(10))],
    ["targets of ridge", () => spillway.ridge().fit(rows(10), nan())],
    ["a row of an online readout", () => spillway.leastMeanSquares().step([Number.NaN], [1])],
    ["mse", () => spillway.mse(nan(), rows(10))],
    ["nrmse", () => spillway.nrmse(rows(10), nan())],
    ["r2", () => spillway.r2(nan(), rows(10))],
    ["validPredictionTime", () => spillway.validPredictionTime(nan(), rows(10))],
    ["toForecasting", () => spillway.toForecasting(nan())],
    ["mae", () => spillway.mae(nan(), rows(10))],
    ["rmse", () => spillway.rmse(rows(10), nan())],
    ["findSeason", () => series.findSeason(nan())],
    ["seasonalNaive", () => spillway.seasonalNaive(nan(), { period: 2, steps: 2 })],
    ["encodeSpikes", () => spikes.encodeSpikes(nan(), { encoder: "phase", frameMs: 5 })],
    ["a spike's time", () => new spikes.SpikePattern({ times: [Number.NaN], neurons: [0] }, { durationMs: 10, neuronCount: 2 })],
    ["an option of a reservoir", () => ReservoirComputer.create({ size: 5, bias: Number.NaN }, reference)],
    ["an option of a readout", () => spillway.ridge({ lambda: Number.NaN })],
    ["an option of a task", () => spillway.lorenz(9, { sigma: Number.NaN })],
    ["an option of an encoder", () => spikes.encodeSpikes(rows(9), { encoder: "phase", frameMs: Number.NaN })],
    ["an option of a binning", () => spikes.binSpikes(pattern, { binMs: Number.NaN })],
    ["an option of a rule", () => new spikes.SpikeTimingPlasticity(square, { depressionRatio: Number.NaN })],
    ["an option of a detector", () => new spikes.PatternDetector({ minDurationMs: Number.NaN })],
    ["a frequency of an oscillator", () => new spikes.KuramotoOscillators({ frequenciesHz: [Number.NaN] })],
    ["a phase of an oscillator", () => new spikes.KuramotoOscillators({ phases: [Number.NaN] })],
    ["a duration of a file", () => spikes.patternFromJson('{"times":[],"neurons":[]}', { durationMs: Number.NaN })],
    ["a share of a split", () => pipeline.trainTestSplit(9, { test: Number.NaN })],
    ["a case of a pipeline", () => new pipeline.Pipeline(parameters).fit([nan(), ...cases.slice(1)], labels)],
    ["an option of an analysis", () => analysis.kernelRank(computer, { amplitude: Number.NaN })],
    ["a series of an analysis", () => analysis.transferEntropy([1, Number.NaN, ...Array(20).fill(1)], Array(22).fill(1))],
    ["an option of a figure", () => plot.plotSeries(rows(3), { start: Number.NaN })],
    ["the size of a drawing", () => plot.toSvg(plot.plotSeries(rows(3)), { width: Number.NaN })],
    ["an option of a stream", () => context.stream({ priority: Number.NaN })],
    ["a size of a generated kernel", () => ptx.generateKernel({ kind: "softmax", rows: Number.NaN, dim: 4 })],
    ["an option of a simulated device", () => sim.simulatedDriver({ devices: Number.NaN })],
    [
      "the noise of a step",
      () => new kernels.HostNeuromorphicKernels().leakyIntegration({ ...step(1), noise: { level: Number.NaN, key: [1, 2], step: 0 } }),
    ],
    ["an option of a metric", () => spillway.nrmse(rows(3), rows(3), { scale: Number.NaN })],
  ] as const)("NaN in %s", async (_, call) => {
    expect(await errorOf(call)).toMatchObject({ name: "ArgumentError", code: "value" });
  });

  it.each([
    ["columns of run", () => computer.run(rows(3, 2))],
    ["targets of train", () => computer.train(rows(5), rows(4), accumulator())],
    ["targets of ridge", () => spillway.ridge().fit(rows(9, 2), rows(8))],
    ["columns of a readout", () => spillway.ridge().fit(rows(9, 2), rows(9)).predict(rows(2, 3))],
    ["targets of Forecaster.fit", () => Forecaster.fit({ inputs: rows(9), targets: rows(8) }, small)],
    ["labels of Classifier.fit", () => Classifier.fit(cases as never, ["a", "b"], small)],
    ["channels of Classifier.predict", () => classifier.predict([rows(4, 3)] as never)],
    ["mse", () => spillway.mse(rows(3), rows(4))],
    ["accuracy", () => spillway.accuracy(["a"], ["a", "b"])],
    ["an initial state of lorenz96", () => tasks.lorenz96(5, { N: 6, initialState: [1, 2] })],
    ["neurons of a pattern", () => new spikes.SpikePattern({ times: [1, 2], neurons: [0] }, { durationMs: 10, neuronCount: 2 })],
    ["phases of oscillators", () => new spikes.KuramotoOscillators({ count: 3, phases: [1] })],
    ["labels of a pipeline", () => new pipeline.Pipeline(parameters).fit(cases, ["a", "b"])],
    ["labels of a split", () => pipeline.trainTestSplit(9, { labels })],
    ["labels of templates", () => spikes.PatternTemplates.learn([pattern], { bins: 1, channels: 2, labels: [] })],
    ["a template", () => new spikes.PatternTemplates(["a"], [[1, 2, 3]], { bins: 1, channels: 2 })],
    ["columns of learnt states", () => new spikes.RateHebbianPlasticity(square).apply(rows(3, 3))],
    ["neurons of a liquid's pattern", () => spikes.patternInputs(computer, pattern, { stepMs: 1 })],
    ["confusionMatrix", () => spillway.confusionMatrix(["a"], ["a", "b"])],
    ["classificationReport", () => metrics.classificationReport(["a"], ["a", "b"])],
    ["smape", () => metrics.smape(rows(3), rows(4))],
    ["pinball", () => metrics.pinball(rows(3), { level: 0.5, values: numerics.Matrix.zeros(4, 1) })],
    ["crps", () => metrics.crps(rows(3), [{ level: 0.5, values: numerics.Matrix.zeros(4, 1) }])],
    ["wql", () => metrics.wql(rows(3), [{ level: 0.5, values: numerics.Matrix.zeros(4, 1) }])],
    ["sharpness", () => metrics.sharpness(rows(3), { lower: numerics.Matrix.zeros(4, 1), upper: numerics.Matrix.zeros(4, 1) })],
    ["owa", () => metrics.owa([{ smape: 1, mase: 1 }], [])],
    ["reliability", () => metrics.reliability(["a"], [[0.5, 0.5]], ["a"])],
    ["column names of formatCsv", () => io.formatCsv(rows(2, 2), { columns: ["a"] })],
    ["confusion counts", () => plot.plotConfusion(rows(2, 2), ["a", "b", "c"])],
    ["series of an analysis", () => analysis.nearestNeighbourInformation([1, 2, 3, 4, 5], [1, 2, 3, 4])],
    ["inputs of lyapunovExponent", () => analysis.lyapunovExponent({ size: 5 }, { inputs: rows(3) })],
    ["the drive of a step", () => new kernels.HostNeuromorphicKernels().leakyIntegration({ ...step(2), drive: new Float32Array(3) })],
    ["a copy to a device", () => context.stream().upload(context.zeros("f32", 2), new Float32Array(3))],
    ["the weights of a layer", () => new gpu.KernelExecutor(context).network([{ weights: new Float32Array(3), inputs: 2, outputs: 2 }])],
    ["a slice of device memory", () => context.upload(new Float32Array(4)).slice(0, 9)],
  ] as const)("a wrong length in %s", async (_, call) => {
    expect(await errorOf(call)).toMatchObject({ name: "ArgumentError", code: "shape" });
  });

  it.each([
    ["neurons", () => ReservoirComputer.create({ size: 0 }, reference)],
    ["threads", () => ReservoirComputer.create({ size: 5 }, { engine: "cpu", threads: 0 })],
    ["steps of forecast", () => forecaster.forecast(0)],
    ["members", () => Classifier.create({ ...small, members: 0 })],
    ["steps of Newton", () => spillway.softmaxRegression({ maxIterations: 0 })],
    ["rows of a task", () => spillway.lorenz(0)],
    ["the horizon of conformalOffsets", () => series.conformalOffsets(rows(9), 0)],
    ["the level of ensembleBand", () => series.ensembleBand([square, square], 2)],
    ["the level of winklerScore", () => metrics.winklerScore(square, { lower: square, upper: square } as never, 2)],
    ["the seasons of seasonsOf", () => series.seasonsOf(rows(9), { seasons: [0] })],
    ["the steps of timesAfter", () => series.timesAfter(series.readTimes(["2020", "2021"]).grid, -1)],
    ["the steps of openTransforms", () => series.openTransforms([{ difference: 0 }], 1)],
    ["the steps of keptTransforms", () => series.keptTransforms({ steps: [{ forward: Number, back: Number }], lost: 0 })],
    ["the policy of closeGaps", () => series.closeGaps({ series: square, times: series.readTimes(["2020", "2021"]) }, "mend" as never)],
    ["a period", () => spillway.seasonalNaive(rows(3), { period: 0, steps: 1 })],
    ["folds", () => pipeline.kFold(9, { folds: 1 })],
    ["cases", () => pipeline.kFold(0)],
    ["threads of a pipeline", () => new pipeline.Pipeline(parameters, { threads: 0 })],
    ["seeds", () => pipeline.crossValidate(parameters, labelled, { seeds: [] })],
    ["bins", () => spikes.binSpikes(pattern, { bins: 0 })],
    ["neurons of a pattern", () => spikes.poissonPattern({ seed: 1, neuronCount: 0 })],
    ["epochs", () => spikes.intrinsicPlasticity(computer.model as never, rows(2), { epochs: 0 })],
    ["oscillators", () => new spikes.KuramotoOscillators({ count: 0 })],
    ["failures", () => new spikes.PatternDetector({ circuitBreaker: { failureThreshold: 0 } })],
    ["channels of templates", () => new spikes.PatternTemplates(["a"], [[1]], { bins: 1, channels: 0 })],
    ["steps of a heat map", () => plot.plotStateHeatmap(rows(3), { maxSteps: 0 })],
    ["points of a figure", () => plot.decimate([1, 2, 3], 1)],
    ["a sample rate", () => io.encodeWav(rows(2), { sampleRate: 0 })],
    ["delays", () => analysis.memoryCapacity(computer, { maxDelay: 0 } as never)],
    ["neurons of an experiment", () => parseExperiment({ name: "x", data: { task: "narma" }, reservoir: { size: 0 }, task: "predict" })],
    ["streams of a rank", () => analysis.kernelRank(computer, { streams: 0 })],
    ["initial states", () => analysis.echoStateIndex({ size: 5 }, { initialStates: 0 })],
    ["neighbours", () => analysis.nearestNeighbourInformation([1], [1], { neighbours: 0 })],
    ["bins of an analysis", () => analysis.transferEntropy([1], [1], { bins: 1 })],
    ["rows of a comparison", () => analysis.compare({ size: 5 }, rows(3), ["cpu", "reference"], { chunk: 0 })],
    ["elements of page-locked memory", () => context.pinned("f32", 0)],
    ["rows of a 2-D copy", () => context.stream().copy2D(context.zeros("f32", 2), context.zeros("f32", 2), { columns: 2, rows: 0 })],
    ["the alignment of a struct", () => gpu.struct({ a: "f32" }, { align: 0 })],
    ["units of a layer", () => new gpu.KernelExecutor(context).network([{ weights: new Float32Array(0), inputs: 0, outputs: 1 }])],
    ["blocks of a cluster", () => new ptx.PtxModule().kernel("idle", { cluster: 0 }, () => undefined)],
    ["rows of a generated kernel", () => ptx.generateKernel({ kind: "softmax", rows: 0, dim: 4 })],
    ["simulated devices", () => sim.simulatedDriver({ devices: 0 })],
    ["steps of a limit", () => sim.simulatedDriver({ limits: { steps: 0 } })],
    ["neurons of a step", () => new kernels.HostNeuromorphicKernels().matvecInput({ size: 0 })],
  ] as const)("too small a count of %s", async (_, call) => {
    expect(await errorOf(call)).toMatchObject({ name: "ArgumentError", code: "value" });
  });

  it.each([
    ["ridge().fit", () => spillway.ridge().fit(rows(9), rows(9), { washout: 9 })],
    ["leastMeanSquares().fit", () => spillway.leastMeanSquares().fit(rows(9), rows(9), { washout: 10 })],
    ["train", () => computer.train(rows(5), rows(5), accumulator(), { washout: 5 })],
    ["Forecaster.fit", () => Forecaster.fit(rows(9), { ...small, washout: 9 })],
    ["fit of a pipeline", () => new pipeline.Pipeline({ ...parameters, washout: 5 }).fit(cases, labels)],
    ["Forecaster.score", () => forecaster.score(rows(9), { washout: 9 })],
    [
      "sweepReadouts",
      () =>
        spillway.sweepReadouts({
          reservoir: { size: 6 },
          settings: [{ lambda: 1 }],
          inputs: rows(9),
          targets: rows(9),
          washout: 9,
          validation: 2,
        }),
    ],
  ] as const)("too long a washout for %s", async (_, call) => {
    expect(await errorOf(call)).toMatchObject({ name: "ArgumentError", code: "shape", field: "washout" });
  });
});
