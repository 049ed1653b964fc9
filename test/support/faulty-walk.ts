/**
 * A walk whose faults are options, for the tests of monitors: `go` earns 1 and goes on, `stop` ends the walk. Nothing that is observed changes, so an agent that
 * learns to go repeats its steps, and its episodes grow long.
 */
import type { EnvironmentSpec, ResetOptions, StepResult } from '@retrace/environments';
import { deriveSeed } from '@retrace/environments';

interface Options {
  readonly maxSteps?: number;
  /** Every second task throws at its first step. */
  readonly failsOnOddTasks?: boolean;
  /** No episode counts as a success. */
  readonly isUnsolvable?: boolean;
  /** Tasks from this number on pay a thousand times as much. */
  readonly jumpsAt?: number;
}

class FaultyWalk {
  private numSteps = 0;
  private task = 0;

  constructor(private readonly options: Required<Options>) {}

  reset({ task }: ResetOptions) {
    this.task = (task as { readonly number: number }).number;
    this.numSteps = 0;
    return { text: 'walk', anchor: null, legalActions: ['go', 'stop'] };
  }

  step(action: string): StepResult {
    const { maxSteps, failsOnOddTasks, isUnsolvable, jumpsAt } = this.options;
    if (failsOnOddTasks && this.task % 2 === 1) throw new Error('the ground gives way');
    this.numSteps += 1;
    const parsedAction = ['go', 'stop'].find((word) => word === action.trim()) ?? null;
    const terminated = parsedAction !== 'go' || this.numSteps === maxSteps;
    const reward = (parsedAction === 'go' ? 1 : 0) * (this.task >= jumpsAt ? 1000 : 1);
    return {
      observation: { text: 'walk', anchor: null, legalActions: ['go', 'stop'] },
      ...{ reward, rewardNames: [], rewardValues: [], terminated, truncated: false, parsedAction },
      actionValid: parsedAction !== null,
      success: terminated ? !isUnsolvable && this.numSteps === maxSteps : null,
      info: {},
    };
  }

  close() {
    this.numSteps = 0;
  }
}

export default (options: Options): EnvironmentSpec => {
  const whole = { maxSteps: 20, failsOnOddTasks: false, isUnsolvable: false, jumpsAt: Infinity, ...options };
  return {
    name: 'faulty-walk',
    description: 'A walk with the faults that its options name',
    maxSteps: whole.maxSteps,
    words: ['walk', 'go', 'stop'],
    actionWords: ['go', 'stop'],
    offersAnchors: false,
    splitsAreDisjoint: false,
    create: () => new FaultyWalk(whole),
    sampleTask: ({ split, index, seed }) => ({
      task: { number: index },
      seed: deriveSeed('faulty-walk', seed, split, index),
    }),
    agents: [{ name: 'random', act: (_, __, random) => (random() < 0.5 ? 'go' : 'stop') }],
  };
};
