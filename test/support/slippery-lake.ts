/** A lake whose transition probabilities are written down here, so that the values of its states can be computed exactly. */
import { writeFileSync } from 'node:fs';
import type { EnvironmentSpec, ResetOptions, StepResult } from '@retrace/environments';
import { deriveSeed, EnvironmentError, Pcg32 } from '@retrace/environments';

interface Options {
  /** Probability of each of the two sideways directions in place of the intended one. */
  readonly sideways?: number;
  /** Number of episodes after whose end no step is answered any more, as when a process is about to be killed. */
  readonly stallsAfter?: number;
  /** File that is written when that happens. */
  readonly stallFile?: string;
}

export const LAKE = ['S...', '.O.O', '...O', 'O..G'].join('');
export const LAKE_SIDE = 4;
export const LAKE_MOVES = ['left', 'down', 'right', 'up'] as const;
export const LAKE_MAX_STEPS = 12;

/** The cell that a move leads to; edges stop it. */
export function lakeNeighbour(cell: number, move: number): number {
  const [row, column] = [Math.floor(cell / LAKE_SIDE), cell % LAKE_SIDE];
  const [down, right] = [
    [0, -1],
    [1, 0],
    [0, 1],
    [-1, 0],
  ][move];
  const inside = (place: number) => Math.min(LAKE_SIDE - 1, Math.max(0, place));
  return inside(row + down) * LAKE_SIDE + inside(column + right);
}

/** Of all instances in this process. */
let numEnded = 0;

class SlipperyLake {
  private random = new Pcg32(0);
  private cell = 0;
  private numSteps = 0;
  private isOver = true;

  constructor(
    private readonly sideways: number,
    private readonly stallsAfter: number,
    private readonly stallFile: string,
  ) {}

  reset({ seed, member = 0 }: ResetOptions) {
    this.random = new Pcg32(deriveSeed('ice', seed, member));
    this.cell = 0;
    this.numSteps = 0;
    this.isOver = false;
    return this.observe();
  }

  reseed(seed: number) {
    this.random = new Pcg32(deriveSeed('ice', seed));
  }

  step(action: string): StepResult | Promise<StepResult> {
    if (this.isOver) throw new EnvironmentError('EPISODE_OVER', 'reset first');
    if (numEnded >= this.stallsAfter) {
      writeFileSync(this.stallFile, '');
      return new Promise<StepResult>(() => undefined);
    }
    this.numSteps += 1;
    const move = LAKE_MOVES.findIndex((word) => word === action.trim());
    const draw = this.random.nextFloat();
    const turn = draw < this.sideways ? 1 : draw < 2 * this.sideways ? 3 : 0;
    if (move >= 0) this.cell = lakeNeighbour(this.cell, (move + turn) % 4);
    const isAtGoal = LAKE[this.cell] === 'G';
    const terminated = isAtGoal || LAKE[this.cell] === 'O';
    const truncated = !terminated && this.numSteps === LAKE_MAX_STEPS;
    this.isOver = terminated || truncated;
    numEnded += Number(this.isOver);
    const reward = Number(isAtGoal);
    return {
      ...{ observation: this.observe(), reward, rewardNames: ['goal'], rewardValues: [reward] },
      ...{ terminated, truncated, parsedAction: move < 0 ? null : action.trim(), actionValid: move >= 0 },
      success: this.isOver ? isAtGoal : null,
      info: null,
    };
  }

  close() {
    this.isOver = true;
  }

  private observe() {
    return { text: `cell ${this.cell}`, anchor: `${this.cell}`, legalActions: LAKE_MOVES };
  }
}

export default ({
  sideways = 0,
  stallsAfter = Infinity,
  stallFile = 'stalled',
}: Options): EnvironmentSpec => ({
  name: 'slippery-lake',
  description: 'Walk over a lake from the first cell to the last',
  maxSteps: LAKE_MAX_STEPS,
  words: null,
  actionWords: null,
  offersAnchors: true,
  splitsAreDisjoint: false,
  create: () => new SlipperyLake(sideways, stallsAfter, stallFile),
  sampleTask: ({ split, index, seed }) => ({
    task: { lake: 1 },
    seed: deriveSeed('lake', seed, split, index),
  }),
  agents: [
    { name: 'random', act: (_, __, random) => LAKE_MOVES[Math.floor(random() * 4)] },
    { name: 'southeast', act: (_, __, random) => (random() < 0.5 ? 'down' : 'right') },
  ],
});
