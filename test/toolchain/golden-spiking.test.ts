// spiking.json is what spiking.c gives, whatever the optimisation.
import { expect, it } from "vitest";
import { computeSpikingHashes, spikingHashes } from "../golden/spiking.js";

it.each(["-O0", "-O2", "-O3"])("spiking.c compiled with %s gives the committed hashes of spiking reservoirs", (flag) => {
  expect(computeSpikingHashes("gcc", flag)).toEqual(spikingHashes());
});
