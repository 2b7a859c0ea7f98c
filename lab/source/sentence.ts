/** The sentence of an error, for page and workers. */
export function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
