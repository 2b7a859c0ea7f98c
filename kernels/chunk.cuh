// Where the steps of a chunk read and write: what changes between launches of one graph.
#pragma once

/** In device memory: a graph of steps needs no change. */
struct Chunk {
  /** Addresses of steps x N matrices; 0 if there is none. */
  unsigned long long drive, feedback, states;
  /** Row of the matrices that step 0 of the graph stands at, and its noise counter. */
  unsigned row, step, sequence, unused;
};
