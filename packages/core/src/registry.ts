// Parts of one kind, by name: topologies, activations, readouts, encoders, metrics or tasks. A part
// describes itself and its options; a user's package adds its own.
import { isObject } from "./checks.js";
import { ArgumentError } from "./errors.js";
import { nearest } from "./near-names.js";
import type { Kind, NamedParts, OptionTable } from "./options.js";

/** What every part says of itself; a kind of parts adds what it needs, such as a builder. */
export interface Part {
  /** What descriptions call it: a letter, then letters, digits, "-" or "_", at most 64 in all. */
  readonly name: string;
  /** What it is, in a sentence. */
  readonly description: string;
  /** Its options, made with `spillway/reservoir`; {} if it takes none. */
  readonly options: OptionTable;
}

/** What a registry is of, and how a user adds to it. */
export interface RegistryOptions<P extends Part> {
  /** One of them, in words: "topology". */
  readonly kind: string;
  /** The public function that adds one: "registerTopology". */
  readonly register: string;
  /** The fields that its kind needs, and what each takes. */
  readonly needs?: { readonly [Field in Exclude<keyof P, keyof Part>]?: Kind<unknown> };
  /** Fields of a description that its options cannot be called by; default "type". */
  readonly reserved?: readonly string[];
}

/** The error of a name that another thing of its kind has: nothing is replaced silently. */
export const nameTaken = (register: string, kind: string, name: string): ArgumentError =>
  new ArgumentError("name", name, `a name that no ${kind} has yet`, { of: register });

/** The parts of one kind, in the order in which they were registered. */
export class Registry<P extends Part> implements NamedParts {
  readonly kind: string;
  readonly #register: string;
  readonly #needs: readonly [string, Kind<unknown>][];
  readonly #reserved: readonly string[];
  readonly #parts = new Map<string, P>();

  constructor({ kind, register, needs = {}, reserved = ["type"] }: RegistryOptions<P>, builtIn: readonly P[] = []) {
    this.kind = kind;
    this.#register = register;
    this.#needs = Object.entries(needs);
    this.#reserved = reserved;
    for (const part of builtIn) this.#parts.set(part.name, part);
  }

  /**
   * Adds a part. The same object again changes nothing.
   * @throws ArgumentError for a name that another part has, or a field that is missing or malformed
   */
  register(part: P): void {
    this.#check(part);
    const there = this.#parts.get(part.name);
    if (there !== undefined && there !== part) throw nameTaken(this.#register, this.kind, part.name);
    this.#parts.set(part.name, part);
  }

  /** The part of this name. `field` is where the name stands. @throws ArgumentError */
  get(name: string, field: string = this.kind): P {
    const part = this.#parts.get(name);
    if (part === undefined) throw new ArgumentError(field, name, `one of ${this.names().join(", ")}${this.advice(name)}`);
    return part;
  }

  /** The part of this name, if there is one. */
  find(name: string): P | undefined {
    return this.#parts.get(name);
  }

  /** The names of all parts. */
  names(): readonly string[] {
    return [...this.#parts.keys()];
  }

  /** All parts. */
  all(): readonly P[] {
    return [...this.#parts.values()];
  }

  /** The options of a part, by its name. @throws ArgumentError */
  table(name: string): OptionTable {
    return this.get(name).options;
  }

  /** The nearest name, or how a name that none is near to becomes known. */
  advice(name: unknown): string {
    if (typeof name !== "string" || name === "") return "";
    const near = nearest(name, this.names());
    return near === undefined
      ? ` (one of your own is registered first: ${this.#register}, or --import on the command line)`
      : ` (did you mean ${near}?)`;
  }

  #check(part: P): void {
    if (typeof part !== "object" || part === null)
      throw new ArgumentError(
        this.#register,
        part,
        `an object with ${["name", "description", "options", ...this.#needs.map(([field]) => field)].join(", ")}`,
      );
    const { name, description, options } = part;
    if (typeof name !== "string" || !/^[A-Za-z][\w-]{0,63}$/.test(name))
      this.#refuse("name", name, 'a letter, then letters, digits, "-" or "_", at most 64 in all');
    if (typeof description !== "string" || description.trim() === "") this.#refuse("description", description, "a sentence");
    if (!isObject(options)) this.#refuse("options", options, "an object of options, {} if there are none");
    for (const [option, value] of Object.entries(options)) {
      if (this.#reserved.includes(option)) this.#refuse("options", option, `names other than ${this.#reserved.join(", ")}`);
      if (typeof value !== "object" || value === null || typeof value.read !== "function" || typeof value.description !== "string")
        this.#refuse(`options.${option}`, value, "what option, optional or given makes");
    }
    for (const [field, kind] of this.#needs) {
      try {
        kind.read(Reflect.get(part, field), field);
      } catch (error) {
        throw error instanceof ArgumentError ? error.at(this.#register) : error;
      }
    }
  }

  #refuse(field: string, value: unknown, takes: string): never {
    throw new ArgumentError(field, value, takes, { of: this.#register });
  }
}
