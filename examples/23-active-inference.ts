// Active inference in a T-maze: one of two arms has a reward, the other a loss, and a cue tells
// which. Looking at the cue costs a step. Beside an agent that plans by expected free energy, one
// that guesses an arm.
import { ActiveInferenceAgent } from "spillway/model";
import { RandomStream, seedKeys } from "spillway/numerics";

// States: position (0 middle, 1 left arm, 2 right arm, 3 cue) x the arm with the reward (0 left, 1
// right).
const [positions, arms] = [4, [0, 1]];
const state = (position: number, arm: number) => 2 * position + arm;
const zeros = (rows: number) => Array.from({ length: rows }, () => new Array<number>(8).fill(0));
// Outcomes: 0 nothing, 1 loss, 2 reward, 3 "left", 4 "right". The cue is right in 95 % of all
// mazes.
const likelihood = zeros(5);
for (const arm of arms) {
  likelihood[0]![state(0, arm)] = 1;
  for (const position of [1, 2]) likelihood[position - 1 === arm ? 2 : 1]![state(position, arm)] = 1;
  for (const told of arms) likelihood[3 + told]![state(3, arm)] = told === arm ? 0.95 : 0.05;
}
// An action goes to a position; whoever is in an arm stays there.
const transitions = Array.from({ length: positions }, (_, to) => {
  const b = zeros(8);
  for (let from = 0; from < positions; from++)
    for (const arm of arms) b[state(from === 1 || from === 2 ? from : to, arm)]![state(from, arm)] = 1;
  return b;
});
const prior = [0.5, 0.5, 0, 0, 0, 0, 0, 0];

const draws = new RandomStream(seedKeys("mazes").weights, 0);
const mazes = 1000;
let [looked, rewards, guessed] = [0, 0, 0];
for (let maze = 0; maze < mazes; maze++) {
  const arm = draws.integer(0, maze, 2);
  guessed += draws.integer(1, maze, 2) === arm ? 1 : 0;
  const agent = new ActiveInferenceAgent({ likelihood, transitions, preferences: [0, -4, 2, 0, 0], prior });
  agent.observe(0);
  for (let step = 0, position = 0; step < 2; step++) {
    const { action } = agent.plan();
    if (position === 0 || position === 3) position = action;
    if (action === 3) looked++;
    agent.move(action);
    const isRight = draws.uniform(2, maze) < 0.95;
    const outcome = position === 0 ? 0 : position === 3 ? 3 + (isRight ? arm : 1 - arm) : position - 1 === arm ? 2 : 1;
    agent.observe(outcome);
    if (outcome === 2 && step === 1) rewards++;
  }
}
console.log(`looked at the cue in ${((100 * looked) / mazes).toFixed(0)} % of ${mazes} mazes`);
console.log(
  `reward: ${((100 * rewards) / mazes).toFixed(1)} % by expected free energy, ${((100 * guessed) / mazes).toFixed(1)} % by a guess`,
);
