// `spillway tasks`: the benchmark series there are, and their options.
import { type Task, tasks } from "../../tasks/index.js";
import { formatTable } from "../table.js";

/** The text (or JSON) of `spillway tasks [name]`. @throws ArgumentError for an unknown task. */
export function listTasks(name: string | undefined, options: { readonly json?: boolean | undefined }): string {
  const chosen = name === undefined ? tasks.all() : [tasks.get(name)];
  if (options.json)
    return JSON.stringify(
      chosen.map((task) => ({ ...task, options: listOptions(task), lyapunovExponents: task.lyapunovExponents ?? [] })),
      undefined,
      2,
    );
  if (name !== undefined) return details(chosen[0]!);
  const lines = chosen.map((task) => [task.name, task.kind === "driven" ? "inputs and targets" : "series", task.description]);
  return `${formatTable(["task", "gives", "what it is"], lines)}\n\nspillway tasks NAME lists the options of one of them; an experiment file has them under data.options.`;
}

function listOptions({ options }: Task) {
  return Object.entries(options).map(([name, option]) => ({
    name,
    default: option.default as unknown,
    takes: option.takes,
    description: option.description,
  }));
}

function details(task: Task): string {
  const lines = listOptions(task).map((option) => [option.name, JSON.stringify(option.default), option.takes, option.description]);
  const exponents = (task.lyapunovExponents ?? []).map(({ value, parameters, source }) => {
    const at = Object.entries(parameters).map(([parameter, setting]) => `${parameter} ${setting}`);
    return `  ${value} at ${at.join(", ")}: ${source}`;
  });
  return [
    `${task.name}: ${task.description}`,
    "",
    formatTable(["option", "default", "takes", "what it is"], lines),
    ...(exponents.length > 0 ? ["", "largest Lyapunov exponent (natural logarithm, per unit of time or iteration)", ...exponents] : []),
  ].join("\n");
}
