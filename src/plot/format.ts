// Numbers and HTML as text.

/** A number with three significant digits, in a form people read: 0.199, 12.3, 4.12e-5, 1,234. */
export function formatNumber(value: number): string {
  if (Number.isNaN(value)) return "not a number";
  if (!Number.isFinite(value)) return value > 0 ? "infinite" : "-infinite";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size < 1e-3 || size >= 1e7) return Number(value.toPrecision(3)).toExponential().replace("e+", "e");
  if (size >= 1000) return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ",");
  return String(Number(value.toPrecision(3)));
}

/** A share of 1 in percent: 90 %, 97.5 %. */
export function formatShare(share: number): string {
  return `${Number((100 * share).toFixed(1))} %`;
}

/** Text for the inside of an element or a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

/** JSON for the inside of a script element: no "<" is left that could end it. */
export function escapeJson(value: unknown): string {
  return JSON.stringify(value).replace(/</g, "\\u003c");
}
