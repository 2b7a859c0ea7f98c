/**
 * Figures as data (plotly JSON), and the page they are put on. Nothing here computes a score.
 */
export type { PlottedBand } from "./band.js";
export { type CalibrationPlotOptions, plotCalibration } from "./calibration.js";
export { type PlottedCapacity, plotCapacity } from "./capacity.js";
export { plotComparison } from "./comparison.js";
export { plotConfusion } from "./confusion.js";
export { type CurvesPlotOptions, type PlottedCurve, plotCurves } from "./curves.js";
export { type Decimated, decimate } from "./decimate.js";
export { type BaselinePredictions, type ErrorPlotOptions, plotError } from "./error.js";
export { type EncodableArray, type EncodedArray, encodeArray, type Figure } from "./figure.js";
export type { SeriesPlotOptions } from "./line.js";
export { type MemoryCurve, plotMemoryCapacity } from "./memory-capacity.js";
export { type FigureImage, type HtmlOptions, type ImageOptions, show, toHtml, toImage } from "./output.js";
export { type PhaseSpaceOptions, plotPhaseSpace } from "./phase-space.js";
export { plotlySource } from "./plotly-source.js";
export {
  type PlottedRates,
  type PopulationRasterOptions,
  type PopulationRatesOptions,
  plotPopulationRaster,
  plotPopulationRates,
} from "./populations.js";
export { type PlottedMap, plotQualityMap } from "./quality-map.js";
export { type ReportOptions, type ReportScore, type ReportSection, type ReportTable, reportHtml } from "./report.js";
export { plotResiduals, type ResidualPlotOptions } from "./residuals.js";
export { plotHistory, plotIntermediateValues, plotTimeline } from "./search/history.js";
export { plotContour, plotImportance, plotParallelCoordinates, plotSlices, type SearchPlotOptions } from "./search/space.js";
export type { PlottedParameter, PlottedStudy, PlottedTrial } from "./search/trials.js";
export { type ForecastPlotOptions, type OtherForecast, plotForecast, plotSeries } from "./series.js";
export { type PlottedEigenvalues, plotSpectrum } from "./spectrum.js";
export { plotSpikeRaster, type RasterOptions, type RasterSpikes } from "./spike-raster.js";
export { plotStateHeatmap, plotTrajectories, type StateHeatmapOptions, type TrajectoryOptions } from "./states.js";
export { toSvg } from "./svg/index.js";
export type { SvgOptions } from "./svg/options.js";
export { plotWeights, type WeightPlotOptions } from "./weights.js";
