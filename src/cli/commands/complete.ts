// `spillway complete`: the script that a shell loads for tab completion, and the words that the
// script asks for.
import { ShellCompDirective, script } from "@bomb.sh/tab";
import type { Command, Option } from "commander";
import "../../index.js";
import { kernelKinds } from "@spillway/ptx";
import { engineNames } from "../../reservoir/engines.js";
import { tasks } from "../../tasks/index.js";
import { TableFlag } from "../flag.js";

interface Candidate {
  readonly word: string;
  readonly description: string;
}

const plain = (word: string): Candidate => ({ word, description: "" });

/** Words for what commander has no list of, by the name of the option or argument. */
const words: ReadonlyMap<string, (program: Command) => readonly Candidate[]> = new Map([
  ["command", (program: Command) => commandsOf(program)],
  ["engine", () => ["auto", ...engineNames()].map(plain)],
  ["kernel", () => kernelKinds.map(plain)],
  ["name", () => tasks.all().map(({ name, description }) => ({ word: name, description }))],
]);

function commandsOf(command: Command): Candidate[] {
  return command.commands.map((each) => ({ word: each.name(), description: each.description() }));
}

/** Prints the script for a shell. Bash loads it by `source <(spillway complete bash)`. */
export function printCompletionScript(shell: "bash" | "zsh" | "fish" | "powershell"): void {
  script(shell, "spillway", "spillway");
}

/**
 * What may stand in place of the last typed word: a line each, with a tab and a description if it
 * has one, then a line that says whether file names may too. The scripts read this.
 */
export function completions(program: Command, typed: readonly string[]): string {
  const current = typed.at(-1) ?? "";
  let command = program;
  let operands = 0;
  let open: Option | undefined;
  for (const word of typed.slice(0, -1)) {
    const waiting: Option | undefined = open;
    open = undefined;
    if (word.startsWith("-")) {
      const option = command.options.find(({ long, short }) => word === long || word === short);
      if (option && (option.required || option.optional)) open = option;
    } else if (!waiting || waiting.variadic) {
      if (waiting) open = waiting;
      const next = operands === 0 ? command.commands.find((each) => each.name() === word) : undefined;
      if (next && !waiting) command = next;
      else operands++;
    }
  }
  const found = current.startsWith("-")
    ? optionsOf(command)
    : open
      ? valuesOf(program, open.attributeName(), open instanceof TableFlag ? open.words : open.argChoices)
      : operandsOf(program, command, operands);
  const lines = (found ?? [])
    .filter(({ word }) => word.startsWith(current))
    .map(({ word, description }) => (description === "" ? word : `${word}\t${description}`));
  const directive = found ? ShellCompDirective.ShellCompDirectiveNoFileComp : ShellCompDirective.ShellCompDirectiveDefault;
  return [...lines, `:${directive}`].join("\n");
}

function optionsOf(command: Command): Candidate[] {
  return command
    .createHelp()
    .visibleOptions(command)
    .map(({ long, short, description }) => ({ word: long ?? short ?? "", description }));
}

function operandsOf(program: Command, command: Command, before: number): readonly Candidate[] | undefined {
  const commands = before > 0 ? [] : commandsOf(command);
  const argument = command.registeredArguments[before] ?? command.registeredArguments.findLast(({ variadic }) => variadic);
  if (!argument) return commands;
  const values = valuesOf(program, argument.name(), argument.argChoices);
  return values ? [...commands, ...values] : undefined;
}

/** Undefined for files, and for what cannot be listed. */
function valuesOf(program: Command, name: string, choices: readonly string[] | undefined): readonly Candidate[] | undefined {
  return choices?.map(plain) ?? words.get(name)?.(program);
}
