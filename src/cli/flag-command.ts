// A command whose flags are options of tables, and the flags that several commands have.
import type { OptionTable } from "@spillway/core/options.js";
import { Command, Option } from "commander";
import { experimentRunTable } from "../experiment/runs/run-options.js";
import { type FlagSetting, flagOf } from "./flag.js";

/** A flag that may be given several times. */
function repeated(flags: string, help: string): Option {
  return new Option(flags, help).argParser((value, previous: readonly string[] = []) => [...previous, value]);
}

const shared = {
  out: () => flagOf(experimentRunTable, "out", { short: "o", value: "dir", fallback: "runs" }),
  engine: () => flagOf(experimentRunTable, "engine", { short: "e" }),
  plan: () => flagOf(experimentRunTable, "plan"),
  threads: () => flagOf(experimentRunTable, "threads", { short: "t" }),
  set: () => repeated("--set <field=value>", "change a field of the experiment; may be given several times"),
  import: () =>
    repeated(
      "--import <module>",
      "load a module first that registers parts of your own: a path, or an installed package; may be given several times",
    ),
  format: () => new Option("--format <format>", "svg: an image a figure; html: one page; left out, both").choices(["svg", "html"]),
  theme: () => new Option("--theme <theme>", "the paper of the images; a page follows the browser").choices(["light", "dark"]),
  json: () => new Option("--json", "as JSON"),
  quiet: () => new Option("--quiet", "no progress on standard error"),
};

/** A command of the command line. */
export class FlagCommand extends Command {
  override createCommand(name?: string): FlagCommand {
    return new FlagCommand(name);
  }

  /** Adds flags that several commands have. */
  shared(...names: readonly (keyof typeof shared)[]): this {
    for (const name of names) this.addOption(shared[name]());
    return this;
  }

  /** Adds flags that set options of a table, by name or with what the table does not say. */
  flags<Table extends OptionTable, Name extends keyof Table & string>(
    table: Table,
    ...named: readonly Name[] | readonly [Readonly<Partial<Record<Name, FlagSetting>>>]
  ): this {
    const [first] = named;
    const settings: Readonly<Record<string, FlagSetting>> =
      typeof first === "object" ? (first as Readonly<Record<string, FlagSetting>>) : Object.fromEntries(named.map((name) => [name, {}]));
    for (const [name, setting] of Object.entries(settings)) this.addOption(flagOf(table, name as Name, setting));
    return this;
  }
}
