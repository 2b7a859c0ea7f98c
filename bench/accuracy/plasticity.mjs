// A balanced network that learns for 1e6 ms under each profile: weights must stay finite and within
// their bounds, no sign may change, and rates must stay between silence and saturation. 80
// excitatory and 20 inhibitory leaky integrate-and-fire neurons (tau 20 ms, threshold 15, 1 ms
// steps), 10 % connected, driven by noise.
import { Matrix, portableExp, RandomStream, seedKeys } from "spillway/numerics";
import { plasticityProfiles, SpikeTimingPlasticity } from "spillway/spikes";

const size = 100;
const durationMs = 1_000_000;
let failed = false;
for (const [name, profile] of Object.entries(plasticityProfiles)) {
  const draws = new RandomStream(seedKeys("balanced network").weights, 0);
  const weights = Matrix.zeros(size, size);
  for (let i = 0; i < size * size; i++) {
    if (Math.floor(i / size) !== i % size && draws.uniform(0, i) < 0.1) weights.data[i] = i % size < 80 ? 0.5 : -1.5;
  }
  const plasticity = new SpikeTimingPlasticity(weights, { profile: name, depressionRatio: 1.05 });
  const decay = portableExp(-1 / 20);
  const membrane = new Float64Array(size);
  let current = weights;
  let fired = [];
  let outside = 0;
  const rates = [];
  let spikes = 0;
  for (let t = 0; t < durationMs; t++) {
    if (t % 1000 === 0) {
      current = plasticity.weights;
      for (const [i, w] of current.data.entries()) {
        if (!(Math.abs(w) <= profile.maxWeight + 1e-9) || Math.sign(w) !== Math.sign(weights.data[i])) outside++;
      }
      if (t > 0) rates.push(spikes / size);
      spikes = 0;
    }
    const next = [];
    for (let i = 0; i < size; i++) {
      let input = 1.35 * draws.uniform(1 + i, t);
      for (const j of fired) input += current.data[i * size + j];
      membrane[i] = membrane[i] * decay + input;
      if (membrane[i] < 15) continue;
      membrane[i] = 0;
      next.push(i);
    }
    plasticity.step(t, next);
    spikes += next.length;
    fired = next;
  }
  const late = rates.slice(-100);
  const mean = late.reduce((sum, rate) => sum + rate, 0) / late.length;
  const { saturationPercent, entropyBits, mean: size1, healthScore } = plasticity.statistics;
  const ok = outside === 0 && Math.min(...rates) > 0.1 && Math.max(...rates) < 400;
  failed ||= !ok;
  console.log(
    `${name.padEnd(12)} 1e6 ms: rates ${Math.min(...rates).toFixed(1)} to ${Math.max(...rates).toFixed(1)} Hz, last 100 s ${mean.toFixed(1)} Hz; ` +
      `${outside} weights out of bounds or of another sign; mean |w| ${size1.toFixed(3)}, saturated ${saturationPercent.toFixed(0)} %, ` +
      `entropy ${entropyBits.toFixed(2)} bits, health ${healthScore.toFixed(1)}: ${ok ? "bounded" : "NOT BOUNDED"}`,
  );
}
if (failed) process.exitCode = 1;
