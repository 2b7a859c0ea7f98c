// The bottom room: matrices, portable arithmetic, random streams, linear algebra. It has never heard of a reservoir.
export * from "./matrix.js";
export * from "./portable.js";
export * from "./random.js";
