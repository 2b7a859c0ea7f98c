// The step of a reservoir in integers as a compute shader: docs/numerics.md, rule 18. Sums of 32
// bits wrap around on their way and end within 32 bits, so that they have no order. It is text in
// a module, which every bundler takes along.

/** How W is stored: pairs of 16 bits, four of 8, or an entry of 16 bits and its column a word. */
export const forms = { dense16: 0, dense8: 1, sparse: 2 } as const;

/** Rows that a workgroup makes, 16 lanes each. */
export const groupRows = 4;

export const stepShader = /* wgsl */ `
struct Now {
  row: u32,
  size: u32,
  drivers: u32,
  words: u32,
}

struct Neuron {
  bias: i32,
  exponent: u32,
  leak: i32,
  unused: i32,
}

override form: u32;

@group(0) @binding(0) var<uniform> now: Now;
@group(0) @binding(1) var<storage, read> weights: array<i32>;
@group(0) @binding(2) var<storage, read> offsets: array<u32>;
@group(0) @binding(3) var<storage, read> drivingWeights: array<i32>;
@group(0) @binding(4) var<storage, read> neurons: array<Neuron>;
@group(0) @binding(5) var<storage, read> tanhTable: array<i32>;
@group(0) @binding(6) var<storage, read> driving: array<i32>;
@group(0) @binding(7) var<storage, read_write> states: array<i32>;

var<workgroup> sums: array<i32, 64>;

fn state(neuron: u32) -> i32 {
  return states[now.row * now.size + min(neuron, now.size - 1u)];
}

fn integerTanh(z: i32) -> i32 {
  let height = min(abs(z), 262143);
  let index = height >> 9u;
  let start = tanhTable[index];
  let value = start + (((tanhTable[index + 1] - start) * (height & 511) + 256) >> 9u);
  return select(value, -value, z < 0);
}

@compute @workgroup_size(64)
fn advance(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let lane = local & 15u;
  let r = group.x * 4u + (local >> 4u);
  let inside = r < now.size;
  var sum = 0;
  if (inside) {
    for (var i = lane; i < now.drivers; i += 16u) {
      sum += (drivingWeights[i * now.size + r] * driving[now.row * now.drivers + i]) << 3u;
    }
    if (form == 2u) {
      let end = offsets[r + 1u];
      for (var p = offsets[r] + lane; p < end; p += 16u) {
        let entry = weights[p];
        sum += extractBits(entry, 0u, 16u) * state(u32(entry >> 16u));
      }
    } else if (form == 1u) {
      for (var k = lane; k < now.words; k += 16u) {
        let four = weights[r * now.words + k];
        sum += extractBits(four, 0u, 8u) * state(4u * k);
        sum += extractBits(four, 8u, 8u) * state(4u * k + 1u);
        sum += extractBits(four, 16u, 8u) * state(4u * k + 2u);
        sum += extractBits(four, 24u, 8u) * state(4u * k + 3u);
      }
    } else {
      for (var k = lane; k < now.words; k += 16u) {
        let pair = weights[r * now.words + k];
        sum += extractBits(pair, 0u, 16u) * state(2u * k);
        sum += (pair >> 16u) * state(2u * k + 1u);
      }
    }
  }
  sums[local] = sum;
  workgroupBarrier();
  for (var width = 8u; width > 0u; width >>= 1u) {
    if (lane < width) {
      sums[local] += sums[local + width];
    }
    workgroupBarrier();
  }
  if (inside && lane == 0u) {
    let neuron = neurons[r];
    let x = state(r);
    let f = integerTanh((sums[local] + neuron.bias) >> neuron.exponent);
    states[(now.row + 1u) * now.size + r] = x + ((neuron.leak * (f - x) + 16384) >> 15u);
  }
}
`;
