import {
  specFault,
  wordsOf,
  type Environment,
  type EnvironmentSpec,
  type Observation,
  type StepResult,
} from '@retrace/environments';
import { deriveSeed, Pcg32 } from '@retrace/random';
import { isDeepStrictEqual } from 'node:util';
import type { Split } from '@retrace/trajectory';

/** One rule of the contract of environments, and whether an environment keeps it. */
export interface CheckedRule {
  readonly rule: string;
  /** Reason why it is broken; null where it is kept. */
  readonly fault: string | null;
}

interface Played {
  readonly first: Observation;
  readonly actions: readonly string[];
  readonly results: readonly StepResult[];
  /** Whether the environment or the limit of steps ended it. */
  readonly isOver: boolean;
}

const SPLITS: readonly Split[] = ['train', 'validation', 'test'];
const SEED = 3;

/**
 * Checks the rules of the contract, one after the other, with `numEpisodes` short episodes of its agent `random`. Unlike the contract of built-in
 * environments, it asks nothing about the reward of an invalid action.
 */
export async function checkEnvironment(
  spec: EnvironmentSpec,
  { numEpisodes = 20 }: { readonly numEpisodes?: number } = {},
): Promise<CheckedRule[]> {
  const check = new EnvironmentCheck(spec, numEpisodes);
  const rules: readonly (readonly [string, () => Promise<void>])[] = [
    ['its description is complete', () => check.description()],
    ['tasks of equal split, index and seed are equal', () => check.sampling()],
    ['splits share no task, where it says so', () => check.splits()],
    ['equal tasks, seeds, members and actions give equal episodes', () => check.determinism()],
    ['the members of a group start in the same state', () => check.members()],
    ['episodes end within maxSteps', () => check.length()],
    ['success is known only at the end', () => check.success()],
    ['an episode is terminated or truncated, never both', () => check.ends()],
    ['each named reward has a value, and a reward is the sum of its parts', () => check.rewards()],
    ['observations have anchors exactly if it offers them', () => check.anchors()],
    ['words lists every word, where there is a list', () => check.words()],
    ['an action that is none is invalid and does not throw', () => check.invalidAction()],
    ['a step before the first reset throws NOT_RESET', () => check.stepTooEarly()],
    ['a step after the end throws EPISODE_OVER', () => check.stepTooLate()],
    ['a task that is not its own throws INVALID_TASK', () => check.foreignTask()],
  ];
  const checked: CheckedRule[] = [];
  for (const [rule, run] of rules) {
    const fault = await run().then(
      () => null,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    checked.push({ rule, fault });
  }
  return checked;
}

class EnvironmentCheck {
  private played: Promise<readonly Played[]> | null = null;

  constructor(
    private readonly spec: EnvironmentSpec,
    private readonly numEpisodes: number,
  ) {}

  async description(): Promise<void> {
    const fault = specFault(this.spec);
    if (fault !== null) throw new Error(fault);
  }

  async sampling(): Promise<void> {
    for (let index = 0; index < 100; index++) {
      requireEqual(this.task(index), this.task(index), `task ${index}`);
    }
  }

  async splits(): Promise<void> {
    if (!this.spec.splitsAreDisjoint) return;
    const seen = new Map<string, Split>();
    for (const split of SPLITS) {
      for (let index = 0; index < 300; index++) {
        const content = JSON.stringify(this.spec.sampleTask({ split, index, seed: index % 7 }).task);
        const other = seen.get(content) ?? split;
        if (other !== split) throw new Error(`task ${content} is in the splits ${other} and ${split}`);
        seen.set(content, split);
      }
    }
  }

  async determinism(): Promise<void> {
    const numPairs = Math.min(5, this.numEpisodes);
    for (let index = 0; index < numPairs; index++) {
      const first = await this.play(index);
      const again = await this.play(index);
      requireEqual(first.first, again.first, `the first observation of task ${index}`);
      first.results.forEach((result, step) => {
        requireEqual(result, again.results[step], `step ${step} of task ${index} after equal actions`);
      });
    }
  }

  async members(): Promise<void> {
    await this.use(async (environment) => {
      const first = await environment.reset({ ...this.task(0), member: 0 });
      requireEqual(
        first,
        await environment.reset({ ...this.task(0), member: 1 }),
        'the first observation of members 0 and 1',
      );
    });
  }

  async length(): Promise<void> {
    for (const [index, { isOver }] of (await this.all()).entries()) {
      if (!isOver)
        throw new Error(`episode ${index} had not ended after maxSteps (${this.spec.maxSteps}) steps`);
    }
  }

  async success(): Promise<void> {
    await this.eachStep(({ success, terminated, truncated }, where) => {
      if (success !== null && !terminated && !truncated)
        throw new Error(`success is ${success} before the end, ${where}`);
    });
  }

  async ends(): Promise<void> {
    await this.eachStep(({ terminated, truncated }, where) => {
      if (terminated && truncated) throw new Error(`terminated and truncated are both true, ${where}`);
    });
  }

  async rewards(): Promise<void> {
    await this.eachStep(({ reward, rewardNames, rewardValues }, where) => {
      if (rewardNames.length !== rewardValues.length) {
        throw new Error(
          `${rewardNames.length} rewardNames and ${rewardValues.length} rewardValues, ${where}`,
        );
      }
      if (reward === null) return;
      const sum = rewardValues.reduce((total, value) => total + value, 0);
      if (!(Math.abs(sum - reward) <= 1e-9 * Math.max(1, Math.abs(reward)))) {
        throw new Error(`reward is ${reward}, and the sum of its parts ${sum}, ${where}`);
      }
    });
  }

  async anchors(): Promise<void> {
    for (const { first, results } of await this.all()) {
      for (const { anchor } of [first, ...results.slice(0, -1).map(({ observation }) => observation)]) {
        if ((anchor !== null) !== this.spec.offersAnchors) {
          throw new Error(
            `an anchor is ${JSON.stringify(anchor)}, and offersAnchors is ${this.spec.offersAnchors}`,
          );
        }
      }
    }
  }

  async words(): Promise<void> {
    if (this.spec.words === null) return;
    const known = new Set(this.spec.words);
    for (const { first, results } of await this.all()) {
      const texts = [first.text, ...results.map(({ observation }) => observation.text)];
      const unknown = wordsOf(texts).find((word) => !known.has(word));
      if (unknown !== undefined) throw new Error(`the word ${JSON.stringify(unknown)} is not in words`);
    }
  }

  async invalidAction(): Promise<void> {
    await this.use(async (environment) => {
      await environment.reset(this.task(0));
      const { actionValid, parsedAction } = await environment.step('¿no such action?');
      if (this.spec.actionWords === null) return;
      if (actionValid || parsedAction !== null) throw new Error('"¿no such action?" counts as valid');
    });
  }

  async stepTooEarly(): Promise<void> {
    await this.use((environment) => requireCode('NOT_RESET', () => environment.step('anything')));
  }

  async stepTooLate(): Promise<void> {
    await this.use(async (environment) => {
      const { isOver } = await this.playOn(environment, 0);
      if (isOver) await requireCode('EPISODE_OVER', () => environment.step('anything'));
    });
  }

  async foreignTask(): Promise<void> {
    for (const task of [null, 7, 'x', [], {}]) {
      await this.use((environment) =>
        requireCode('INVALID_TASK', () => environment.reset({ task, seed: 1 })),
      );
    }
  }

  private task(index: number) {
    return this.spec.sampleTask({ split: 'train', index, seed: SEED });
  }

  private all(): Promise<readonly Played[]> {
    this.played ??= (async () => {
      const episodes: Played[] = [];
      for (let index = 0; index < this.numEpisodes; index++) episodes.push(await this.play(index));
      return episodes;
    })();
    return this.played;
  }

  private async eachStep(look: (result: StepResult, where: string) => void): Promise<void> {
    for (const [index, { results }] of (await this.all()).entries()) {
      results.forEach((result, step) => {
        look(result, `in step ${step} of episode ${index}`);
      });
    }
  }

  private play(index: number): Promise<Played> {
    return this.use((environment) => this.playOn(environment, index));
  }

  private async playOn(environment: Environment, index: number): Promise<Played> {
    const agent = this.spec.agents.find(({ name }) => name === 'random');
    if (!agent) throw new Error("it has no agent called 'random'");
    const generator = new Pcg32(deriveSeed('check', index));
    const first = await environment.reset({ ...this.task(index), member: index % 3 });
    const actions: string[] = [];
    const results: StepResult[] = [];
    let observation = first;
    while (results.length < this.spec.maxSteps) {
      const action = agent.act(environment, observation, () => generator.nextFloat());
      const result = await environment.step(action);
      actions.push(action);
      results.push(result);
      if (result.terminated || result.truncated) return { first, actions, results, isOver: true };
      observation = result.observation;
    }
    return { first, actions, results, isOver: false };
  }

  private async use<T>(work: (environment: Environment) => Promise<T>): Promise<T> {
    const environment = this.spec.create();
    try {
      return await work(environment);
    } finally {
      await environment.close();
    }
  }
}

function requireEqual(one: unknown, other: unknown, name: string): void {
  if (isDeepStrictEqual(one, other)) return;
  throw new Error(`${name} differs: ${shorten(one)} and ${shorten(other)}`);
}

function shorten(value: unknown): string {
  const text = JSON.stringify(value) ?? 'undefined';
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

/** @throws Error where the call does not fail with the code */
async function requireCode(code: string, call: () => unknown): Promise<void> {
  let thrown: unknown;
  try {
    await call();
  } catch (error) {
    thrown = error;
  }
  if (thrown === undefined) throw new Error('nothing was thrown');
  const { code: other, message } = thrown as { readonly code?: unknown; readonly message?: string };
  if (other !== code)
    throw new Error(`an error with the code ${JSON.stringify(other)} was thrown: ${message}`);
}
