// Forms that fit stamps which are written in no form of ISO 8601: what an error proposes.
import { parseStamp, type TimeForm } from "./time-form.js";

const dates = [".", "/", "-", " "].flatMap((s) =>
  [
    ...["DD MM YYYY", "D M YYYY", "MM DD YYYY", "M D YYYY", "YYYY MM DD", "YYYY M D"],
    ...["DD MM YY", "D M YY", "MM DD YY", "M D YY", "DD MMM YYYY", "D MMM YYYY", "DD MMM YY", "YYYY MMM DD"],
  ].map((date) => date.replaceAll(" ", s)),
);
const times = [
  "",
  "hh:mm",
  "hh:mm:ss",
  "h:mm",
  "h:mm:ss",
  "hh:mm:ss.fff",
  "h:mm A",
  "h:mm:ss A",
  "hh.mm",
  "hh.mm.ss",
  "hhmm",
  "hhmmss",
  "hh",
];
const forms: readonly TimeForm[] = [...dates, "YYYYMMDD", "MM/YYYY", "MM.YYYY", "YYYY/MM", "MMM YYYY"].flatMap((date) =>
  times.flatMap((time) => (time === "" ? [date] : [`${date} ${time}`, `${date}T${time}`])),
);

/**
 * The forms that every stamp has, at most six: those in which they come in order of time before the
 * others.
 */
export function fittingForms(stamps: readonly string[]): TimeForm[] {
  const [first] = stamps;
  if (first === undefined) return [];
  const fitting: { readonly form: TimeForm; readonly back: number }[] = [];
  for (const form of forms) {
    let before = Number.NEGATIVE_INFINITY;
    let back = 0;
    const fits = stamps.every((text) => {
      const stamp = parseStamp(text, undefined, form);
      if (typeof stamp === "string") return false;
      if (stamp.wall <= before) back++;
      before = stamp.wall;
      return true;
    });
    // Stamps with a zero in front fit the form with it and that without: the first one counts.
    if (fits && !fitting.some((other) => bare(other.form) === bare(form))) fitting.push({ form, back });
  }
  return fitting
    .sort((a, b) => a.back - b.back)
    .slice(0, 6)
    .map(({ form }) => form);
}

/** A form without zeros in front. */
function bare(form: TimeForm): string {
  return form
    .replace(/DD/, "D")
    .replace(/MM(?!M)/, "M")
    .replace(/hh/, "h");
}
