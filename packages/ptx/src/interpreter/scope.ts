// What the names in a function body mean: registers, variables and labels between one pair of
// braces, and those around it.
import type { PtxRegister, PtxVariable, ScalarType } from "./types.js";

/** Registers declared together: one, or `count` numbered ones, each of `vector` elements. */
interface Declared {
  readonly type: ScalarType;
  readonly vector: 1 | 2 | 4;
  readonly count: number | undefined;
}

export const axes = ["x", "y", "z", "w"];
/** No number of a register has more digits. */
const mostDigits = 10;

export class Scope {
  readonly parent: Scope | undefined;
  /** Part of label names: those of two inlined copies of assembly stay apart. */
  readonly identity: string;
  readonly variables = new Map<string, PtxVariable>();
  readonly labels = new Set<string>();
  /** The function's registers, each made when it is first named: declarations cost nothing. */
  private readonly registers: PtxRegister[];
  private readonly declared = new Map<string, Declared>();
  private readonly made = new Map<string, PtxRegister | PtxRegister[]>();

  constructor(parent: Scope | undefined, identity: string, registers: PtxRegister[]) {
    this.parent = parent;
    this.identity = identity;
    this.registers = registers;
  }

  find<T>(look: (scope: Scope) => T | undefined): T | undefined {
    for (let scope: Scope | undefined = this; scope !== undefined; scope = scope.parent) {
      const found = look(scope);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** The unique name of a label visible from here. */
  label(name: string): string | undefined {
    return this.find((scope) => (scope.labels.has(name) ? scope.identity + name : undefined));
  }

  /** Declares a register, or `count` numbered ones. False if the name is taken. */
  declare(name: string, declared: Declared): boolean {
    const key = declared.count === undefined ? name : `${name}<`;
    if (this.declared.has(key) || (declared.count === undefined && this.declaration(name) !== undefined)) return false;
    this.declared.set(key, declared);
    return true;
  }

  /** The register of a name, or its elements if it was declared as a vector. */
  register(name: string): PtxRegister | PtxRegister[] | undefined {
    return this.find((scope) => scope.own(name));
  }

  private own(name: string): PtxRegister | PtxRegister[] | undefined {
    const known = this.made.get(name);
    if (known !== undefined) return known;
    const declared = this.declaration(name);
    if (declared === undefined) return undefined;
    const add = (full: string): PtxRegister => {
      const register = { name: full, type: declared.type, index: this.registers.length };
      this.registers.push(register);
      return register;
    };
    const made = declared.vector === 1 ? add(name) : axes.slice(0, declared.vector).map((axis) => add(`${name}.${axis}`));
    this.made.set(name, made);
    return made;
  }

  /** How a name was declared: itself, or as one of many. */
  private declaration(name: string): Declared | undefined {
    const own = this.declared.get(name);
    if (own !== undefined) return own;
    for (let at = name.length - 1; at > 0 && name.length - at <= mostDigits; at--) {
      const digit = name.charCodeAt(at) - 48;
      if (digit < 0 || digit > 9) break;
      if (digit === 0 && at < name.length - 1) continue;
      const many = this.declared.get(`${name.slice(0, at)}<`);
      if (many !== undefined && Number(name.slice(at)) < many.count!) return many;
    }
    return undefined;
  }
}

/** The element of a vector that a suffix names, as `x` or `r`. */
export function elementOf(vector: readonly PtxRegister[], suffix: string): PtxRegister | undefined {
  const index = axes.indexOf(suffix);
  return vector[index >= 0 ? index : ["r", "g", "b", "a"].indexOf(suffix)];
}
