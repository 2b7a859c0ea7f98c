// What a search found: search.json, and what a program gets.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { checkText } from "@spillway/core/checks.js";
import { FileError } from "@spillway/io";
import type { ExperimentInput } from "../description/description.js";
import type { Machine } from "../runs/machine.js";
import type { ExperimentResult } from "../runs/result.js";
import type { SearchObjective } from "./search-objective.js";
import type { PassedOver } from "./search-refit.js";

/** The best setting of a search. */
export interface SearchBest {
  readonly trial: number;
  /** The values of the space, by their paths; of a sweep the value that was best. */
  readonly values: Readonly<Record<string, unknown>>;
}

/** search.json. */
export interface SearchResult {
  readonly format: "spillway-search";
  readonly formatVersion: 1;
  readonly name: string;
  readonly score: string;
  readonly better: "lower" | "higher";
  readonly objective: SearchObjective;
  readonly trials: { readonly complete: number; readonly pruned: number; readonly failed: number };
  readonly best: SearchBest | undefined;
  /** The score of the best trial, by which it was chosen: too good. */
  readonly validation: number | undefined;
  /** Better trials whose setting could not be trained with every fresh seed. */
  readonly passedOver: readonly PassedOver[];
  /** The same setting and rows with seeds that no trial had. */
  readonly freshSeeds: number | undefined;
  /** Trained on all training rows, on the test part, with those seeds. */
  readonly test: number | undefined;
  readonly importance: Readonly<Record<string, number>>;
  /** Whether it was stopped before its budget was used. */
  readonly interrupted: boolean;
  readonly seconds: number;
  readonly machine: Machine;
  readonly versions: Readonly<Record<string, string>>;
}

/** A search that is over. */
export interface FinishedSearch {
  readonly result: SearchResult;
  /** The experiment of the best setting, without a search; undefined if no trial is complete. */
  readonly best: ExperimentInput | undefined;
  /** What the best setting gave on the test part; undefined without a refit. */
  readonly refit: ExperimentResult | undefined;
  readonly folder: string | undefined;
  /** What of the space differs from an earlier command's; undefined if nothing. */
  readonly change: string | undefined;
  /** Trials of another program that the study began with. */
  readonly adopted: number;
}

/** Reads a search.json. @throws FileError, SpillwayError */
export async function readSearchResult(folder: string): Promise<SearchResult> {
  checkText("folder", folder);
  const path = join(folder, "search.json");
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    throw new FileError(path, "no search was finished in this folder", "missing", error);
  }
  return JSON.parse(text) as SearchResult;
}
