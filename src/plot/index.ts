/**
 * Figures as data (plotly JSON), and the page they are put on. Nothing here computes a score.
 */
export { plotCalibration } from "./calibration.js";
export { plotComparison } from "./comparison.js";
export { plotConfusion } from "./confusion.js";
export { plotCurves } from "./curves.js";
export { decimate } from "./decimate.js";
export { type BaselinePredictions, plotError } from "./error.js";
export { type EncodedArray, encodeArray, type Figure } from "./figure.js";
export { type PlottedEigenvalues, plotCapacity, plotMemoryCapacity, plotSpectrum } from "./measures.js";
export { type FigureImage, type HtmlOptions, type ImageOptions, show, toHtml, toImage } from "./output.js";
export { plotPhaseSpace } from "./phase-space.js";
export { plotlySource } from "./plotly-source.js";
export { plotQualityMap } from "./quality-map.js";
export { type ReportScore, type ReportSection, type ReportTable, reportHtml } from "./report.js";
export { plotResiduals } from "./residuals.js";
export { plotHistory, plotIntermediateValues, plotTimeline } from "./search/history.js";
export { plotContour, plotImportance, plotParallelCoordinates, plotSlices } from "./search/space.js";
export type { PlottedStudy, PlottedTrial } from "./search/trials.js";
export { plotForecast, plotSeries } from "./series.js";
export { plotPopulationRaster, plotPopulationRates, plotSpikeRaster, plotWeights } from "./spikes.js";
export { plotStateHeatmap, plotTrajectories } from "./states.js";
export { toSvg } from "./svg/index.js";
export type { SvgOptions } from "./svg/options.js";
