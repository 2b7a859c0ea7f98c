export { type PopulationStatistics, type PopulationStatisticsOptions, populationStatistics } from "./population.js";
export { type ObservedRunOptions, ReservoirStatistics, type StatisticsReport } from "./reservoir-statistics.js";
export { type ReservoirSnapshot, reservoirSnapshot } from "./snapshot.js";
