// How firmly spikes are locked to plane waves across a population. What is called a travelling or a
// standing wave is in types/.
import { portableCos, portableSin } from "@spillway/numerics";
import { checkMemory } from "../errors.js";
import type { SpikePattern } from "../pattern/pattern.js";
import type { PatternScore } from "./measure.js";

const twoPi = 6.283185307179586;
const stepMs = 2;
const highestHz = 100;

/** Vector strengths of one wave number and frequency. */
export interface PlaneWave {
  readonly waveNumber: number;
  readonly frequencyHz: number;
  /** |sum_j e^(i 2 pi (k x_j - f t_j))|^2 / n^2, of the wave that goes towards higher neurons. */
  readonly up: number;
  /** The same of -k: the wave that goes towards lower neurons. */
  readonly down: number;
}

/**
 * The squared vector strengths of a pattern's n spikes for wave numbers k = 1 to 4 (cycles across
 * the population, x = (neuron + 1/2) / N; fewer below 16 neurons) and frequencies m / duration from
 * m = 1 up to 100 Hz. Times are taken to steps of 2 ms. For independent Poisson neurons n times a
 * strength is exponential with mean 1.
 */
export function planeWaves(pattern: SpikePattern): PlaneWave[] {
  const { neuronCount, durationMs, spikeCount } = pattern;
  const waveNumbers = Math.min(4, Math.floor(neuronCount / 4));
  const steps = Math.ceil(durationMs / stepMs);
  const frequencies = Math.floor((highestHz * durationMs) / 1000);
  const waves: PlaneWave[] = [];
  if (spikeCount === 0) return waves;
  checkMemory(`a list of ${neuronCount} neurons`, neuronCount * 16);
  for (let k = 1; k <= waveNumbers; k++) {
    const real = new Float64Array(steps);
    const imaginary = new Float64Array(steps);
    const cosine = Float64Array.from({ length: neuronCount }, (_, n) => portableCos((twoPi * k * (n + 0.5)) / neuronCount));
    const sine = Float64Array.from({ length: neuronCount }, (_, n) => portableSin((twoPi * k * (n + 0.5)) / neuronCount));
    for (let i = 0; i < spikeCount; i++) {
      const step = Math.min(Math.floor(pattern.times[i]! / stepMs), steps - 1);
      real[step] = real[step]! + cosine[pattern.neurons[i]!]!;
      imaginary[step] = imaginary[step]! + sine[pattern.neurons[i]!]!;
    }
    for (let m = 1; m <= frequencies; m++) {
      const angle = (twoPi * m * stepMs) / durationMs;
      waves.push({ waveNumber: k, frequencyHz: waveFrequencyHz(m, durationMs), ...strengths(real, imaginary, angle, spikeCount) });
    }
  }
  return waves;
}

/** The wave of the largest strength, whose sign is that of the wave number. */
export function strongest(waves: readonly PlaneWave[], strengthOf: (wave: PlaneWave) => number): PatternScore {
  let best: PatternScore = { score: 0 };
  for (const wave of waves) {
    const strength = strengthOf(wave);
    if (Math.abs(strength) <= best.score) continue;
    const waveNumber = strength > 0 ? wave.waveNumber : -wave.waveNumber;
    best = { score: Math.abs(strength), frequencyHz: wave.frequencyHz, waveNumber };
  }
  return best;
}

/** The frequency of m cycles in a pattern. */
export const waveFrequencyHz = (m: number, durationMs: number): number => (1000 * m) / durationMs;

/**
 * |sum_s z_s e^(-i angle s)|^2 / n^2 for up and |sum_s conj(z_s) e^(-i angle s)|^2 / n^2 for down.
 */
function strengths(real: Float64Array, imaginary: Float64Array, angle: number, count: number): { up: number; down: number } {
  const stepRe = portableCos(angle);
  const stepIm = -portableSin(angle);
  let [re, im] = [1, 0];
  let [upRe, upIm, downRe, downIm] = [0, 0, 0, 0];
  for (let s = 0; s < real.length; s++) {
    const a = real[s]!;
    const b = imaginary[s]!;
    upRe += a * re - b * im;
    upIm += a * im + b * re;
    downRe += a * re + b * im;
    downIm += a * im - b * re;
    const next = re * stepRe - im * stepIm;
    im = re * stepIm + im * stepRe;
    re = next;
  }
  return { up: (upRe * upRe + upIm * upIm) / (count * count), down: (downRe * downRe + downIm * downIm) / (count * count) };
}
