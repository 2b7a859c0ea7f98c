/** What a call throws, or rejects with. */
export async function errorOf(call: () => unknown): Promise<unknown> {
  try {
    await call();
  } catch (error) {
    return error;
  }
  return "nothing was thrown";
}
