// Stream numbers of what is drawn for a spiking reservoir; rate reservoirs take 0 to 4, tasks 32
// and up, analyses 64 and up.
export const streams = { synapses: 8, inputs: 9, grid: 10, initialPotential: 11 } as const;

/** Purposes within a stream: sizes, positions, whether a position is kept, delays, signs. */
export const purposes = { values: 0, positions: 1, acceptance: 2, delays: 3, signs: 4 } as const;
