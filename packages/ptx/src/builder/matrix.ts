// Matrix instructions of a warp. Fragment layouts: PTX ISA 9.0, sections 9.7.15.4 (wmma) and
// 9.7.15.5 (mma, ldmatrix).
import type { Needs } from "./targets.js";
import type { Pointer, Value } from "./values.js";
import { Warp } from "./warp.js";

/** Element types of tensor-core products; sums are f32. */
export type MatrixType = "f16" | "bf16" | "tf32";
type Four<T> = readonly [T, T, T, T];

interface MmaShape {
  readonly shape: string;
  readonly a: number;
  readonly b: number;
  readonly needs: Needs;
}

/** Shapes of mma.sync with f32 accumulators, by element type and depth. */
const mmaShapes: Readonly<Record<string, MmaShape>> = {
  "f16/8": { shape: "m16n8k8", a: 2, b: 1, needs: { sm: 75, version: [6, 5] } },
  "f16/16": { shape: "m16n8k16", a: 4, b: 2, needs: { sm: 80, version: [7, 0] } },
  "bf16/8": { shape: "m16n8k8", a: 2, b: 1, needs: { sm: 80, version: [7, 0] } },
  "bf16/16": { shape: "m16n8k16", a: 4, b: 2, needs: { sm: 80, version: [7, 0] } },
  "tf32/4": { shape: "m16n8k4", a: 2, b: 1, needs: { sm: 80, version: [7, 0] } },
  "tf32/8": { shape: "m16n8k8", a: 4, b: 2, needs: { sm: 80, version: [7, 0] } },
};

export class Matrix extends Warp {
  /** Loads 1, 2 or 4 matrices of 8 x 8 halves; lane 8 i + r has row r of i, aligned to 16. */
  loadMatrices(pointer: Pointer<"shared">, count: 1 | 2 | 4, transposed = false): Value<"b32">[] {
    const results = Array.from({ length: count }, () => this.newValue("b32"));
    const opcode = `ldmatrix.sync.aligned.m8n8.x${count}${transposed ? ".trans" : ""}.shared.b16`;
    this.emit(opcode, { vector: results }, [this.addressItem(pointer)], { together: "warp", needs: { sm: 75, version: [6, 5] } });
    return results;
  }

  /**
   * d = a * b + c by mma.sync, 16 x depth times depth x 8, accumulated in binary32. Registers of a
   * and b hold pairs of halves, or one tf32.
   * `into` names the registers of d; they may be those of c.
   */
  mma(
    type: MatrixType,
    depth: 4 | 8 | 16,
    a: readonly Value<"b32">[],
    b: readonly Value<"b32">[],
    c: Four<Value<"f32">>,
    into?: Four<Value<"f32">>,
  ): Four<Value<"f32">> {
    const found = mmaShapes[`${type}/${depth}`];
    if (found === undefined) throw this.fail(`mma of ${type} with depth ${depth}; it takes ${Object.keys(mmaShapes).join(", ")}`);
    if (a.length !== found.a || b.length !== found.b)
      throw this.fail(`mma ${found.shape} got ${a.length} and ${b.length} registers; it takes ${found.a} and ${found.b}`);
    const result = into ?? [this.newValue("f32"), this.newValue("f32"), this.newValue("f32"), this.newValue("f32")];
    const opcode = `mma.sync.aligned.${found.shape}.row.col.f32.${type}.${type}.f32`;
    const operands = [a, b, c].map((vector) => ({ vector: [...vector] }));
    this.emit(opcode, { vector: [...result] }, operands, { together: "warp", needs: found.needs });
    return result;
  }

  /** wmma.load of a 16 x 16 tile of halves by rows or columns, `stride` elements apart. */
  wmmaLoad(
    which: "a" | "b",
    type: "f16" | "bf16",
    layout: "row" | "col",
    pointer: Pointer<"global" | "shared">,
    stride: number,
  ): Value<"b32">[] {
    const results = Array.from({ length: type === "f16" ? 8 : 4 }, () => this.newValue("b32"));
    const opcode = `wmma.load.${which}.sync.aligned.m16n16k16.${layout}.${pointer.space}.${type}`;
    this.emit(opcode, { vector: results }, [this.addressItem(pointer), String(stride)], { together: "warp", needs: this.wmmaNeeds(type) });
    return results;
  }

  /** d = a * b + c of 16 x 16 tiles, accumulated in binary32. */
  wmma(
    type: "f16" | "bf16",
    layouts: readonly ["row" | "col", "row" | "col"],
    a: readonly Value<"b32">[],
    b: readonly Value<"b32">[],
    c: readonly Value<"f32">[],
  ): Value<"f32">[] {
    const results = Array.from({ length: 8 }, () => this.newValue("f32"));
    const types = type === "f16" ? "f32.f32" : "f32.bf16.bf16.f32";
    const opcode = `wmma.mma.sync.aligned.${layouts.join(".")}.m16n16k16.${types}`;
    const operands = [a, b, c].map((vector) => ({ vector: [...vector] }));
    this.emit(opcode, { vector: results }, operands, { together: "warp", needs: this.wmmaNeeds(type) });
    return results;
  }

  /** Stores a 16 x 16 tile of an accumulator, by rows. */
  wmmaStore(pointer: Pointer<"global" | "shared">, tile: readonly Value<"f32">[], stride: number): void {
    const opcode = `wmma.store.d.sync.aligned.m16n16k16.row.${pointer.space}.f32`;
    this.emit(opcode, undefined, [this.addressItem(pointer), { vector: [...tile] }, String(stride)], {
      together: "warp",
      needs: { sm: 70, version: [6, 0] },
    });
  }

  private wmmaNeeds(type: "f16" | "bf16"): Needs {
    return type === "f16" ? { sm: 70, version: [6, 0] } : { sm: 80, version: [7, 0] };
  }
}
