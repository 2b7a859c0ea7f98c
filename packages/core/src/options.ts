/**
 * Options described once, as a table: from it come their checks, their defaults, "did you mean",
 * their JSON Schema and the tables of the command line and the documentation. It knows nothing of
 * any one options object.
 */
import { isObject, mostOfAny } from "./checks.js";
import { ArgumentError, SpillwayError } from "./errors.js";
import { describe } from "./text.js";

/** A JSON Schema (draft 2020-12), or a part of one. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * What a value may be. `Input` is what a user writes, `Value` the same with every default filled
 * in.
 */
export interface Kind<Value, Input = Value> {
  /** What it takes, in words: "a whole number of at least 1". */
  readonly takes: string;
  /** The value with every default filled in. `field` is its path. @throws ArgumentError */
  read(value: unknown, field: string): Value;
  readonly schema: JsonSchema;
  /** What a user writes; for types alone. */
  readonly input?: Input;
}

/** One option: a kind of value, what it is if it is left out, and a sentence about it. */
export interface Option<Value, Input = Value, Required extends boolean = boolean> extends Kind<Value, Input> {
  /** Whether it has to be given. */
  readonly required: Required;
  /** What it is if it is left out; undefined if that depends, or if it has to be given. */
  readonly default: Value | undefined;
  /** What it is for, in a line. */
  readonly description: string;
}

/** What is wrong with a value, and where, as Standard Schema says it. */
export interface SchemaIssue {
  readonly message: string;
  /** The names and indices that lead to it. */
  readonly path: readonly (string | number)[];
}

/**
 * A schema that other libraries take, such as tRPC and validators of routes: version 1 of Standard
 * Schema (https://standardschema.dev).
 */
export interface StandardSchema<Input, Value> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: "spillway";
    /** The value with every default filled in, or what is wrong with it. */
    readonly validate: (
      value: unknown,
    ) => { readonly value: Value; readonly issues?: undefined } | { readonly issues: readonly SchemaIssue[] };
    /** For types alone. */
    readonly types?: { readonly input: Input; readonly output: Value } | undefined;
  };
}

/** A standard schema of what `read` takes. Its issue is the sentence of the error, with its field. */
export function standardSchema<Input, Value>(read: (value: unknown) => Value): StandardSchema<Input, Value> {
  return {
    "~standard": {
      version: 1,
      vendor: "spillway",
      validate: (value) => {
        try {
          return { value: read(value) };
        } catch (error) {
          if (!(error instanceof SpillwayError)) throw error;
          return { issues: [{ message: error.message, path: pathOf(error.field ?? "") }] };
        }
      },
    },
  };
}

/** `a.b[2].c` as names and indices. */
function pathOf(field: string): (string | number)[] {
  return Array.from(field.matchAll(/\[(\d+)\]|[^.[\]]+/g), ([name, index]) => (index === undefined ? name : Number(index)));
}

/** Options by name. */
// biome-ignore lint/suspicious/noExplicitAny: a table holds options of any type.
export type OptionTable = Readonly<Record<string, Option<any, any>>>;

/** A table with an option for every field of `Options`, and none more. */
export type TableOf<Options> = { readonly [Name in keyof Options]-?: Option<Exclude<Options[Name], undefined> | undefined, unknown> };

/** The values of a table, every default filled in. */
export type Resolved<Table> = { readonly [Name in keyof Table]: Table[Name] extends Kind<infer Value, infer _> ? Value : never };

type OpenNames<Table> = { [Name in keyof Table]: undefined extends Resolved<Table>[Name] ? Name : never }[keyof Table];

/** The same; what has no default may be left out. */
export type Filled<Table> = { readonly [Name in keyof Omit<Table, OpenNames<Table>>]: Resolved<Table>[Name] } & {
  readonly [Name in keyof Pick<Table, OpenNames<Table>>]?: Resolved<Table>[Name] | undefined;
};

type InputOfEach<Each> = Each extends Kind<infer _, infer Input> ? Exclude<Input, undefined> : never;
type RequiredNames<Table> = { [Name in keyof Table]: Table[Name] extends { readonly required: true } ? Name : never }[keyof Table];
type RequiredRows<Table> = Pick<Table, RequiredNames<Table>>;
type OtherRows<Table> = Pick<Table, Exclude<keyof Table, RequiredNames<Table>>>;

/**
 * What a user writes for a table. Its fields have the comments on the rows of the table: mapping
 * over the keys of `Pick` keeps them, `as` in a mapped type would not.
 */
export type InputOf<Table> = { readonly [Name in keyof RequiredRows<Table>]: InputOfEach<Table[Name]> } & {
  readonly [Name in keyof OtherRows<Table>]?: InputOfEach<OtherRows<Table>[Name]> | undefined;
};

/** Parts by name, which may become more: what `choiceOf` and `byType` choose from. */
export interface NamedParts {
  /** In the order in which they were registered. */
  names(): readonly string[];
  /** The options of a part, by its name. */
  table(name: string): OptionTable;
  /** What an error says beside the names, such as "did you mean". */
  advice(name: unknown): string;
}

/** Bounds of a number, and its unit. */
export interface Bounds {
  readonly above?: number;
  readonly atLeast?: number;
  readonly below?: number;
  readonly atMost?: number;
  readonly unit?: string;
  /** In words, if the bounds do not say all. */
  readonly takes?: string;
  /** A check beyond the bounds, which `takes` names. */
  readonly accepts?: (value: number) => boolean;
}

/** A kind of value from its check. */
export function checked<Value>(takes: string, accepts: (value: unknown) => boolean, schema: JsonSchema = {}): Kind<Value> {
  return {
    takes,
    schema,
    read(value, field) {
      if (!accepts(value)) throw new ArgumentError(field, value, takes);
      return value as Value;
    },
  };
}

/** A finite number within bounds. */
export function number(bounds: Bounds = {}): Kind<number> {
  return numberOf("number", bounds, Number.isFinite);
}

/**
 * A whole number within bounds. One that has only a lower bound may be 100 million at most, so that
 * no machine counts or allocates for hours before it fails.
 */
export function whole(bounds: Bounds = { atLeast: 0 }): Kind<number> {
  const { above, atLeast, below, atMost } = bounds;
  const isOpen = atMost === undefined && below === undefined && (atLeast ?? above) !== undefined;
  const kind = numberOf("integer", bounds, Number.isSafeInteger);
  return isOpen ? atMostOf(kind, mostOfAny) : kind;
}

/** A whole number from 0 on of a file or a state, such as the steps since the start. */
export const position: Kind<number> = numberOf("integer", { atLeast: 0 }, Number.isSafeInteger);

/**
 * How many of something there are. What no machine holds is refused before anything is made of it.
 * @param most the largest count, default 100 million
 */
export function count(least: number, most: number = mostOfAny, takes?: string): Kind<number> {
  return atMostOf(numberOf("integer", { atLeast: least, ...(takes !== undefined && { takes }) }, Number.isSafeInteger), most);
}

/** A bound that errors alone name. */
function atMostOf(kind: Kind<number>, most: number): Kind<number> {
  return {
    takes: kind.takes,
    schema: { ...kind.schema, maximum: most },
    read(value, field) {
      const read = kind.read(value, field);
      if (read > most) throw new ArgumentError(field, value, `at most ${most}`);
      return read;
    },
  };
}

function numberOf(type: "number" | "integer", bounds: Bounds, isOne: (value: unknown) => boolean): Kind<number> {
  const { above = -Infinity, atLeast = -Infinity, below = Infinity, atMost = Infinity, accepts = () => true } = bounds;
  const within = (value: number) => value > above && value >= atLeast && value < below && value <= atMost && accepts(value);
  const schema: Record<string, unknown> = { type };
  if (bounds.above !== undefined) schema["exclusiveMinimum"] = above;
  if (bounds.atLeast !== undefined) schema["minimum"] = atLeast;
  if (bounds.below !== undefined) schema["exclusiveMaximum"] = below;
  if (bounds.atMost !== undefined) schema["maximum"] = atMost;
  return checked(bounds.takes ?? inWords(type, bounds), (value) => isOne(value) && within(value as number), schema);
}

/** true or false. */
export const flag: Kind<boolean> = checked("true or false", (value) => typeof value === "boolean", { type: "boolean" });

/** One of some names. */
export function choice<const Name extends string>(...names: readonly Name[]): Kind<Name> {
  const shown = names.map((name) => JSON.stringify(name));
  const takes = shown.length < 2 ? shown.join() : `${shown.slice(0, -1).join(", ")} or ${shown.at(-1)}`;
  return checked(takes, (value) => (names as readonly unknown[]).includes(value), { type: "string", enum: names });
}

/** A name of parts; an empty enum would be no JSON Schema. */
function namesSchema(parts: NamedParts): JsonSchema {
  return parts.names().length > 0 ? { type: "string", enum: parts.names() } : { not: {} };
}

/** The name of a part. Parts that are registered later are taken as well. */
export function choiceOf<Name extends string = string>(parts: NamedParts): Kind<Name> {
  const takes = () => `one of ${parts.names().join(", ")}`;
  return {
    get takes() {
      return takes();
    },
    get schema() {
      return namesSchema(parts);
    },
    read(value, field) {
      if (parts.names().includes(value as string)) return value as Name;
      throw new ArgumentError(field, value, takes() + parts.advice(value));
    },
  };
}

/** A text. */
export function text(takes = "a text"): Kind<string> {
  return checked(takes, (value) => typeof value === "string", { type: "string" });
}

/** A function. */
export function callback<Value>(takes = "a function"): Kind<Value> {
  return checked(takes, (value) => typeof value === "function");
}

/** A seed: any text or finite number. */
export const seed: Kind<string | number> = checked(
  "text or a finite number",
  (value) => typeof value === "string" || Number.isFinite(value),
  { anyOf: [{ type: "string" }, { type: "number" }] },
);

/** A list of values, at least `least` of them. */
export function list<Value, Input>(each: Kind<Value, Input>, takes: string, least = 0): Kind<readonly Value[], readonly Input[]> {
  return {
    takes,
    get schema() {
      return { type: "array", items: each.schema, ...(least > 0 && { minItems: least }) };
    },
    read(value, field) {
      if (!Array.isArray(value) || value.length < least) throw new ArgumentError(field, value, takes);
      return value.map((item, i) => each.read(item, `${field}[${i}]`));
    },
  };
}

/** A list with one value for each of some kinds. */
export function tuple<Values extends readonly unknown[]>(
  takes: string,
  kinds: { readonly [K in keyof Values]: Kind<Values[K]> },
): Kind<Values> {
  const { length } = kinds;
  return {
    takes,
    get schema() {
      return { type: "array", prefixItems: kinds.map(({ schema }) => schema), items: false, minItems: length };
    },
    read(value, field) {
      if (!Array.isArray(value) || value.length !== length) throw new ArgumentError(field, value, takes);
      return kinds.map((kind, i) => kind.read(value[i], `${field}[${i}]`)) as unknown as Values;
    },
  };
}

/** An object with any names, whose values are of one kind. */
export function record<Value, Input>(
  each: Kind<Value, Input>,
  takes: string,
): Kind<Readonly<Record<string, Value>>, Readonly<Record<string, Input>>> {
  return {
    takes,
    get schema() {
      return { type: "object", additionalProperties: each.schema };
    },
    read(value, field) {
      if (!isObject(value)) throw new ArgumentError(field, value, takes);
      return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, each.read(item, `${field}.${name}`)]));
    },
  };
}

/** Any value: what is checked elsewhere. */
export const anything: Kind<unknown> = checked("", () => true);

/** A value that is checked where it is used, such as a series. `takes` says what it is. */
export function checkedLater<Value>(takes: string): Kind<Value> {
  return checked(takes, () => true);
}

/** An object whose fields are checked where it is used, such as a description of a reservoir. */
export function objectLater<Value extends object>(takes: string): Kind<Value> {
  return record(anything, takes) as unknown as Kind<Value>;
}

/** null. */
export const nothing: Kind<null> = checked("null", (value) => value === null, { type: "null" });

/** The first of some kinds that takes the value. An error deep in a value is that kind's own. */
export function either<Kinds extends readonly Kind<unknown, unknown>[]>(
  takes: string,
  ...kinds: Kinds
): Kind<
  Kinds[number] extends Kind<infer Value, infer _> ? Value : never,
  Kinds[number] extends Kind<infer _, infer Input> ? Input : never
> {
  return {
    takes,
    get schema() {
      return { anyOf: kinds.map(({ schema }) => schema) };
    },
    read(value, field) {
      let deep: unknown;
      for (const kind of kinds) {
        try {
          return kind.read(value, field) as never;
        } catch (error) {
          if (!(error instanceof ArgumentError)) throw error;
          if (error.field !== field) deep ??= error;
        }
      }
      throw deep ?? new ArgumentError(field, value, takes);
    },
  };
}

/**
 * An object with the options of a table. `others` says what becomes of fields that the table does
 * not have.
 */
export function object<const Table extends OptionTable>(
  table: Table,
  takes: string = `an object with ${Object.keys(table).join(", ")}`,
  others: "refused" | "kept" = "refused",
): Kind<Resolved<Table>, InputOf<Table>> & StandardSchema<InputOf<Table>, Resolved<Table>> {
  const read = (value: unknown, field: string): Resolved<Table> => {
    if (!isObject(value)) throw new ArgumentError(field, value, takes);
    const path = field === "" ? "" : `${field}.`;
    return others === "kept" ? { ...value, ...readTable(table, pick(value, table), path) } : readTable(table, value, path);
  };
  return {
    takes,
    get schema() {
      const required = Object.keys(table).filter((name) => table[name]!.required);
      return {
        type: "object",
        properties: Object.fromEntries(Object.entries(table).map(([name, option]) => [name, schemaOf(option)])),
        ...(required.length > 0 && { required }),
        additionalProperties: others === "kept",
      };
    },
    read,
    ...standardSchema<InputOf<Table>, Resolved<Table>>((value) => {
      if (isObject(value)) return read(value, "");
      throw ArgumentError.because(`it is ${describe(value)}; it takes ${takes || "an object"}`);
    }),
  };
}

/**
 * An object whose `type` says which of some tables it has, or just that name. Parts that are
 * registered later are accepted as well.
 */
export function byType<Value extends { readonly type: string }>(
  tables: Readonly<Record<Value["type"], OptionTable>> | NamedParts,
): Kind<Value> {
  return byName<Value>("type", tables);
}

/** The same by a field of another name, such as `rule`. */
export function byName<Value>(key: string, tables: Readonly<Record<string, OptionTable>> | NamedParts): Kind<Value> {
  const parts = isNamedParts(tables) ? tables : asParts(tables);
  const kindOf = (name: string) => object({ [key]: given(choice(name), ""), ...parts.table(name) }, "");
  const takes = () => `one of ${parts.names().join(", ")}, or an object whose "${key}" is one of them`;
  return {
    get takes() {
      return takes();
    },
    get schema() {
      return { anyOf: [namesSchema(parts), ...parts.names().map((name) => kindOf(name).schema)] };
    },
    read(value, field) {
      const fields = isObject(value) ? value : undefined;
      const type = fields ? fields[key] : value;
      const names = parts.names();
      const known = names.includes(type as string);
      // The options of a type that is not known are not known either.
      if (fields && (known || typeof type !== "string"))
        checkNames(fields, [...new Set([key, ...names.flatMap((name) => Object.keys(parts.table(name)))])], `${field}.`);
      if (known) return kindOf(type as string).read(fields ?? { [key]: type }, field) as unknown as Value;
      throw new ArgumentError(fields ? `${field}.${key}` : field, type, takes() + parts.advice(type));
    },
  };
}

function isNamedParts(tables: object): tables is NamedParts {
  return typeof (tables as Partial<NamedParts>).names === "function";
}

function asParts(tables: Readonly<Record<string, OptionTable>>): NamedParts {
  const names = Object.keys(tables);
  return { names: () => names, table: (name) => tables[name]!, advice: () => "" };
}

/** An option with a default. */
export function option<Value, Input>(kind: Kind<Value, Input>, fallback: NoInfer<Value>, description: string): Option<Value, Input, false> {
  return asOption(kind, false, fallback, description);
}

/** An object that is filled in if it is left out: none of its options has to be given. */
export function filled<Value, Input>(kind: Kind<Value, Input>, description: string): Option<Value, Input, false> {
  return option(kind, kind.read({}, "") as NoInfer<Value>, description);
}

/** An option that is undefined if it is left out. */
export function optional<Value, Input>(kind: Kind<Value, Input>, description: string): Option<Value | undefined, Input, false> {
  return asOption<Value | undefined, Input, false>(kind as Kind<Value | undefined, Input>, false, undefined, description);
}

/** An option that has to be given. */
export function given<Value, Input>(kind: Kind<Value, Input>, description: string): Option<Value, Input, true> {
  return asOption(kind, true, undefined, description);
}

/**
 * A kind as an option. What it takes and its schema are made when they are asked for: parts may be
 * registered in between.
 */
function asOption<Value, Input, Required extends boolean>(
  kind: Kind<Value, Input>,
  required: Required,
  fallback: Value | undefined,
  description: string,
): Option<Value, Input, Required> {
  return {
    get takes() {
      return kind.takes;
    },
    get schema() {
      return kind.schema;
    },
    read: kind.read,
    required,
    default: fallback,
    description,
  };
}

/** The same options without defaults: what is left out stays so. */
export function withoutDefaults<Table extends OptionTable>(
  table: Table,
): {
  readonly [Name in keyof Table]: Table[Name] extends Kind<infer Value, infer Input> ? Option<Value | undefined, Input, false> : never;
} {
  return Object.fromEntries(
    Object.entries(table).map(([name, option]) => [name, asOption(option, false, undefined, option.description)]),
  ) as never;
}

/**
 * Checks options against a table and fills in the defaults. `of` names what takes them.
 * @throws ArgumentError for an unknown option, a missing one, or a value that is not taken
 */
export function resolve<Table extends OptionTable>(table: Table, options: object, of?: string): Resolved<Table> {
  if (!isObject(options)) throw new ArgumentError("options", options, "an object of options", { of });
  try {
    return readTable(table, options, "");
  } catch (error) {
    throw of !== undefined && error instanceof ArgumentError ? error.at(of) : error;
  }
}

function checkNames(value: object, known: readonly string[], path: string): void {
  for (const name in value)
    if (!known.includes(name)) throw ArgumentError.unknownField(path + name, (value as Readonly<Record<string, unknown>>)[name], known);
}

function pick(value: object, table: OptionTable): object {
  return Object.fromEntries(Object.entries(value).filter(([name]) => Object.hasOwn(table, name)));
}

const namesOfTables = new WeakMap<OptionTable, readonly string[]>();

/** The names of a table's options, listed once: options are read at every launch of a kernel. */
function namesOf(table: OptionTable): readonly string[] {
  let names = namesOfTables.get(table);
  if (names === undefined) {
    names = Object.keys(table);
    namesOfTables.set(table, names);
  }
  return names;
}

function readTable<Table extends OptionTable>(table: Table, value: object, path: string): Resolved<Table> {
  const source = value as Readonly<Record<string, unknown>>;
  const names = namesOf(table);
  // A misspelt option that has to be there is missing as well; its name says more.
  checkNames(value, names, path);
  const out: Record<string, unknown> = {};
  for (const name of names) {
    const each = table[name]!;
    const found = source[name];
    const read = found === undefined && !each.required ? each.default : each.read(found, path + name);
    if (read !== undefined) out[name] = read;
  }
  return out as Resolved<Table>;
}

/** The JSON Schema of an option: what it takes, in the words of its error, ends its description. */
export function schemaOf(option: Option<unknown, unknown>): JsonSchema {
  const description = [option.description, option.takes && `Takes ${option.takes}.`].filter(Boolean).join(" ");
  return { ...option.schema, description, ...(option.default !== undefined && { default: option.default }) };
}

function inWords(type: "number" | "integer", { above, atLeast, below, atMost, unit }: Bounds): string {
  const noun = `${type === "integer" ? "whole number" : "number"}${unit === undefined ? "" : ` of ${unit}`}`;
  if (atLeast !== undefined && atMost !== undefined) return `a ${noun} from ${atLeast} to ${atMost}`;
  const words: string[] = [];
  if (above !== undefined) words.push(`above ${above}`);
  if (atLeast !== undefined) words.push(`of at least ${atLeast}`);
  if (below !== undefined) words.push(`below ${below}`);
  if (atMost !== undefined) words.push(`${words.length === 0 ? "of " : ""}at most ${atMost}`);
  if (words.length === 0) return type === "integer" ? `a ${noun}` : `a finite ${noun}`;
  return `a ${noun} ${words.join(" and ")}`;
}
