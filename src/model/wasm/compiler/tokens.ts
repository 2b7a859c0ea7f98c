// The words of C: comments, conditions and macros are done with here. No compiler's names are
// defined: an `#if` asks for such a name, so its lines are left out. `#else` and what else a
// preprocessor does is refused.
import { SpillwayError } from "../../../core/errors.js";

/** A word of C. */
export interface Token {
  readonly kind: "name" | "number" | "text" | "sign" | "end";
  readonly text: string;
}

interface Macro {
  readonly parameters?: readonly string[] | undefined;
  readonly body: readonly Token[];
}

const words =
  /(?<skip>\s+|\/\*[\s\S]*?\*\/)|(?<name>[A-Za-z_]\w*)|(?<number>0[xX][\da-fA-F.]+(?:[pP][+-]?\d+)?[uUlLfF]*|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[uUlLfF]*|'(?:\\?[^\n])')|(?<text>"(?:\\.|[^"\\])*")|(?<sign><<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[-+*/%&|^~!<>=?:;,.(){}[\]])/y;

function fail(sentence: string): never {
  throw new SpillwayError("format", sentence);
}

function split(line: string): Token[] {
  const out: Token[] = [];
  words.lastIndex = 0;
  while (words.lastIndex < line.length) {
    const at = words.lastIndex;
    const groups = words.exec(line)?.groups ?? fail(`no word of C begins at ${JSON.stringify(line.slice(at, at + 20))}`);
    for (const kind of ["name", "number", "text", "sign"] as const) if (groups[kind] !== undefined) out.push({ kind, text: groups[kind] });
  }
  return out;
}

/** The macros of <stdint.h> that programs take. */
const limits = `#define INT32_MAX 2147483647
#define INT64_MAX 9223372036854775807
#define INT64_C(value) ((int64_t)(value))
#define UINT64_C(value) ((uint64_t)(value))
`;

/** Directives that change nothing here: what they name stands in the text, or is meant for GCC. */
const ignored = new Set(["include", "pragma"]);

/** Comments become a space; texts and characters stay, whatever is in them. */
const withoutComments = (program: string) =>
  program.replace(/"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])'|\/\*[\s\S]*?\*\//g, (found) => (found[0] === "/" ? " " : found));

/** The words of a program, with its macros put in. @throws SpillwayError */
export function tokensOf(program: string): Token[] {
  const macros = new Map<string, Macro>();
  const out: Token[] = [];
  const isTaken: boolean[] = [];
  let plain: string[] = [];
  const flush = () => {
    out.push(...expanded(split(plain.join("\n")), macros));
    plain = [];
  };
  for (const line of withoutComments(`${limits}${program}`).split("\n")) {
    const directive = /^\s*#\s*(\w+)\s*(.*)$/.exec(line);
    const isHere = isTaken.every(Boolean);
    if (!directive) {
      if (isHere) plain.push(line);
      continue;
    }
    const [, name, rest] = directive as unknown as [string, string, string];
    if (name === "endif") isTaken.pop();
    else if (name === "ifndef") isTaken.push(!macros.has(rest.trim()));
    else if (name === "ifdef") isTaken.push(macros.has(rest.trim()));
    else if (name === "if" || name === "elif") {
      // A condition on a name that is not defined does not hold, whatever else it asks.
      const asked = /^defined\((\w+)\)\s*(?:&&.*)?$/.exec(rest.trim())?.[1];
      if (asked === undefined || macros.has(asked)) fail(`the compiler of exported programs cannot tell whether "${rest.trim()}" holds`);
      if (name === "elif") isTaken.pop();
      isTaken.push(false);
    } else if (name === "else") fail(`the compiler of exported programs takes no #${name}`);
    else if (name === "define" && isHere) {
      flush();
      const [, macro, parameters, body] = /^(\w+)(\([^)]*\))?\s*(.*)$/.exec(rest)!;
      macros.set(macro!, {
        parameters: parameters
          ?.slice(1, -1)
          .split(",")
          .map((each) => each.trim()),
        body: split(body!),
      });
    } else if (isHere && !ignored.has(name)) fail(`the compiler of exported programs takes no #${name}`);
  }
  flush();
  out.push({ kind: "end", text: "" });
  return out;
}

function expanded(tokens: readonly Token[], macros: ReadonlyMap<string, Macro>): Token[] {
  const out: Token[] = [];
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i]!;
    const macro = token.kind === "name" ? macros.get(token.text) : undefined;
    if (!macro) out.push(token);
    else if (!macro.parameters) out.push(...expanded(macro.body, macros));
    else {
      const given: Token[][] = [[]];
      let depth = 0;
      for (i++; ; i++) {
        const each = tokens[i] ?? fail(`the macro ${token.text} is not called to its end`);
        if (depth === 0 && each.text !== "(") fail(`the macro ${token.text} stands without its "("`);
        if (each.text === "(" && depth++ === 0) continue;
        if (each.text === ")" && --depth === 0) break;
        if (each.text === "," && depth === 1) given.push([]);
        else given.at(-1)!.push(each);
      }
      const { parameters, body } = macro;
      out.push(
        ...expanded(
          body.flatMap((each) => {
            const place = each.kind === "name" ? parameters.indexOf(each.text) : -1;
            return place < 0 ? [each] : given[place]!;
          }),
          macros,
        ),
      );
    }
  }
  return out;
}

/** A place among the words. */
export class Cursor {
  readonly #tokens: readonly Token[];
  at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  /** The next word, or one behind it. */
  peek(ahead = 0): Token {
    return this.#tokens[Math.min(this.at + ahead, this.#tokens.length - 1)]!;
  }

  next(): Token {
    const token = this.peek();
    this.at++;
    return token;
  }

  /** Whether the next word is this one, which is then taken. */
  takes(text: string): boolean {
    const token = this.peek();
    if (token.kind === "text" || token.text !== text) return false;
    this.at++;
    return true;
  }

  expect(text: string): void {
    if (!this.takes(text)) this.fail(`"${text}" is missing`);
  }

  name(): string {
    const token = this.next();
    return token.kind === "name" ? token.text : this.fail("a name is missing");
  }

  /** @throws SpillwayError */
  fail(what: string): never {
    const there = this.#tokens.slice(Math.max(0, this.at - 6), this.at + 6).map(({ text }) => text);
    throw new SpillwayError("format", `the compiler of exported programs: ${what}, at "${there.join(" ")}"`);
  }
}
