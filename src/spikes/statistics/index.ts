export { type PopulationStatistics, populationStatistics } from "./population.js";
export { ReservoirStatistics } from "./reservoir-statistics.js";
export { reservoirSnapshot } from "./snapshot.js";
