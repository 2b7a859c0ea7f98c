// Colours that stay apart for colour-blind readers, on light paper and on dark: M. Okabe and K. Ito
// 2008, "Color universal design".

/** One colour a series, in the order they are handed out. */
const seriesColours = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"] as const;

/** Between blue and sky blue: 3 : 1 or more against white and against the dark page. */
export const targetColour = "#3A93C8";
export const predictionColour = seriesColours[1];
export const baselineColour = "#8A8A8A";

/** Negative blue, nothing white, positive vermilion: differs in lightness as well as in hue. */
export const divergingScale = [
  [0, "#00436B"],
  [0.25, "#4A9CCB"],
  [0.5, "#F4F4F4"],
  [0.75, "#E88B4A"],
  [1, "#8A3A00"],
] as const;

/** From nothing to much, in one hue. */
export const sequentialScale = [
  [0, "#F4F8FB"],
  [0.5, "#56A5D8"],
  [1, "#00436B"],
] as const;

/**
 * Black or white, whichever reads better on a colour: at least 4.5 : 1 (WCAG 2.2, "relative
 * luminance").
 */
export function inkOn([red, green, blue]: readonly [number, number, number]): "#000000" | "#FFFFFF" {
  const linear = (channel: number) => (channel <= 10.31 ? channel / 255 / 12.92 : ((channel / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
  return (luminance + 0.05) ** 2 > 1.05 * 0.05 ? "#000000" : "#FFFFFF";
}

/** The colour of the k-th line beside a prediction; undefined if there are no more. */
export function otherColour(k: number): string | undefined {
  return seriesColours.filter((colour) => colour !== predictionColour)[k];
}

/** The colour of the k-th series. */
export function seriesColour(k: number): string {
  return seriesColours[k % seriesColours.length]!;
}
