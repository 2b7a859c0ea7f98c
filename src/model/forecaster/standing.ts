// Models that stand somewhere in their series, and how work leaves them where they stood.

/** A model with a state that may be set again. */
export interface Standing {
  state: unknown;
}

/** Puts the state back when the work is done, or fails. */
export async function puttingBack<T>(model: Standing, work: () => T | Promise<T>): Promise<T> {
  const { state } = model;
  try {
    return await work();
  } finally {
    model.state = state;
  }
}

/** Puts the state back only if the work fails: no member is ahead of the others. */
export async function orBack<T>(model: Standing, work: () => T | Promise<T>): Promise<T> {
  const { state } = model;
  try {
    return await work();
  } catch (error) {
    model.state = state;
    throw error;
  }
}
