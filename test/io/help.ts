// What the tests of files share: fixtures, a temporary folder, and the sentence of an error.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

/**
 * Takes an ordinary user's rights until the test ends, if it runs as root. Root may write anywhere:
 * no permission would ever be missing, and a broken writer could replace a device.
 */
export function asOrdinaryUser(): void {
  if (process.geteuid?.() !== 0) return;
  process.seteuid!(65534);
  onTestFinished(() => process.seteuid!(0));
}

/** A file made by another program; see fixtures/make_fixtures.py. */
export function fixture(name: string): Uint8Array {
  return new Uint8Array(readFileSync(fileURLToPath(new URL(`fixtures/${name}`, import.meta.url))));
}

/** A folder that goes when the test ends. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "spillway-io-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The error that a call throws or a promise rejects with. */
export async function failure<Kind extends Error>(call: () => unknown, kind: new (...args: never[]) => Kind): Promise<Kind> {
  try {
    await call();
  } catch (error) {
    if (error instanceof kind) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}
