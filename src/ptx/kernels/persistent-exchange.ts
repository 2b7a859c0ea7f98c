// How states travel between the blocks of a persistent grid: through L2, each value saying itself
// whether it has come. Bounded waits. Nothing of a neuron is in here.
import type { Pointer, PtxKernel, Value, Variable } from "../builder/index.js";
import { ceilDiv, range } from "./generated-kernel.js";

type F = Value<"f32">;
type U = Value<"u32">;

/** A state as it stands in memory, and the word of it that carries the mark. */
interface Received {
  readonly value: () => F;
  readonly marked: U;
}

/**
 * A way of writing states down. A reader meets the state of generation g or, at the same place,
 * that of g - 2.
 */
interface Code {
  /** What the states of a generation carry. */
  mark(generation: U): U;
  /**
   * Writes one, if the predicate holds, to its place among those of an even or odd generation.
   */
  send(half: U, value: F, mark: U, where: Value<"pred">): void;
  /** Four neighbouring ones. */
  receive(half: U): (quad: U) => readonly Received[];
  /** Whether one of those whose differences were put together has not come. */
  missing(differences: U): Value<"pred">;
}

/** Bit 30 of a state in [-1, 1] is free, and tells g from g - 2. */
const freeBit = 0x40000000;

/** States in [-1, 1], a word each. */
export class UnitCode implements Code {
  private readonly k: PtxKernel;
  private readonly places: Pointer<"global", "u32">;
  private readonly own: Pointer<"global", "u32">;

  constructor(k: PtxKernel, places: Pointer<"global", "u32">, place: U) {
    this.k = k;
    this.places = places;
    this.own = k.at(places, place);
  }

  mark(generation: U): U {
    const { k } = this;
    return k.select(k.compare("eq", k.and(generation, 2), 0), k.constant("u32", freeBit), 0);
  }

  send(half: U, value: F, mark: U, where: Value<"pred">): void {
    const { k } = this;
    const word = k.or(k.and(k.reinterpret("u32", value), 0xffffffff - freeBit), mark);
    k.store(k.at(this.own, half), word, { order: "relaxed", where });
  }

  receive(half: U): (quad: U) => readonly Received[] {
    const { k } = this;
    const from = k.at(this.places, half);
    return (quad) =>
      k.loadVector(k.at(from, quad, 4), 4, { order: "relaxed" }).map((word) => ({
        value: () => k.reinterpret("f32", k.and(word, 0xffffffff - freeBit)),
        marked: word,
      }));
  }

  missing(differences: U): Value<"pred"> {
    return this.k.compare("ne", this.k.and(differences, freeBit), 0);
  }
}

/** States of any size beside the number of their generation, two words each. */
export class AnyCode implements Code {
  private readonly k: PtxKernel;
  private readonly places: Pointer<"global", "b64">;
  private readonly own: Pointer<"global", "b64">;

  constructor(k: PtxKernel, places: Pointer<"global", "b64">, place: U) {
    this.k = k;
    this.places = places;
    this.own = k.at(places, place);
  }

  /** Memory of zeros holds no generation. */
  mark(generation: U): U {
    return this.k.add(generation, 1);
  }

  send(half: U, value: F, mark: U, where: Value<"pred">): void {
    const { k } = this;
    k.store(k.at(this.own, half), k.join("b64", k.reinterpret("u32", value), mark), { order: "relaxed", where });
  }

  receive(half: U): (quad: U) => readonly Received[] {
    const { k } = this;
    const from = k.at(this.places, half);
    return (quad) => {
      const four = k.at(from, quad, 4);
      const words = [four, four.plus(2)].flatMap((two) => k.loadVector(two, 2, { order: "relaxed" }));
      return words.map((word) => {
        const [low, high] = k.split("u32", word);
        return { value: () => k.reinterpret("f32", low), marked: high };
      });
    };
  }

  missing(differences: U): Value<"pred"> {
    return this.k.compare("ne", differences, 0);
  }
}

/** What a block waits with. */
export interface Waiting {
  readonly code: Code;
  /** Places for states. */
  readonly padded: number;
  readonly threads: number;
  /** Clock ticks. */
  readonly spinLimit: Value<"u64">;
  /** Becomes 1 in a thread that loses its patience. */
  readonly lost: Variable<"u32">;
}

/**
 * Takes the states of a generation from L2 to shared memory as they arrive, four at a time, dealt
 * out over the threads.
 */
export function collect(
  k: PtxKernel,
  { code, padded, threads, spinLimit, lost }: Waiting,
  half: U,
  mark: U,
  to: Pointer<"shared", "f32">,
): void {
  const quads = padded / 4;
  const receive = code.receive(half);
  const patience = new Patience(k, spinLimit);
  const batch = 4;
  for (let first = 0; first < quads; first += batch * threads) {
    const mine = range(Math.min(batch, ceilDiv(quads - first, threads))).map((b) => first + b * threads);
    k.repeatWhile(() => {
      const wrong = k.variable("u32", 0);
      const loaded = mine.map((start) => {
        // Threads beyond the last quad look at it too.
        const quad = start + threads <= quads ? k.add(k.threadIndex(), start) : k.min(k.add(k.threadIndex(), start), quads - 1);
        return { quad, states: receive(quad) };
      });
      for (const { states } of loaded) for (const { marked } of states) k.assign(wrong, k.or(wrong, k.xor(marked, mark)));
      const missing = code.missing(wrong);
      for (const [b, { quad, states }] of loaded.entries()) {
        const own = mine[b]! + threads <= quads ? undefined : k.compare("lt", k.threadIndex(), quads - mine[b]!);
        const arrived = k.not(missing);
        const values = states.map((state) => state.value());
        k.store(k.at(to, quad, 4), values, { where: own ? k.and(arrived, own) : arrived });
      }
      return k.and(missing, k.not(patience.over(missing, lost)));
    });
  }
}

/** A bound on a wait in ticks of the multiprocessor's clock, which is looked at each 64th time. */
class Patience {
  private readonly k: PtxKernel;
  private readonly limit: Value<"u64">;
  private readonly tries: Variable<"u32">;
  private readonly end: Variable<"u64">;

  constructor(k: PtxKernel, limit: Value<"u64">) {
    this.k = k;
    this.limit = limit;
    this.tries = k.variable("u32", 0);
    this.end = k.variable("u64", 0);
  }

  /** Whether the wait is over without what it waited for, which `lost` then holds too. */
  over(waiting: Value<"pred">, lost: Variable<"u32">): Value<"pred"> {
    const { k } = this;
    k.assign(this.tries, k.add(this.tries, 1));
    const looks = k.and(waiting, k.compare("eq", k.and(this.tries, 63), 0));
    k.if(looks, () => {
      const now = k.clock();
      k.if(k.compare("eq", this.end, 0), () => k.assign(this.end, k.add(now, this.limit)));
      k.assign(lost, k.select(k.compare("gt", now, this.end), k.constant("u32", 1), lost));
    });
    return k.compare("ne", lost, 0);
  }
}
