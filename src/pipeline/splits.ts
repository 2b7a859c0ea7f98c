// Which cases train and which test: folds of many kinds, as lists of indices. Nothing here looks at
// the cases themselves.

import { checkWhole } from "@spillway/core/checks.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { getOrMake } from "@spillway/core/maps.js";
import { seed as anySeed, checkedLater, type InputOf, number, option, optional, resolve, whole } from "@spillway/core/options.js";
import { isList, RandomStream, type Seed, seedKeys } from "@spillway/numerics";

/** Indices of cases, rising. */
export interface Split {
  readonly train: readonly number[];
  readonly test: readonly number[];
}

const seedOption = option(anySeed, "spillway", "Decides which cases fall together.");

export const foldTable = {
  /** How many folds; default 5. */
  folds: option(whole({ atLeast: 2, atMost: 10_000 }), 5, "How many folds."),
  /** Decides which cases fall together; default "spillway". */
  seed: seedOption,
};

/** How many folds, and the seed that distributes cases over them. */
export interface FoldOptions extends InputOf<typeof foldTable> {}

/** Philox stream of the splits. */
const stream = 96;

/**
 * Folds of nearly the same number of cases, drawn at random. @throws ArgumentError for fewer cases
 * than folds
 */
export function kFold(cases: number, options: FoldOptions = {}): Split[] {
  const { folds, seed } = resolve(foldTable, options);
  checkWhole("cases", cases, 1);
  checkFolds(folds, cases, "cases");
  const order = shuffled(cases, seed, 0);
  const foldOf = new Array<number>(cases);
  order.forEach((index, k) => {
    foldOf[index] = k % folds;
  });
  return splitsOf(foldOf, folds);
}

/**
 * Folds that each have every class's share of cases, as nearly as whole numbers allow.
 * @throws ArgumentError if a class has fewer cases than there are folds
 */
export function stratifiedKFold(labels: ArrayLike<string | number>, options: FoldOptions = {}): Split[] {
  const { folds, seed } = resolve(foldTable, options);
  checkFolds(folds, checkedList("labels", labels).length, "cases");
  const foldOf = new Array<number>(labels.length);
  let next = 0;
  [...casesBy(labels)].forEach(([label, cases], k) => {
    if (cases.length < folds) {
      throw ArgumentError.shape(
        `class ${JSON.stringify(label)} has ${cases.length} cases; ${folds} stratified folds take at least ${folds} of each`,
      );
    }
    for (const index of shuffled(cases.length, seed, k)) foldOf[cases[index]!] = next++ % folds;
  });
  return splitsOf(foldOf, folds);
}

/**
 * Folds that never part a group (a speaker, a subject, a day): the largest groups go first, each
 * into the fold with the fewest cases.
 * @throws ArgumentError if there are fewer groups than folds
 */
export function groupKFold(groups: ArrayLike<string | number>, options: FoldOptions = {}): Split[] {
  const { folds, seed } = resolve(foldTable, options);
  const all = [...casesBy(checkedList("groups", groups))];
  checkFolds(folds, all.length, "groups");
  const order = shuffled(all.length, seed, 0).map((k) => all[k]!);
  order.sort(([, a], [, b]) => b.length - a.length);
  const sizes = new Array<number>(folds).fill(0);
  const foldOf = new Array<number>(groups.length);
  for (const [, cases] of order) {
    const fold = sizes.indexOf(Math.min(...sizes));
    sizes[fold] = sizes[fold]! + cases.length;
    for (const index of cases) foldOf[index] = fold;
  }
  return splitsOf(foldOf, folds);
}

/**
 * One fold a group: each group is tested by what was trained on all others. @throws ArgumentError
 * for a single group
 */
export function leaveOneGroupOut(groups: ArrayLike<string | number>): Split[] {
  const all = [...casesBy(checkedList("groups", groups)).values()];
  if (all.length < 2)
    throw ArgumentError.because(`groups names ${all.length} group; leaving one out takes at least two`, { field: "groups" });
  const foldOf = new Array<number>(groups.length);
  all.forEach((cases, fold) => {
    for (const index of cases) foldOf[index] = fold;
  });
  return splitsOf(foldOf, all.length);
}

const eachCase = (description: string) => optional(checkedLater<ArrayLike<string | number>>("a list with one a case"), description);

export const splitTable = {
  /** The share of the cases to test; default 0.25. */
  test: option(number({ above: 0, below: 1, takes: "a share above 0 and below 1" }), 0.25, "The share of the cases to test."),
  /** Decides which cases fall together; default "spillway". */
  seed: seedOption,
  /** The class of each case, to test a share of every class. */
  labels: eachCase("The class of each case, to test a share of every class."),
  /** The group of each case, to keep groups whole. */
  groups: eachCase("The group of each case, to keep groups whole."),
};

/** How cases are parted in two. */
export interface SplitOptions extends InputOf<typeof splitTable> {}

/**
 * One split with a share of the cases to test, of every class if `labels` are given and of whole
 * groups if `groups` are.
 * @throws ArgumentError for a share that leaves nothing to train or to test
 */
export function trainTestSplit(cases: number, options: SplitOptions = {}): Split {
  const { test, seed, labels, groups } = resolve(splitTable, options);
  checkWhole("cases", cases, 2);
  if (labels && groups)
    throw ArgumentError.because("labels and groups are both given; a split keeps either the shares of classes or groups whole");
  for (const [name, list] of Object.entries({ labels, groups })) {
    if (list && checkedList(name, list).length !== cases)
      throw ArgumentError.shape(`${name} holds ${list.length} and there are ${cases} cases; they take the same number`, { field: name });
  }
  const isTest = new Array<boolean>(cases).fill(false);
  const take = (cases: readonly number[], order: readonly number[], count: number) => {
    for (const index of order.slice(0, count)) isTest[cases[index]!] = true;
  };
  if (groups) {
    const all = [...casesBy(groups).values()];
    let taken = 0;
    for (const k of shuffled(all.length, seed, 0)) {
      if (taken >= test * cases) break;
      taken += all[k]!.length;
      for (const index of all[k]!) isTest[index] = true;
    }
  } else if (labels) {
    [...casesBy(labels).values()].forEach((cases, k) => {
      take(cases, shuffled(cases.length, seed, k), Math.round(test * cases.length));
    });
  } else {
    take(
      Array.from({ length: cases }, (_, i) => i),
      shuffled(cases, seed, 0),
      Math.round(test * cases),
    );
  }
  const [split] = splitsOf(
    isTest.map((chosen) => (chosen ? 0 : 1)),
    1,
  );
  if (split!.test.length === 0 || split!.train.length === 0) {
    throw ArgumentError.because(
      `a test share of ${test} leaves ${split!.train.length} of ${cases} cases to train and ${split!.test.length} to test; both take at least one`,
    );
  }
  return split!;
}

function checkFolds(folds: number, count: number, what: string): void {
  if (count < folds)
    throw ArgumentError.because(`folds is ${folds} and there are ${count} ${what}; it takes at most as many`, { field: "folds" });
}

/** @throws ArgumentError for labels that are no list, or one that is neither a text nor a number */
function checkedList(name: string, list: ArrayLike<string | number>): ArrayLike<string | number> {
  if (!isList(list)) throw new ArgumentError(name, list, "a list of texts or numbers, one a case");
  for (let i = 0; i < list.length; i++) {
    const one = list[i];
    if (typeof one !== "string" && !(typeof one === "number" && Number.isFinite(one)))
      throw new ArgumentError(`${name}[${i}]`, one, "a text or a finite number");
  }
  return list;
}

/** The cases of each label, in the order in which labels first occur. */
function casesBy(labels: ArrayLike<string | number>): Map<string | number, number[]> {
  const cases = new Map<string | number, number[]>();
  for (let i = 0; i < labels.length; i++) getOrMake(cases, labels[i]!, () => []).push(i);
  return cases;
}

function splitsOf(foldOf: readonly number[], folds: number): Split[] {
  return Array.from({ length: folds }, (_, fold) => ({
    train: foldOf.flatMap((other, index) => (other === fold ? [] : [index])),
    test: foldOf.flatMap((other, index) => (other === fold ? [index] : [])),
  }));
}

/** 0 to count - 1 in an order that the seed decides (Fisher and Yates; Durstenfeld 1964). */
function shuffled(count: number, seed: Seed, series: number): number[] {
  const draws = new RandomStream(seedKeys(seed).weights, stream);
  const order = Array.from({ length: count }, (_, i) => i);
  for (let i = count - 1; i > 0; i--) {
    const j = Math.floor(draws.uniform(series, i) * (i + 1));
    [order[i], order[j]] = [order[j]!, order[i]!];
  }
  return order;
}
