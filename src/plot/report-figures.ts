// The figures that a report page holds, read out of it again.
import { FormatError } from "@spillway/io";
import { checkFigure, type Figure } from "./figure.js";

const begin = '<script type="application/json" id="figures">';
const end = "</script>";

/**
 * The figures of a page that `reportHtml` made, as data.
 * @param source what errors call the page by
 * @throws FormatError if the text is no such page, or holds something else than figures
 */
export function figuresOfReport(html: string, source: string): Figure[] {
  const from = html.lastIndexOf(begin);
  const to = html.indexOf(end, from);
  if (from < 0 || to < 0) throw new FormatError("text", source, "it is no report of a run: there are no figures in it");
  try {
    const found = JSON.parse(html.slice(from + begin.length, to)) as Figure[];
    found.forEach(checkFigure);
    return found;
  } catch (cause) {
    throw new FormatError("text", source, "its figures cannot be read; run the experiment again", {}, cause);
  }
}
