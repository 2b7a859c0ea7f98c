// Which process holds a lock. Optuna's lock is a link to the journal and cannot hold a note, so
// the owner is in how its target is spelled: "./" and "/" between folder and name are the bits of a
// number and change nothing about where the link leads.
import { createHash } from "node:crypto";
import { basename, dirname } from "node:path";
import { isGone, ownMark, type ProcessMark } from "../process-mark.js";

const own = ownMark();
const hostDigits = 8;
const pidDigits = 8;
const hashOf = (host: string): string => createHash("sha256").update(host).digest("hex").slice(0, hostDigits);

/** This process in hexadecimal digits; undefined if the system does not name processes. */
export const ownerNote: string | undefined = own && noteOf(own);

function noteOf({ host, pid, started }: ProcessMark): string {
  return hashOf(host) + pid.toString(16).padStart(pidDigits, "0") + started.toString(16);
}

/** The longest path that a link leads to on every system. */
const longestTarget = 1000;

/** The path of a journal, spelled so that it also says who made the link. */
export function linkTarget(journal: string): string {
  if (ownerNote === undefined) return journal;
  const bits = [...BigInt(`0x1${ownerNote}`).toString(2)].map((bit) => (bit === "1" ? "./" : "/"));
  const target = `${dirname(journal)}/${bits.join("")}${basename(journal)}`;
  return target.length <= longestTarget ? target : journal;
}

/** The note in the target of a link; undefined if there is none. */
export function noteOfTarget(target: string): string | undefined {
  const [, spelled] = /\/((?:\.?\/)+)[^/]*$/.exec(target) ?? [];
  if (spelled === undefined) return undefined;
  const bits = spelled.replaceAll("./", "1").replaceAll("/", "0");
  return BigInt(`0b${bits}`).toString(16).slice(1);
}

/** Whether a note is of a process of this machine that has ended. */
export function isOwnerGone(note: string | undefined): boolean {
  if (own === undefined || note === undefined || !/^[0-9a-f]{17,40}$/.test(note) || !note.startsWith(hashOf(own.host))) return false;
  const pid = Number.parseInt(note.slice(hostDigits, hostDigits + pidDigits), 16);
  return isGone({ host: own.host, pid, started: Number.parseInt(note.slice(hostDigits + pidDigits), 16) }, own);
}
