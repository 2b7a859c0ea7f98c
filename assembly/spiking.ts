// The time loop of a spiking network (docs/numerics.md, rule 12), for binary32 and binary64. One
// instance holds one network: the host lays out the memory, writes the table of fields below and
// calls runSpiking32 or runSpiking64. What neurons do in a step is in spiking-neurons.ts.
import { advanceIntegrateAndFire, advanceIzhikevich, fireIntegrateAndFire, fireIzhikevich, Fields } from "./spiking-neurons";
import { addNoise, backgroundSpikes } from "./spiking-noise";

/**
 * Adds a source's weights, times an amplitude, to the rows `first` + delay steps ahead of the
 * present one.
 */
// @ts-ignore: decorator
@inline
function deliver<T extends number>(fields: Fields, source: u32, segments: usize, ends: usize, delays: usize, synapses: usize, row: i32, amplitude: T): void {
  const rows = fields.ringRows;
  const rowBytes = <usize>fields.paddedSize << 3;
  const ring = fields.ring;
  let segment = <usize>load<u32>(segments + (<usize>source << 2));
  const lastSegment = <usize>load<u32>(segments + (<usize>source << 2), 4);
  let s = synapses + (segment == 0 ? 0 : <usize>load<u32>(ends + ((segment - 1) << 2)) << 3);
  for (; segment < lastSegment; segment++) {
    let target = row + load<i32>(delays + (segment << 2));
    if (target >= rows) target -= rows;
    const base = ring + <usize>target * rowBytes;
    const end = synapses + (<usize>load<u32>(ends + (segment << 2)) << 3);
    if (amplitude == <T>1) {
      for (; s < end; s += 8) {
        const synapse = load<u64>(s);
        const cell = base + <usize>(<u32>synapse);
        store<i32>(cell, load<i32>(cell) + <i32>(synapse >> 32));
      }
    } else {
      for (; s < end; s += 8) {
        const synapse = load<u64>(s);
        const cell = base + <usize>(<u32>synapse);
        store<i32>(cell, load<i32>(cell) + <i32>nearest<T>(<T>(<i32>(synapse >> 32)) * amplitude));
      }
    }
  }
}

// Exported to stay a function of its own: see reservoir.ts.
export function deliverSpikes(table: usize, row: i32, count: i32): void {
  const fields = changetype<Fields>(table);
  let next = row + 1;
  if (next == fields.ringRows) next = 0;
  for (let k: usize = 0; k < <usize>count; k++) {
    const source = load<u32>(fields.spikes + (k << 2));
    deliver<f32>(fields, source, fields.segments, fields.segmentEnds, fields.segmentDelays, fields.synapses, next, 1);
  }
}

// @ts-ignore: decorator
@inline
function deliverInput<T extends number>(fields: Fields, input: usize, row: i32, sign: T): void {
  for (let i = 0; i < fields.inputSize; i++) {
    const amplitude = load<T>(input + <usize>i * sizeof<T>());
    if (amplitude != <T>0) {
      deliver<T>(
        fields,
        i,
        fields.inputSegments,
        fields.inputSegmentEnds,
        fields.inputSegmentDelays,
        fields.inputSynapses,
        row,
        sign * amplitude,
      );
    }
  }
}

/** drive = bias + W_in u in rising order. */
// @ts-ignore: decorator
@inline
function inputDrive<T extends number>(fields: Fields, input: usize): void {
  const vector = <usize>fields.paddedSize * sizeof<T>();
  const inputs = input + (fields.inputWeights == 0 ? 0 : <usize>fields.inputSize * sizeof<T>());
  for (let r: usize = 0; r < vector; r += 16) {
    let drive = v128.load(fields.bias + r);
    let w = fields.inputWeights + r;
    for (let u = input; u < inputs; u += sizeof<T>()) {
      drive = v128.add<T>(drive, v128.mul<T>(v128.load(w), v128.load_splat<T>(u)));
      w += vector;
    }
    v128.store(fields.drive + r, drive);
  }
}

/**
 * `row` is the row of the ring that comes first. Returns the steps whose potentials are all finite;
 * after them is the row of the bad one.
 */
// @ts-ignore: decorator
@inline
function runSteps<T extends number>(table: usize, steps: i32, row: i32, firstStep: u32, sequence: u32): i32 {
  const fields = changetype<Fields>(table);
  const hasCurrent = fields.inputWeights != 0;
  const isNoisy = sizeof<T>() == 4 ? fields.noiseScale32 != 0 : fields.noiseScale64 != 0;
  const inputBytes = <usize>fields.inputSize * sizeof<T>();
  if (!hasCurrent && !isNoisy) inputDrive<T>(fields, 0);
  for (let t = 0; t < steps; t++) {
    const input = fields.inputs + <usize>t * inputBytes;
    const states = fields.states + <usize>t * <usize>fields.size * sizeof<T>();
    const arriving = fields.ring + <usize>row * (<usize>fields.paddedSize << 3);
    if (fields.inputSegments != 0) deliverInput<T>(fields, input, row, 1);
    if (fields.backgroundChance != 0) backgroundSpikes(fields, arriving, firstStep + t, sequence, fields.backgroundWeight);
    if (hasCurrent || isNoisy) inputDrive<T>(fields, input);
    if (isNoisy) addNoise<T>(fields, firstStep + t, sequence);
    const isFinite =
      fields.neuron == 2 ? advanceIzhikevich<T>(fields, arriving, states) : advanceIntegrateAndFire<T>(fields, arriving, states);
    if (!isFinite) {
      if (fields.inputSegments != 0) deliverInput<T>(fields, input, row, -1);
      if (fields.backgroundChance != 0) backgroundSpikes(fields, arriving, firstStep + t, sequence, -fields.backgroundWeight);
      return t;
    }
    const count = fields.neuron == 2 ? fireIzhikevich<T>(fields, states) : fireIntegrateAndFire<T>(fields, states);
    memory.fill(arriving, 0, <usize>fields.paddedSize << 3);
    deliverSpikes(table, row, count);
    row++;
    if (row == fields.ringRows) row = 0;
  }
  return steps;
}

export function runSpiking32(table: usize, steps: i32, row: i32, firstStep: u32, sequence: u32): i32 {
  return runSteps<f32>(table, steps, row, firstStep, sequence);
}
export function runSpiking64(table: usize, steps: i32, row: i32, firstStep: u32, sequence: u32): i32 {
  return runSteps<f64>(table, steps, row, firstStep, sequence);
}
