/** See file-faults.mjs. */
export function stopAt(
  folder: string,
  n: number,
  stop: () => Promise<never>,
): Promise<{ readonly restore: () => Promise<void>; readonly calls: readonly string[] }>;
