// Writes docs/options.md from the descriptions of options in src. test/docs.test.ts says if it is
// stale.
import { writeFileSync } from "node:fs";
import { circuitBreakerTable } from "@spillway/core/circuit-breaker.js";
import type { JsonSchema, OptionTable } from "../packages/core/src/options.js";
import type { Part } from "../packages/core/src/registry.js";
import { compileTable } from "../packages/gpu/src/compile-options.js";
import { launchTable } from "../packages/gpu/src/launch-config.js";
import { nvrtcTable } from "../packages/gpu/src/nvrtc.js";
import { openTable } from "../packages/gpu/src/open-device.js";
import { structTable } from "../packages/gpu/src/struct.js";
import { csvTable } from "../packages/io/src/csv-options.js";
import { csvWriteTable } from "../packages/io/src/csv-writer.js";
import { npyWriterTable } from "../packages/io/src/npy-writer.js";
import { npzTable, npzWriteTable } from "../packages/io/src/npz.js";
import { ueaTable } from "../packages/io/src/uea.js";
import { wavWriteTable } from "../packages/io/src/wav-writer.js";
import { spectralRadiusTable } from "../packages/numerics/src/spectrum/radius.js";
import { moduleTable } from "../packages/ptx/src/builder/module.js";
import { cmaesTable } from "../packages/search/src/cmaes.js";
import { samplerTable } from "../packages/search/src/sampler-options.js";
import { parameterTables } from "../packages/search/src/space.js";
import { studyTable } from "../packages/search/src/study-options.js";
import { tpeTable } from "../packages/search/src/tpe.js";
import { simulationTable } from "../packages/sim/src/options.js";
import { analyseTable } from "../src/analysis/analyse/options.js";
import { informationCapacityTable } from "../src/analysis/capacity/options.js";
import { compareTable } from "../src/analysis/compare/options.js";
import { echoStateIndexTable } from "../src/analysis/echo-state-index.js";
import { mutualInformationTable, transferEntropyTable } from "../src/analysis/information/binned.js";
import { informationDynamicsTable } from "../src/analysis/information/dynamics.js";
import { gaussianTransferTable } from "../src/analysis/information/gaussian.js";
import { informationFlowTable } from "../src/analysis/information/information-flow.js";
import { activeStorageTable, neighbourInformationTable, neighbourTransferTable } from "../src/analysis/information/nearest-neighbours.js";
import { transferMatrixTable } from "../src/analysis/information/transfer-matrix.js";
import { lyapunovSpectrumTable } from "../src/analysis/lyapunov-exponent.js";
import { qualityMapTable } from "../src/analysis/map/options.js";
import { memoryCapacityTable } from "../src/analysis/memory-capacity.js";
import { generalisationRankTable } from "../src/analysis/ranks.js";
import { radiusTable } from "../src/analysis/spectrum.js";
import { fieldModelTable, nvarModelTable } from "../src/experiment/description/model-options.js";
import { experimentTable } from "../src/experiment/description/schema.js";
import { runFiguresTable } from "../src/experiment/report/plot-options.js";
import { experimentRunTable } from "../src/experiment/runs/run-options.js";
import { experimentSearchTable, searchTable } from "../src/experiment/search/search-options.js";
import { labTable } from "../src/lab/options.js";
import { anomalyTable } from "../src/model/anomaly/options.js";
import { cTable } from "../src/model/c/options.js";
import { classifierOptionsTable, classifierTable } from "../src/model/classifier/options.js";
import { conceptorTable } from "../src/model/conceptor/conceptor.js";
import { conceptorMemoryTable, recallTable } from "../src/model/conceptor/options.js";
import { fieldOptionsTable } from "../src/model/field/options.js";
import { forecastTable as closedLoopTable, loopSpectrumTable, predictTable, scoreTable } from "../src/model/forecaster/call-options.js";
import { forecasterOptionsTable, forecasterTable } from "../src/model/forecaster/options.js";
import { loadTable } from "../src/model/model-file.js";
import { nvarOptionsTable } from "../src/model/nvar/options.js";
import { onnxTable } from "../src/model/onnx/options.js";
import { forecastSweepTable, sweepSettingTable, sweepTable } from "../src/model/sweep/options.js";
import { colouringTable } from "../src/oscillators/colouring.js";
import { oscillatorKind } from "../src/oscillators/kind.js";
import { pipelineTable } from "../src/pipeline/check.js";
import { crossValidationTable } from "../src/pipeline/cross-validate.js";
import { spikeFolderTable } from "../src/pipeline/data-folders.js";
import { gridSearchTable } from "../src/pipeline/grid-search.js";
import { foldTable, splitTable } from "../src/pipeline/splits.js";
import { calibrationTable } from "../src/plot/calibration.js";
import { curvesTable } from "../src/plot/curves.js";
import { errorTable } from "../src/plot/error.js";
import { htmlTable, imageTable } from "../src/plot/output.js";
import { phaseSpaceTable } from "../src/plot/phase-space.js";
import { reportTable } from "../src/plot/report.js";
import { residualTable } from "../src/plot/residuals.js";
import { parallelTable, slicesTable } from "../src/plot/search/space.js";
import { forecastTable, plotSeriesTable } from "../src/plot/series.js";
import { rasterTable, weightPlotTable } from "../src/plot/spikes.js";
import { heatmapTable, trajectoryTable } from "../src/plot/states.js";
import { readouts } from "../src/readout/index.js";
import { lstdTable } from "../src/readout/lstd.js";
import { activations } from "../src/reservoir/activations.js";
import { deepTable, groupsTable } from "../src/reservoir/composite/schema.js";
import { batchTable, createTable, generateTable, runTable, streamTable, trainTable } from "../src/reservoir/computer-options.js";
import { reservoirTable } from "../src/reservoir/config-table.js";
import { registrationTable } from "../src/reservoir/engines.js";
import { ensembleTable, ensembleWorkTable } from "../src/reservoir/ensemble.js";
import { ownMatricesTable } from "../src/reservoir/options.js";
import { stateAffineKind } from "../src/reservoir/state-affine/kind.js";
import { topologies } from "../src/reservoir/topologies/index.js";
import { annealTable } from "../src/sampling/anneal.js";
import { isingSampleTable, transverseFieldTable } from "../src/sampling/sample.js";
import { timeTable } from "../src/series/time-stamps.js";
import { detectAllTable, detectorTable } from "../src/spikes/detection/detector.js";
import { generatorTable } from "../src/spikes/detection/measure.js";
import { oscillatorTable } from "../src/spikes/detection/oscillators.js";
import { templateTable } from "../src/spikes/detection/templates.js";
import { deviceTemplateTable } from "../src/spikes/gpu/templates.js";
import { encoders } from "../src/spikes/index.js";
import { liquidLearningTable } from "../src/spikes/liquid/learn.js";
import { processTable } from "../src/spikes/liquid/process.js";
import { spikingTable } from "../src/spikes/liquid/schema.js";
import { networkKind } from "../src/spikes/network/reservoir.js";
import { simulateNeuronTable } from "../src/spikes/neurons/simulate.js";
import { nirExportTable } from "../src/spikes/nir/export.js";
import { nirImportTable } from "../src/spikes/nir/import.js";
import { binTable } from "../src/spikes/pattern/binning.js";
import { jitterTable, mergeTable } from "../src/spikes/pattern/edit.js";
import { readPatternTable } from "../src/spikes/pattern/files.js";
import { eventFileTable, writeHdf5Table } from "../src/spikes/pattern/hdf5.js";
import { intrinsicTable } from "../src/spikes/plasticity/intrinsic.js";
import { profileTable } from "../src/spikes/plasticity/profiles.js";
import { ojaTable, rateHebbianTable } from "../src/spikes/plasticity/rate-rules.js";
import { spikeTimingTable } from "../src/spikes/plasticity/spike-timing.js";
import { observedRunTable } from "../src/spikes/statistics/reservoir-statistics.js";
import { tasks } from "../src/tasks/index.js";
import { toForecastingTable } from "../src/tasks/to-forecasting.js";

const columns = 100;

/** A list item of at most so many columns a line. */
function item(text: string): string {
  const lines = [""];
  for (const word of `- ${text}`.split(" ")) {
    const last = lines[lines.length - 1]!;
    if (last !== "" && last.length + 1 + word.length > columns) lines.push(`  ${word}`);
    else lines[lines.length - 1] = last === "" ? word : `${last} ${word}`;
  }
  return lines.join("\n");
}

interface Described {
  readonly schema: JsonSchema;
  readonly default?: unknown;
  readonly required?: boolean;
  readonly takes: string;
  readonly description: string;
}

/** A section of the page: lines of text, and options by name. */
interface Section {
  readonly title: string;
  readonly lines: readonly (string | readonly [name: string, option: Described])[];
}

const written = ({ title, lines }: Section): string =>
  `## ${title}\n\n${lines.map((each) => (typeof each === "string" ? item(each) : line(...each))).join("\n")}\n`;

function line(name: string, option: Described): string {
  const isPlain =
    option.default === null || Array.isArray(option.default) || ["string", "number", "boolean"].includes(typeof option.default);
  const state = option.required ? " (has to be given)" : isPlain ? ` (\`${JSON.stringify(option.default)}\`)` : "";
  const takes = option.takes ? ` Takes ${option.takes}.` : "";
  const sentence = option.description.replace(/^([a-z])(?=[a-z])/, (letter) => letter.toUpperCase()).replace(/(?<![.?!])$/, ".");
  return item(`\`${name}\`${state}: ${sentence}${takes}`);
}

/** Parts by name, each followed by its options. */
function partsSection(title: string, parts: readonly Part[]): Section {
  const lines = parts.flatMap(({ name, description, options }) => [
    `\`${name}\`: ${description}`,
    ...Object.entries(options).map(([option, described]) => [`${name}.${option}`, described] as const),
  ]);
  return { title, lines };
}

const ofTable = (title: string, table: OptionTable): Section => ({ title, lines: Object.entries(table) });

const spikeAndPipelineTables: Readonly<Record<string, OptionTable>> = {
  "`binSpikes` and `binSpikesOnDevice`": binTable,
  "`mergePatterns`": mergeTable,
  "`jitterPattern`": jitterTable,
  "`readSpikePattern`": readPatternTable,
  "`SpikeEventFile.open`": eventFileTable,
  "`writeSpikeHdf5`": writeHdf5Table,
  "`networkFromNir`": nirImportTable,
  "`networkToNir`": nirExportTable,
  "`processPatterns`": processTable,
  "`learnSpikeTiming`": liquidLearningTable,
  "`SpikeTimingPlasticity`": spikeTimingTable,
  "`RateHebbianPlasticity`": rateHebbianTable,
  "A plasticity profile": profileTable,
  "`oja`": ojaTable,
  "`intrinsicPlasticity`": intrinsicTable,
  "`PatternDetector`": detectorTable,
  "`PatternDetector`: `circuitBreaker`": circuitBreakerTable,
  "`PatternDetector.detectAll`": detectAllTable,
  "`KuramotoOscillators`": oscillatorTable,
  "`PatternTemplates`": templateTable,
  "`DeviceTemplates`": deviceTemplateTable,
  "Generators of patterns": generatorTable,
  "`simulateNeuron`": simulateNeuronTable,
  "`ReservoirStatistics.run`": observedRunTable,
  "`Pipeline`": pipelineTable,
  "`kFold`, `stratifiedKFold` and `groupKFold`": foldTable,
  "`trainTestSplit`": splitTable,
  "`crossValidate`": crossValidationTable,
  "`gridSearch`": gridSearchTable,
  "`readSpikeFolder`": spikeFolderTable,
};

const samplingTables: Readonly<Record<string, OptionTable>> = {
  "`colourGraph`": colouringTable,
  "`sampleIsing`": isingSampleTable,
  "`sampleTransverseField`": transverseFieldTable,
  "`annealIsing`": annealTable,
};

const readoutTables: Readonly<Record<string, OptionTable>> = { "`lstd` of `spillway/model`": lstdTable };

const analysisTables: Readonly<Record<string, OptionTable>> = {
  "`analyse`": analyseTable,
  "`qualityMap`": qualityMapTable,
  "`informationCapacity`": informationCapacityTable,
  "`memoryCapacity`": memoryCapacityTable,
  "`kernelRank` and `generalisationRank`, which alone has `shared`": generalisationRankTable,
  "`lyapunovExponent` and `lyapunovSpectrum`, which alone has `count`": lyapunovSpectrumTable,
  "`echoStateIndex`": echoStateIndexTable,
  "`spectralRadius`": radiusTable,
  "`compare`": compareTable,
  "`transferEntropy`": transferEntropyTable,
  "`transferEntropyMatrix`": transferMatrixTable,
  "`mutualInformation`": mutualInformationTable,
  "`nearestNeighbourInformation`": neighbourInformationTable,
  "`nearestNeighbourTransferEntropy`": neighbourTransferTable,
  "`activeInformationStorage`": activeStorageTable,
  "`gaussianTransferEntropy`": gaussianTransferTable,
  "`informationDynamics`": informationDynamicsTable,
  "`informationFlow`": informationFlowTable,
};

const plotTables: Readonly<Record<string, OptionTable>> = {
  "`plotSeries`": plotSeriesTable,
  "`plotCurves`": curvesTable,
  "`plotForecast`": forecastTable,
  "`plotError`": errorTable,
  "`plotResiduals`": residualTable,
  "`plotWeights`": weightPlotTable,
  "`plotCalibration`": calibrationTable,
  "`plotStateHeatmap`": heatmapTable,
  "`plotTrajectories`": trajectoryTable,
  "`plotPhaseSpace`": phaseSpaceTable,
  "`plotSpikeRaster`": rasterTable,
  "`plotParallelCoordinates`": parallelTable,
  "`plotSlices`": slicesTable,
  "`toImage`; `toSvg` takes the first five": imageTable,
  "`toHtml` and `show`": htmlTable,
  "`reportHtml`": reportTable,
};

/** Every table of options that users write. */
export function optionSections(): readonly Section[] {
  return [
    ofTable("A reservoir", reservoirTable),
    partsSection("Topologies", topologies.all()),
    partsSection("Activation functions", activations.all()),
    ofTable("A spiking reservoir", spikingTable),
    ofTable("A deep reservoir, beside the fields of its layers", deepTable),
    ofTable("A grouped reservoir, beside the fields of its groups", groupsTable),
    partsSection("Registered kinds of reservoir, beside `kind`, `size`, `inputSize`, `seed` and `precision`", [
      oscillatorKind,
      stateAffineKind,
      networkKind,
    ]),
    ofTable("`ReservoirComputer.create`", createTable),
    ofTable("Its `matrices`", ownMatricesTable),
    ofTable("`run`", runTable),
    ofTable("`batch`", batchTable),
    ofTable("`generate`", generateTable),
    ofTable("`train`", trainTable),
    ofTable("`stream`", streamTable),
    ofTable("`ReservoirEnsemble.create`", ensembleTable),
    ofTable("`ReservoirEnsemble.run`", ensembleWorkTable),
    ofTable("`registerEngine`", registrationTable),
    ofTable("`Forecaster`", { ...forecasterOptionsTable, ...forecasterTable }),
    ofTable("`predict` of a `Forecaster`", predictTable),
    ofTable("`forecast`", closedLoopTable),
    ofTable("`score`", scoreTable),
    ofTable("`lyapunovSpectrum` of a forecaster", loopSpectrumTable),
    ofTable("`AnomalyDetector`", anomalyTable),
    ofTable("`NvarForecaster`", nvarOptionsTable),
    ofTable("`FieldForecaster`", fieldOptionsTable),
    ofTable("`Conceptor.fromStates` and `Conceptor.fromCorrelation`", conceptorTable),
    ofTable("`ConceptorMemory.store`", conceptorMemoryTable),
    ofTable("`recall` of a `ConceptorMemory`", recallTable),
    ofTable("`Classifier`", { ...classifierOptionsTable, ...classifierTable }),
    ofTable("`load` and `fromBytes` of a model", loadTable),
    ofTable("`toOnnx`", onnxTable),
    ofTable("`toC`", cTable),
    ofTable("`sweepReadouts`", sweepTable),
    ofTable("Its `settings`", sweepSettingTable),
    ofTable("`sweepForecasts`", forecastSweepTable),
    ofTable("`readCsv`", csvTable),
    ofTable("`readTimes`", timeTable),
    ofTable("`writeCsv`", csvWriteTable),
    ofTable("`readNpz`", npzTable),
    ofTable("`writeNpz`", npzWriteTable),
    ofTable("`NpyWriter`", npyWriterTable),
    ofTable("`readUea`", ueaTable),
    ofTable("`writeWav`", wavWriteTable),
    ofTable("`toForecasting`", toForecastingTable),
    ofTable("`matrixSpectralRadius`", spectralRadiusTable),
    ofTable("`runExperiment`", experimentRunTable),
    ofTable("`runFigures`", runFiguresTable),
    ofTable("`searchExperiment`", experimentSearchTable),
    ofTable("The `search` block of an experiment file", searchTable),
    ofTable("`openLab`", labTable),
    ...Object.entries(parameterTables).map(([kind, table]) => ofTable(`A parameter of a search: ${kind}`, table)),
    ofTable("`Study.open`", studyTable),
    ofTable("`randomSampler`, `sobol` and `grid`", samplerTable),
    ofTable("`tpe`", tpeTable),
    ofTable("`cmaes`", cmaesTable),
    ...readouts.all().map(({ name, options }) => ofTable(`The readout \`${name}\``, options)),
    ...Object.entries(readoutTables).map(([title, table]) => ofTable(title, table)),
    ...Object.entries(spikeAndPipelineTables).map(([title, table]) => ofTable(title, table)),
    ...Object.entries(samplingTables).map(([title, table]) => ofTable(title, table)),
    ...Object.entries(analysisTables).map(([title, table]) => ofTable(title, table)),
    ...Object.entries(plotTables).map(([title, table]) => ofTable(title, table)),
    ofTable("An experiment file", experimentTable),
    ofTable("`model` of an experiment file: nvar", nvarModelTable),
    ofTable("`model` of an experiment file: field", fieldModelTable),
    ofTable("`openDevice`", openTable),
    ofTable("A launch of a kernel", launchTable),
    ofTable("`Context.compile`", compileTable),
    ofTable("`loadNvrtc`", nvrtcTable),
    ofTable("`struct`", structTable),
    ofTable("`simulatedDriver`", simulationTable),
    ofTable("`PtxModule`", moduleTable),
    ...encoders.all().map(({ name, options }) => ofTable(`The encoder \`${name}\``, options)),
    ...tasks.all().map(({ name, options }) => ofTable(`The task \`${name}\``, options)),
  ];
}

/** The page. */
export function optionsPage(): string {
  const head = "# Options\n\nWritten by `npm run docs:options` from the descriptions that check them. In\nparentheses is the default.\n";
  return [head, ...optionSections().map(written)].join("\n");
}

if (process.argv[1]?.endsWith("option-tables.ts")) writeFileSync(new URL("../docs/options.md", import.meta.url), optionsPage());
