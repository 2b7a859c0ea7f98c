// A step of reservoirs in C99, and what a readout makes of a state, in the order of
// docs/numerics.md. `real` is the model's precision; every operation is rounded to it.
import type { Precision } from "../../numerics/index.js";
import type { Activation } from "../../reservoir/index.js";
import type { Constants } from "./constants.js";
import { portableTanh } from "./functions.js";
import { integerStepFunctions } from "./integer-step.js";
import { typeName } from "./text.js";

const activationBodies: Readonly<Record<string, string>> = {
  tanh: "return TANH(z);",
  identity: "return z;",
  relu: "return z <= 0 ? 0 : z;",
  sigmoid: "return (real)0.5 + (real)0.5 * TANH((real)0.5 * z);",
};

/** The names of the activations that C has. */
export const activationsInC: readonly string[] = Object.keys(activationBodies);

/** f(z) of the activations that a model takes; a member says which by its index in them. */
export function activationFunctions(activations: readonly Activation[], precision: Precision): string {
  const needsTanh = activations.some((each) => each === "tanh" || each === "sigmoid");
  const [only] = activations;
  const body =
    activations.length === 1
      ? `  (void)kind;\n  ${activationBodies[only!]}`
      : [
          "  switch (kind) {",
          ...activations.map((each, k) => `  case ${k}: ${activationBodies[each]}`),
          "  default: return z;",
          "  }",
        ].join("\n");
  const tanh = precision === "float32" ? "tanh_of_single" : "tanh_of_double";
  return `${needsTanh ? `${portableTanh[precision]}\n` : ""}/* f(z), rule 4. */\nstatic real activate(int kind, real z)\n{\n${body.replaceAll("TANH", tanh)}\n}\n`;
}

/** How W is kept: in the model's precision, in the upper half of a binary32, or in whole steps. */
export type WeightStorage = "real" | "bfloat16" | "int16_t" | "int8_t";

/** Whether a step is one in integers. */
export const inIntegers = ({ storage }: Pick<Needs, "storage">): boolean => storage === "int16_t" || storage === "int8_t";

/** The types of a number, a weight of W and a state, and a state as a number. */
export function numberTypes(precision: Precision, needs: Pick<Needs, "storage">): string {
  const integers = inIntegers(needs);
  return `typedef ${typeName(precision)} real;
typedef ${needs.storage === "bfloat16" ? "uint16_t" : needs.storage} weight;
typedef ${integers ? "int16_t" : "real"} neuron;
#define STATE(x) ${integers ? "((real)(x) * 0x1p-15f)" : "(x)"}
`;
}

const weightOf: Readonly<Record<"real" | "bfloat16", string>> = {
  real: "#define WEIGHT_OF(w) (w)\n",
  bfloat16: `static real weight_of(uint16_t upper)
{
  union { uint32_t bits; float value; } w;
  w.bits = (uint32_t)upper << 16;
  return w.value;
}
#define WEIGHT_OF(w) weight_of(w)
`,
};

const sumOf = `
/* A butterfly over \`count\` partial sums, rules 1 and 2. */
static TYPE NAME(TYPE *partial, int count)
{
  int half, l;
  for (half = count / 2; half >= 1; half /= 2)
    for (l = 0; l < half; l++) partial[l] = partial[l] + partial[l + half];
  return partial[0];
}
`;

/**
 * The function that adds the products of a row, rule 1; vectors.ts of the WebAssembly export has it
 * too.
 */
const addProducts = (name: string, type: string, weight: string): string => `
/* The products of elements from k on, to 32 partial sums. */
static void ${name}(real *partial, const ${type} *w, const real *x, int k, int count)
{
  for (; k < count; k++) partial[k & 31] = partial[k & 31] + ${weight} * x[k];
}
`;

/** Row r of a matrix times x. */
const fullRow = (name: string, add: string, of: string): string => `
/* Row r of ${of} times x, rule 1: 32 partial sums. */
static real ${name}(const reservoir *m, int r, const real *x)
{
  real partial[32] = {0};
  ${add}(partial, m->${of === "a dense W" ? "weights" : "orthogonal"} + (size_t)r * (size_t)m->size, x, 0, m->size);
  return sum_of(partial, 32);
}
`;

const dense = `${addProducts("add_products", "weight", "WEIGHT_OF(w[k])")}${fullRow("dense_row", "add_products", "a dense W")}`;

const sparse = `
/* Row r of a sparse W times x, rule 2: 8 partial sums by position. */
static real sparse_row(const reservoir *m, int r, const real *x)
{
  const uint32_t from = m->row_offsets[r], to = m->row_offsets[r + 1];
  real partial[8] = {0};
  uint32_t p;
  for (p = from; p < to; p++) partial[(p - from) & 7] = partial[(p - from) & 7] + WEIGHT_OF(m->weights[p]) * x[m->columns[p]];
  return sum_of(partial, 8);
}
`;

/** What the functions have to do. */
export interface Needs {
  readonly storage: WeightStorage;
  readonly dense: boolean;
  readonly sparse: boolean;
  /** Whether a cell says what of a state is kept, and whether by a matrix O. */
  readonly keeps: boolean;
  readonly orthogonal: boolean;
  readonly noise: boolean;
  /** Whether reservoirs are composed of layers or groups. */
  readonly composite: boolean;
  readonly feedback: boolean;
  readonly inputs: boolean;
  readonly squareHalf: boolean;
  readonly squares: boolean;
  /** Whether a readout sees anything beside the state. */
  readonly sees: boolean;
}

const lines = (isThere: boolean, text: string): string => (isThere ? text : "");
const sum = (type: string, name: string): string => sumOf.replace(/TYPE/g, type).replace("NAME", name);

const orthogonalRow = `${addProducts("add_orthogonal", "real", "w[k]")}${fullRow("orthogonal_row", "add_orthogonal", "the matrix of a cell")}`;

const philox = `
/* A block of Philox4x32-10 (Salmon et al. 2011). */
static void philox(const uint32_t *key, uint32_t step, uint32_t row, uint32_t *c)
{
  uint32_t k0 = key[0], k1 = key[1];
  int round;
  c[0] = step;
  c[1] = row;
  c[2] = 0;
  c[3] = 0;
  for (round = 0; round < 10; round++) {
    const uint64_t a = (uint64_t)0xd2511f53u * c[0], b = (uint64_t)0xcd9e8d57u * c[2];
    c[0] = (uint32_t)(b >> 32) ^ c[1] ^ k0;
    c[1] = (uint32_t)b;
    c[2] = (uint32_t)(a >> 32) ^ c[3] ^ k1;
    c[3] = (uint32_t)a;
    k0 += 0x9e3779b9u;
    k1 += 0xbb67ae85u;
  }
}
`;

/**
 * The noise of neuron r, rule 6: of each block of words four neurons in binary32, or two in
 * binary64.
 */
const noises: Readonly<Record<Precision, string>> = {
  float32: `    if (m->noise != 0) {
      if ((r & 3) == 0) philox(m->noise_key, t, (uint32_t)r >> 2, words);
      z = z + (real)(m->noise * (2.0 * ((double)(words[r & 3] >> 8) * 0x1p-24) - 1.0));
    }
`,
  float64: `    if (m->noise != 0) {
      const uint32_t *word = words + (r & 1) * 2;
      if ((r & 1) == 0) philox(m->noise_key, t, (uint32_t)r >> 1, words);
      z = z + m->noise * (2.0 * (((double)(word[0] >> 5) * 67108864.0 + (double)(word[1] >> 6)) * 0x1p-53) - 1.0);
    }
`,
};

/** What a step takes beside the reservoir, its state and room for the next. */
export interface StepArguments {
  readonly reservoirs: string;
  readonly count: string;
  readonly x: string;
  readonly next: string;
  readonly input: string;
  readonly fed: string;
  /** Steps since a reset. */
  readonly step: string;
}

/** C that steps the reservoirs of a member. */
export function stepCall(needs: Needs, { reservoirs, count, x, next, input, fed, step }: StepArguments): string {
  const rest = [x, next, ...(needs.inputs ? [input] : []), ...(needs.feedback ? [fed] : []), ...(needs.noise ? [step] : [])].join(", ");
  return needs.composite ? `advance_parts(${reservoirs}, ${count}, ${rest});` : `advance(${reservoirs}, ${rest});`;
}

/** What a reservoir of several sees. */
const seenBy = `
/* Input i of a reservoir: of the layer below it, whose states stand before its own, or of the inputs. */
static real seen_by(const reservoir *m, const neuron *x, const real *u, int i)
{
  if (m->above) return STATE(x[i - m->inputs]);
  return u[m->channels ? (int)m->channels[i] : i];
}
`;

/** Layers, each on the one below, or groups beside one another. */
const advanceParts = ({ noise }: Needs): string => `
static void advance_parts(const reservoir *part, int count, neuron *x, neuron *next, const real *u${lines(noise, ", uint32_t t")})
{
  for (; count > 0; count--, part++) {
    advance(part, x, next, u${lines(noise, ", t")});
    x += part->size;
  }
}
`;

/** One step of the reservoirs of a member. */
export function stepFunctions(needs: Needs, precision: Precision, constants: Constants): string {
  const one = inIntegers(needs) ? integerStepFunctions(needs, constants) : rateStep(needs, precision);
  return `${sum("double", "sum_of_doubles")}${lines(needs.composite, seenBy)}\n${one}${needs.composite ? advanceParts(needs) : ""}`;
}

function rateStep(needs: Needs, precision: Precision): string {
  const { keeps, orthogonal, noise, feedback, inputs, composite } = needs;
  const row =
    needs.dense && needs.sparse
      ? "m->row_offsets ? sparse_row(m, r, x) : dense_row(m, r, x)"
      : needs.dense
        ? "dense_row(m, r, x)"
        : "sparse_row(m, r, x)";
  const [count, seen] = composite ? ["m->inputs", "seen_by(m, x, u, i)"] : ["INPUTS", "u[i]"];
  const kept = keeps
    ? `    if (m->keep) {
      keep = m->keep[r];
${lines(orthogonal, "      if (m->orthogonal) before = orthogonal_row(m, r, x);\n")}    }
`
    : "";
  return `${weightOf[needs.storage as "real" | "bfloat16"]}${sum("real", "sum_of")}${lines(needs.dense, dense)}${lines(needs.sparse, sparse)}${lines(orthogonal, orthogonalRow)}${lines(noise, philox)}
/* x' = (1 - a) x + a f(b + W_in u + W x${lines(feedback, " + W_fb y")}${lines(noise, " + noise")}), rules 3 to 6${lines(keeps, "; with a cell its k O x for (1 - a) x")}. */
static void advance(const reservoir *m, real *x, real *next${lines(inputs, ", const real *u")}${lines(feedback, ", const real *y")}${lines(noise, ", uint32_t t")})
{
  int r${lines(inputs || feedback, ", i")};
${lines(noise, "  uint32_t words[4] = {0};\n")}  for (r = 0; r < m->size; r++) {
    const real a = m->leak[r];
    real z = m->bias[r], keep = (real)1 - a, before = x[r];
${lines(feedback, "    real fed = 0;\n")}${lines(inputs, `    for (i = 0; i < ${count}; i++) z = z + m->input_weights[r * ${count} + i] * ${seen};\n`)}    z = z + (${row});
${lines(feedback, "    for (i = 0; i < OUTPUTS; i++) fed = fed + m->feedback_weights[r * OUTPUTS + i] * y[i];\n    z = z + fed;\n")}${lines(noise, noises[precision])}${kept}    next[r] = keep * before + a * activate(m->activation, z);
  }
  for (r = 0; r < m->size; r++) x[r] = next[r];
}
`;
}

/** What a readout of a forecaster says. */
export function answerFunction(needs: Needs): string {
  return `/* y = W_out features + c, rules 9 and 10: in binary64, then rounded. */
static void answer(const member *m, const double *weights, const double *intercept, const neuron *x${lines(needs.sees, ", const real *seen")}, real *y)
{
  int o, i, k;
  for (o = 0; o < OUTPUTS; o++) {
    const double *row = weights + (size_t)o * (size_t)m->features;
    double partial[32] = {0};
    k = 0;
    for (i = 0; i < m->size; i++, k++) {
      const double value = STATE(x[i]);
      partial[k & 31] = partial[k & 31] + row[k] * ${needs.squareHalf ? "((i & 1) ? value * value : value)" : "value"};
    }
${lines(needs.sees, "    for (i = 0; i < m->seen; i++, k++) partial[k & 31] = partial[k & 31] + row[k] * (double)seen[i];\n")}${lines(
  needs.squares,
  "    for (i = 0; i < m->size; i++, k++) partial[k & 31] = partial[k & 31] + row[k] * ((double)STATE(x[i]) * (double)STATE(x[i]));\n",
)}    y[o] = (real)(sum_of_doubles(partial, 32) + intercept[o]);
  }
}
`;
}
