// The two pictures of the first page: a forecast of measured data, and the spikes of a network.
// Usage: npx tsx scripts/gallery-first-page.ts; npm run gallery makes them too.
import { readFileSync, writeFileSync } from "node:fs";
import { Forecaster } from "spillway";
import { type Figure, plotForecast, plotSpikeRaster, toSvg } from "spillway/plot";
import { SpikingNetwork } from "spillway/spikes";

const keep = (name: string, figure: Figure) => writeFileSync(`docs/images/${name}.svg`, toSvg(figure, { width: 640 }));

// The monthly CO2 of Mauna Loa (Scripps Institution of Oceanography) after its last gap; the last
// five years are forecast from the years before.
const months = readFileSync("node_modules/vega-datasets/data/co2-concentration.csv", "utf8").trim().split("\n").slice(70);
const times = months.map((line) => line.split(",")[0]!);
const series = months.map((line) => [Number(line.split(",")[1])]);
const horizon = 60;
const at = series.length - horizon;
await using forecaster = await Forecaster.fit(series.slice(0, at), { horizon, season: 12 });
const forecast = await forecaster.forecast(horizon, { intervals: [0.5, 0.9] });
keep(
  "co2",
  plotForecast(forecast, series.slice(at), {
    title: "CO2 at Mauna Loa, five years ahead, with bands of 50 and 90 %",
    names: ["CO2 (ppm)"],
    before: series.slice(at - 96, at),
    times: times.slice(at - 96),
    bands: forecast.bands!,
  }),
);

// Excitatory and inhibitory neurons, connected at random (Brunel 2000), at a tenth of their number.
const neuron = {
  type: "leakyIntegrateAndFire",
  membraneTimeConstant: 20,
  restingPotential: 0,
  threshold: 20,
  resetPotential: 0,
  refractoryPeriod: 2,
} as const;
const population = { neuron, receptors: { jump: { timeConstant: 0 } }, background: { rate: 20_000, weight: 0.1 } } as const;
const excite = { connect: { rule: "fixedInDegree", number: 100 }, weight: 1, delay: 1.5 } as const;
const inhibit = { connect: { rule: "fixedInDegree", number: 25 }, weight: -5, delay: 1.5 } as const;
await using network = await SpikingNetwork.create({
  kind: "network",
  timeStep: 0.1,
  seed: 1,
  populations: { E: { size: 1000, ...population }, I: { size: 250, ...population } },
  projections: [
    { from: "E", to: "E", ...excite },
    { from: "E", to: "I", ...excite },
    { from: "I", to: "E", ...inhibit },
    { from: "I", to: "I", ...inhibit },
  ],
});
await network.run(200);
const { E } = (await network.run(300, { spikes: true })).spikes;
const some = Array.from(E!.neurons.keys()).filter((k) => E!.neurons[k]! < 100);
keep(
  "network",
  plotSpikeRaster(
    { times: some.map((k) => E!.times[k]!), neurons: some.map((k) => E!.neurons[k]!), durationMs: 300, neuronCount: 100 },
    { title: "100 of 1000 excitatory neurons of a random network" },
  ),
);
