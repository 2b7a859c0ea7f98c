// A step in integers in C, of a reservoir whose inputs and outputs are real numbers:
// docs/numerics.md, rule 18. A program without any real number stands in integer.ts.
import { tanhTable } from "../../reservoir/integer/tanh.js";
import type { Constants } from "./constants.js";

const lines = (isThere: boolean, text: string): string => (isThere ? text : "");

/** value / 2^by in 32 bits. */
export const shiftFunction = `/* value / 2^by, towards minus infinity. */
static int32_t shifted(int32_t value, int by) { return value < 0 ? ~(~value >> by) : value >> by; }
`;

/** tanh, which takes its table from the constants. */
export function tanhFunction(constants: Constants): string {
  const table = constants.add("int16_t", "tanh_table", tanhTable);
  return `/* tanh by a table; z and the result in steps of 2^-15. */
static int32_t tanh_of(int32_t z)
{
  const int32_t size = z < -262143 || z > 262143 ? 262143 : z < 0 ? -z : z;
  const int32_t from = ${table}[size >> 9], to = ${table}[(size >> 9) + 1];
  const int32_t value = from + (((to - from) * (size & 511) + 256) >> 9);
  return z < 0 ? -value : value;
}
`;
}

/** vectors.ts of the WebAssembly export has it too. */
const dotFunction = `/* sum + w x, of the elements from k on. */
static int32_t dot(const weight *w, const neuron *x, int32_t sum, int k, int count)
{
  for (; k < count; k++) sum += (int32_t)w[k] * x[k];
  return sum;
}

`;

/** What the step has to do. */
interface IntegerNeeds {
  readonly dense: boolean;
  readonly sparse: boolean;
  readonly feedback: boolean;
  readonly inputs: boolean;
  readonly composite: boolean;
}

/** One step of a reservoir, with what it calls. */
export function integerStepFunctions({ dense, sparse, feedback, inputs, composite }: IntegerNeeds, constants: Constants): string {
  const ofDense = "sum = dot(m->weights + (uint32_t)r * (uint32_t)m->size, x, sum, 0, m->size);";
  const ofSparse = "for (p = m->row_offsets[r]; p < m->row_offsets[r + 1]; p++) sum += (int32_t)m->weights[p] * x[m->columns[p]];";
  const product = dense && sparse ? `if (m->row_offsets) ${ofSparse}\n    else ${ofDense}` : dense ? ofDense : ofSparse;
  const [most, count, seen] = composite ? ["MOST_SEEN", "m->inputs", "seen_by(m, x, u, i)"] : ["INPUTS", "INPUTS", "u[i]"];
  const driven = (array: string, count: string, vector: string) =>
    `    for (i = 0; i < ${count}; i++) sum += (int32_t)m->${array}[r * ${count} + i] * ${vector}[i];\n`;
  const rounded = (vector: string, count: string, from: string) => `  for (i = 0; i < ${count}; i++) ${vector}[i] = in_steps(${from});\n`;
  return `${shiftFunction}
${tanhFunction(constants)}
/* An input in steps of 2^-12, to the nearest, halves up, held within 16 bits. */
static int16_t in_steps(real value)
{
  const double steps = (double)value * 4096.0 + 0.5;
  int32_t whole;
  if (!(steps > -32767.0)) return -32767;
  if (steps >= 32767.0) return 32767;
  whole = (int32_t)steps;
  return (int16_t)((double)whole > steps ? whole - 1 : whole);
}

${lines(dense, dotFunction)}/* x' = x + a (tanh(b + W_in u + W x${lines(feedback, " + W_fb y")}) - x). No sum leaves 32 bits. */
static void advance(const reservoir *m, neuron *x, neuron *next${lines(inputs, ", const real *u")}${lines(feedback, ", const real *y")})
{
${lines(inputs, `  int16_t driven[${most}];\n`)}${lines(feedback, "  int16_t fed[OUTPUTS];\n")}  int r${lines(inputs || feedback, ", i")};
${lines(sparse, "  uint32_t p;\n")}${lines(inputs, rounded("driven", count, seen))}${lines(feedback, rounded("fed", "OUTPUTS", "y[i]"))}  for (r = 0; r < m->size; r++) {
    const int32_t before = x[r];
    int32_t sum = 0;
${lines(inputs, driven("input_weights", count, "driven"))}${lines(feedback, driven("feedback_weights", "OUTPUTS", "fed"))}    sum = sum * 8 + m->bias[r];
    ${product}
    sum = tanh_of(shifted(sum, m->exponents[r]));
    next[r] = (int16_t)(before + shifted((int32_t)m->leak[r] * (sum - before) + 16384, 15));
  }
  for (r = 0; r < m->size; r++) x[r] = next[r];
}
`;
}
