// What launches of a machine worked in and the next ones work in again: making it anew, and
// collecting what is left, took a tenth of a simulated launch.
import { Accesses } from "./accesses.js";
import { Page } from "./global-races.js";

/** Pages, and words of accesses, that are kept: 48 MiB and 24 MiB. */
const mostPages = 1024;
const mostWords = 2 ** 20;

export class Spares {
  private readonly pages: Page[] = [];
  private accesses: Accesses | undefined;

  page(): Page {
    const spare = this.pages.pop();
    spare?.clear();
    return spare ?? new Page();
  }

  givePage(page: Page): void {
    if (this.pages.length < mostPages) this.pages.push(page);
  }

  /** Accesses to at least so many words. They may be old ones: who enters a word forgets them. */
  accessesOf(words: number): Accesses {
    const spare = this.accesses;
    if (spare === undefined || spare.words < words) return new Accesses(words);
    this.accesses = undefined;
    return spare;
  }

  giveAccesses(accesses: Accesses): void {
    if (accesses.words <= mostWords && accesses.words >= (this.accesses?.words ?? 0)) this.accesses = accesses;
  }
}
