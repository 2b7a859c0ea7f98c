// One training for many readouts: the rows are summed up once, and each trainer of a path of lambdas solves
// from the same sums.
import { isNumeric, orError, SpillwayError } from "@spillway/core/errors.js";
import { Matrix } from "@spillway/numerics";
import type { ReadoutVariants } from "../../model/forecaster/model.js";
import { type ReadoutShape, RidgeTrainer, TrainedReadout, type Trainer, type TrainingStream } from "../../readout/index.js";

/**
 * Ridge trainers that differ in lambda alone, as one trainer. The readout that it gives takes the
 * weights of one after the other, which have the bits that each trainer would give by itself.
 */
export class LambdaPathTrainer implements Trainer {
  readonly features: Trainer["features"];
  readonly #trainers: readonly RidgeTrainer[];
  #solved: readonly (TrainedReadout | SpillwayError)[] = [];
  #live: TrainedReadout | undefined;

  private constructor(trainers: readonly RidgeTrainer[]) {
    this.#trainers = trainers;
    this.features = trainers[0]!.features;
  }

  /** @returns undefined if they do not take rows that stream by */
  static of(trainers: readonly Trainer[]): LambdaPathTrainer | undefined {
    const streams = ({ description }: RidgeTrainer) =>
      description.lambdas === undefined && (description.solver === undefined || description.solver === "cholesky");
    return trainers.every((trainer) => trainer instanceof RidgeTrainer && streams(trainer))
      ? new LambdaPathTrainer(trainers as readonly RidgeTrainer[])
      : undefined;
  }

  stream(shape: ReadoutShape): TrainingStream {
    const [first] = this.#trainers;
    const sums = first!.accumulator(shape);
    const solve = () => {
      this.#solved = this.#trainers.map((trainer) => orError(() => trainer.solve(sums), isNumeric));
      const any = this.#solved.find((found): found is TrainedReadout => found instanceof TrainedReadout);
      if (!any) throw this.#solved[0]!;
      const { features, stateSize, inputSize, weights, intercept } = any;
      this.#live = new TrainedReadout(
        {
          features,
          stateSize,
          inputSize,
          weights: new Matrix(weights.rows, weights.cols, weights.data.slice()),
          intercept: intercept.slice(),
        },
        any.training,
      );
      return this.#live;
    };
    return { sink: sums, solve, dispose: () => sums.dispose() };
  }

  fit(): never {
    throw new SpillwayError("lifecycle", "a path of lambdas needs rows that stream by");
  }

  /** Those that could be solved, as readouts of one pass of a reservoir. */
  get readouts(): ReadoutVariants {
    const solved = this.#solved.filter((found) => found instanceof TrainedReadout);
    return { count: solved.length, use: (k) => this.#take(solved[k]!) };
  }

  /** What each of `readouts` gave, by trainer; undefined for one that could not be solved. */
  byTrainer<Result>(found: readonly Result[]): (Result | undefined)[] {
    let at = 0;
    return this.#solved.map((each) => (each instanceof TrainedReadout ? found[at++]! : undefined));
  }

  #take({ weights, intercept }: TrainedReadout): void {
    this.#live!.weights.data.set(weights.data);
    this.#live!.intercept.set(intercept);
  }
}
