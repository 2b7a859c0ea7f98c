// Attention by its definition, in double precision.
import type { AttentionShape } from "../../../packages/ptx/src/kernels/attention.js";

export function attentionOf(shape: AttentionShape, q: Float64Array, k: Float64Array, v: Float64Array): Float64Array {
  const { heads = 1, seqLen, headDim: d, keyLength = seqLen, causal = false, scale = 1 / Math.sqrt(d) } = shape;
  const o = new Float64Array(heads * seqLen * d);
  for (let h = 0; h < heads; h++)
    for (let i = 0; i < seqLen; i++) {
      const keys = causal ? i + 1 + keyLength - seqLen : keyLength;
      const scores = Array.from({ length: keys }, (_, j) => {
        let dot = 0;
        for (let c = 0; c < d; c++) dot += q[(h * seqLen + i) * d + c]! * k[(h * keyLength + j) * d + c]!;
        return scale * dot;
      });
      const top = Math.max(...scores);
      const parts = scores.map((score) => Math.exp(score - top));
      const sum = parts.reduce((a, b) => a + b, 0);
      for (let j = 0; j < keys; j++)
        for (let c = 0; c < d; c++) o[(h * seqLen + i) * d + c]! += (parts[j]! / sum) * v[(h * keyLength + j) * d + c]!;
    }
  return o;
}
