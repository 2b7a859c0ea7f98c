// What runs on an engine's session: one call at a time, counted and timed.
import { busyError } from "@spillway/core/errors.js";
import type { EnginePlan } from "./engine/calls.js";
import type { EngineChoice } from "./engines.js";
import type { EngineProfile, Profile } from "./profile.js";

/** What sessions of reservoirs and of ensembles have in common. */
interface AnySession {
  readonly plan: EnginePlan;
  profile?(): EngineProfile | undefined;
}

/** A session has one state: a call is refused while another one is running. */
export class OneCall<Session extends AnySession> {
  /** The engine, why it was chosen, and how it runs the session. */
  readonly engine: { readonly name: string; readonly reason: string; readonly plan: EnginePlan };
  readonly #session: Session;
  readonly #called: string | undefined;
  #busy = false;
  #calls = 0;
  #milliseconds = 0;

  /** @param called what errors call it; default "this reservoir" */
  constructor(session: Session, { engine, reason }: EngineChoice, called?: string) {
    this.engine = { name: engine.name, reason, plan: session.plan };
    this.#session = session;
    this.#called = called;
  }

  /** What was measured so far; undefined if nothing is. */
  get profile(): Profile | undefined {
    const measured = this.#session.profile?.();
    if (!measured) return undefined;
    const { name, plan } = this.engine;
    return { engine: name, plan, calls: this.#calls, milliseconds: this.#milliseconds, ...measured };
  }

  /** Whether a call is running. */
  get busy(): boolean {
    return this.#busy;
  }

  /** The session, for what is done at once. @throws SpillwayError while a call is running */
  get free(): Session {
    if (this.#busy) throw busyError(this.#called);
    return this.#session;
  }

  /** Does work at once, as a call. */
  atOnce<T>(work: (session: Session) => T): T {
    const session = this.free;
    const begun = performance.now();
    const result = work(session);
    this.#count(begun);
    return result;
  }

  /** Does work that takes time, as a call. @throws SpillwayError while another one is running */
  async alone<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const session = this.free;
    this.#busy = true;
    const begun = performance.now();
    try {
      return await work(session);
    } finally {
      this.#busy = false;
      this.#count(begun);
    }
  }

  #count(begun: number): void {
    this.#calls++;
    this.#milliseconds += performance.now() - begun;
  }
}
