/** An environment of one's own, in a file that no library knows: draw cards until the sum is near 21, in free text without a vocabulary. */
import type { EnvironmentSpec, ResetOptions, StepResult } from '@retrace/environments';
import { deriveSeed, EnvironmentError, Pcg32, splitOf } from '@retrace/environments';

interface Options {
  readonly target?: number;
}

const MAX_STEPS = 12;

class TwentyOne {
  private random: Pcg32 | null = null;
  private sum = 0;
  private numSteps = 0;
  private isOver = false;

  constructor(private readonly target: number) {}

  reset({ task, seed, member = 0 }: ResetOptions) {
    const start = (task as { readonly start?: unknown } | null)?.start;
    if (typeof start !== 'number') throw new EnvironmentError('INVALID_TASK', 'task must have a start');
    this.random = new Pcg32(deriveSeed('cards', seed, member));
    this.sum = start;
    this.numSteps = 0;
    this.isOver = false;
    return this.observe();
  }

  step(action: string): StepResult {
    if (this.random === null) throw new EnvironmentError('NOT_RESET', 'reset first');
    if (this.isOver) throw new EnvironmentError('EPISODE_OVER', 'the episode is over');
    this.numSteps += 1;
    const parsedAction = ['draw', 'stop'].find((word) => action.trim() === word) ?? null;
    if (parsedAction === 'draw') this.sum += 1 + this.random.nextBelow(10);
    const terminated = parsedAction === 'stop' || this.sum > this.target;
    const truncated = !terminated && this.numSteps === MAX_STEPS;
    this.isOver = terminated || truncated;
    const reward =
      parsedAction === null ? -0.1 : terminated && this.sum <= this.target ? this.sum / this.target : 0;
    return {
      observation: this.observe(),
      reward,
      rewardNames: ['sum'],
      rewardValues: [reward],
      terminated,
      truncated,
      parsedAction,
      actionValid: parsedAction !== null,
      success: this.isOver ? this.sum <= this.target && this.sum > this.target - 4 : null,
      info: { sum: this.sum },
    };
  }

  close() {
    this.isOver = true;
  }

  private observe() {
    return {
      text: `Your cards sum to ${this.sum}. Draw or stop?`,
      anchor: null,
      legalActions: ['draw', 'stop'],
    };
  }
}

export default ({ target = 21 }: Options): EnvironmentSpec => ({
  name: 'twenty-one',
  description: `Draw cards until their sum is near ${target}, and not above`,
  maxSteps: MAX_STEPS,
  words: null,
  actionWords: null,
  offersAnchors: false,
  splitsAreDisjoint: true,
  create: () => new TwentyOne(target),
  sampleTask({ split, index, seed }) {
    for (let draw = 0; ; draw++) {
      const taskSeed = deriveSeed('twenty-one', seed, split, index, draw);
      const start = 1 + (taskSeed % 1000) / 100;
      if (splitOf(`${start}`) === split) return { task: { start }, seed: taskSeed };
    }
  },
  agents: [
    { name: 'random', act: (_, __, random) => (random() < 0.5 ? 'draw' : 'stop') },
    { name: 'careful', act: (_, { text }) => (Number(/\d+(\.\d+)?/.exec(text)?.[0]) < 14 ? 'draw' : 'stop') },
  ],
});
