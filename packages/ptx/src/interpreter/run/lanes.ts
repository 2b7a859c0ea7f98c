// The lanes of a warp as the bits of a mask.

export const firstLane = (mask: number): number => 31 - Math.clz32(mask & -mask);

export function forEachLane(mask: number, visit: (lane: number) => void): void {
  for (let rest = mask; rest !== 0; rest &= rest - 1) visit(firstLane(rest));
}
