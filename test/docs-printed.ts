// What a block of the documentation says that the command before it prints, beside what it prints.
import type { Block } from "./docs-pages.js";

const number = /-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/g;
/** Times differ from run to run. */
const time = /-?\d+(?:\.\d+)? ?(?:ms|us|s)\b/g;

/** Whether a number is the one that is said, to the decimals that are said. */
function isRounded(said: string, printed: string): boolean {
  const [mantissa, exponent = "0"] = said.split("e");
  const unit = 10 ** (Number(exponent) - (mantissa!.split(".")[1]?.length ?? 0));
  return said === printed || (/[.e]/.test(said) && Math.abs(Number(said) - Number(printed)) <= 0.5000001 * unit);
}

function isSaid(said: string, printed: string): boolean {
  const [a, b] = [said, printed].map((line) => line.replace(time, "TIME").replace(/\s+/g, " ").trim()) as [string, string];
  const numbers = b.match(number) ?? [];
  return a.replace(number, "#") === b.replace(number, "#") && (a.match(number) ?? []).every((each, i) => isRounded(each, numbers[i]!));
}

/** The first line of a block that was not printed, in the order of the block; "" if all were. */
export function wronglySaid({ language, text }: Pick<Block, "language" | "text">, printed: string): string {
  const plain = (json: string) =>
    json
      .replace(/\s+/g, " ")
      .replace(/(?<=[[{:,]) | (?=[\]}])/g, "")
      .trim();
  const said = language === "json" ? [plain(text)] : text.split("\n").filter((line) => line.trim() !== "" && line.trim() !== "...");
  const lines = language === "json" ? [plain(printed)] : printed.split("\n");
  let from = 0;
  for (const line of said) {
    const at = lines.findIndex((each, i) => i >= from && isSaid(line, each));
    if (at < 0) return `${line}\nis not printed:\n${lines.slice(from).join("\n")}`;
    from = at + 1;
  }
  return "";
}
