import { type Environment, type EnvironmentSpec, getEnvironment } from '@retrace/environments';
import type { Split } from '@retrace/trajectory';
import type { ReplayedEpisode, ReplayedStep, ReplayEnvironment, ReplayStart } from './replay.js';

const SPLITS: readonly Split[] = ['train', 'validation', 'test'];
/** Tasks of each split that are looked through for one with the recorded first observation. */
const MAX_TASKS = 5000;
/** Beginnings with the same first observation that are compared. */
const MAX_CANDIDATES = 4;

interface Beginning {
  readonly task: Parameters<Environment['reset']>[0]['task'];
  readonly seed: number;
  readonly member: number;
}

/**
 * Replays episodes of a built-in environment. Where the dump has task and seed they decide; else the tasks that `retrace collect` draws
 * with `seed` are looked through for the first observation.
 */
export class BuiltInReplay implements ReplayEnvironment {
  private readonly spec: EnvironmentSpec;
  private index: Map<string, Beginning[]> | null = null;

  /** @throws EnvironmentError `UNKNOWN_ENVIRONMENT` */
  constructor(
    readonly name: string,
    private readonly seed: number,
  ) {
    this.spec = getEnvironment(name);
  }

  comparable(observation: string): string {
    return observation.trim();
  }

  begin(start: ReplayStart): Promise<readonly (() => Promise<ReplayedEpisode>)[]> {
    const beginnings =
      start.task === undefined || start.seed === undefined
        ? (this.beginningsByObservation().get(start.observation) ?? [])
        : [{ task: start.task, seed: start.seed, member: start.member }];
    return Promise.resolve(beginnings.map((beginning) => () => this.play(beginning)));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  private async play(beginning: Beginning): Promise<ReplayedEpisode> {
    const environment = this.spec.create();
    const first = await environment.reset(beginning);
    return {
      observation: first.text,
      anchor: first.anchor,
      step: async (action): Promise<ReplayedStep> => {
        const result = await environment.step(action);
        return {
          observation: result.observation.text,
          reward: result.reward,
          rewards: Object.fromEntries(result.rewardNames.map((name, i) => [name, result.rewardValues[i]])),
          terminated: result.terminated,
          truncated: result.truncated,
          parsedAction: result.parsedAction,
          actionValid: result.actionValid,
          anchor: result.observation.anchor,
          success: result.success,
        };
      },
    };
  }

  /** Beginnings by their first observation; several where other chance follows from an equal one. */
  private beginningsByObservation(): Map<string, Beginning[]> {
    if (this.index !== null) return this.index;
    const index = new Map<string, Beginning[]>();
    const environment = this.spec.create();
    for (const split of SPLITS) {
      for (let place = 0; place < MAX_TASKS; place++) {
        const { task, seed } = this.spec.sampleTask({ split, index: place, seed: this.seed });
        const first = environment.reset({ task, seed });
        if (first instanceof Promise) return (this.index = index);
        const known = index.get(first.text);
        if (known === undefined)
          index.set(first.text, [
            { task, seed, member: 0 },
            { task, seed, member: 1 },
          ]);
        else if (known.length < MAX_CANDIDATES) known.push({ task, seed, member: 0 });
      }
    }
    this.index = index;
    return index;
  }
}
