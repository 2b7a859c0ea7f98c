// A series without its tie to another: what tests of influence compare with.
import type { RandomStream } from "@spillway/numerics";

/** Pieces that a ring is cut into. */
const pieces = 4;

/**
 * The series closed to a ring, cut at four random points, its pieces in random order. None is
 * within a twentieth of the series of where it was: some of its influence would be left there.
 * `draw` numbers the surrogate.
 */
export function cutAndTurned(values: Uint32Array, draws: RandomStream, draw: number): Uint32Array {
  const n = values.length;
  const least = Math.max(1, Math.floor(n / 20));
  for (let index = 0; ; index += 2 * pieces + 1) {
    const cuts = Array.from({ length: pieces }, (_, p) => draws.integer(draw, index + p, n)).sort((a, b) => a - b);
    const turned = cuts.map((from, p) => ({
      from,
      length: p + 1 < pieces ? cuts[p + 1]! - from : cuts[0]! + n - from,
      rank: draws.uniform(draw, index + pieces + p),
      to: 0,
    }));
    turned.sort((a, b) => a.rank - b.rank);
    let to = draws.integer(draw, index + 2 * pieces, n);
    for (const piece of turned) {
      piece.to = to;
      to = (to + piece.length) % n;
    }
    const moved = turned.every((piece) => {
      const turn = (piece.to - piece.from + n) % n;
      return piece.length === 0 || Math.min(turn, n - turn) >= least;
    });
    if (!moved) continue;
    const out = new Uint32Array(n);
    for (const { from, length, to: at } of turned) for (let i = 0; i < length; i++) out[(at + i) % n] = values[(from + i) % n]!;
    return out;
  }
}
