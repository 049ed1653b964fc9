import type { Json, Split } from '@retrace/trajectory';
import { describe, expect, it } from 'vitest';
import { Pcg32 } from '@retrace/random';
import type { Environment, EnvironmentSpec, ResetOptions, StepResult } from '../environment.js';
import { requireAgent, playEpisode, type Playthrough } from './play.js';

const SPLITS: readonly Split[] = ['train', 'validation', 'test'];
/** A landing tries a fifth of what a release does (`test/README.md`). */
const SHARE = process.env['RETRACE_TESTS'] === undefined ? 0.2 : 1;
const NUM_EPISODES = 500 * SHARE;
const NUM_REPEATED_EPISODES = 50 * SHARE;
const NUM_TASKS_OF_SPLIT = 1000 * SHARE;

/** Contract of every environment; run it in the spec of each one. */
export function describeEnvironmentContract(spec: EnvironmentSpec): void {
  describe(`${spec.name} keeps the contract of an environment`, () => {
    it('gives equal episodes for equal tasks, seeds, members and actions, also on a reused instance', async () => {
      const used = spec.create();
      for (let index = 0; index < NUM_REPEATED_EPISODES; index++) {
        const sampled = spec.sampleTask({ split: 'train', index, seed: 3 });
        const again = spec.sampleTask({ split: 'train', index, seed: 3 });
        expect(again).toEqual(sampled);
        const member = index % 4;
        const play = (environment = spec.create()): Promise<Playthrough> =>
          playRandom(spec, { environment, ...sampled, member, agentSeed: index });
        expect(await play(used)).toEqual(await play());
      }
    });

    it('starts the members of a group in the same state', () => {
      const environment = spec.create();
      const sampled = spec.sampleTask({ split: 'train', index: 0, seed: 3 });
      const first = environment.reset({ ...sampled, member: 0 });
      expect(environment.reset({ ...sampled, member: 1 })).toEqual(first);
    });

    it('refuses a step before the first reset, after the end and after close', async () => {
      const environment = spec.create();
      const act = (): unknown => environment.step('anything');
      expect(act).toThrowError(expect.objectContaining({ code: 'NOT_RESET' }) as Error);
      const sampled = spec.sampleTask({ split: 'train', index: 0, seed: 3 });
      await playRandom(spec, { environment, ...sampled, member: 0, agentSeed: 1 });
      expect(act).toThrowError(expect.objectContaining({ code: 'EPISODE_OVER' }) as Error);
      await environment.reset(sampled);
      await environment.close();
      expect(act).toThrowError(expect.objectContaining({ code: 'EPISODE_OVER' }) as Error);
    });

    it('refuses a task that is not one of its own', () => {
      for (const task of [null, 7, 'x', [], {}]) {
        const reset = (): unknown => spec.create().reset({ task, seed: 1 });
        expect(reset).toThrowError(expect.objectContaining({ code: 'INVALID_TASK' }) as Error);
      }
    });

    it('counts an action it cannot understand as invalid and takes the turn for it', async () => {
      const environment = spec.create();
      await environment.reset(spec.sampleTask({ split: 'train', index: 0, seed: 3 }));
      const result = await environment.step('no such action');
      expect(result).toMatchObject({ parsedAction: null, actionValid: false, reward: -0.1 });
    });

    it(`says only words it lists, ends in time and tells success at the end, in ${NUM_EPISODES} episodes`, async () => {
      const words = spec.words === null ? null : new Set(spec.words);
      const environment = spec.create();
      for (const agent of spec.agents) {
        for (let index = 0; index < NUM_EPISODES / spec.agents.length; index++) {
          const sampled = spec.sampleTask({ split: SPLITS[index % 3], index, seed: 11 });
          const random = new Pcg32(index);
          const episode = await playEpisode(environment, {
            ...sampled,
            maxSteps: spec.maxSteps,
            agent,
            random: () => random.nextFloat(),
          });
          const texts = [
            episode.first.text,
            ...episode.actions,
            ...episode.results.map((r) => r.observation.text),
          ];
          const unknown = texts
            .flatMap((text) => text.trim().split(/\s+/))
            .filter((word) => words?.has(word) === false);
          expect(unknown).toEqual([]);
          const acted = [episode.first, ...episode.results.slice(0, -1).map((r) => r.observation)];
          expect(acted.every(({ anchor }) => (anchor !== null) === spec.offersAnchors)).toBe(true);
          expect(episode.results.filter((result) => !isSound(result))).toEqual([]);
          const last = episode.results.length - 1;
          expect(episode.results.findIndex(({ success }) => success !== null)).toBe(last);
        }
      }
    });

    describeSnapshots(spec);

    it('lists its action words as legal where it stands', () => {
      for (let index = 0; index < NUM_REPEATED_EPISODES; index++) {
        const observation = spec.create().reset(spec.sampleTask({ split: 'train', index, seed: 3 }));
        if (observation instanceof Promise || spec.actionWords === null) continue;
        expect(spec.actionWords).toEqual(expect.arrayContaining([...(observation.legalActions ?? [])]));
      }
    });

    it(
      spec.splitsAreDisjoint ? 'never shows a task in two splits' : 'draws other seeds for other splits',
      () => {
        const seen = new Map<string, Split>();
        for (const split of SPLITS) {
          for (let index = 0; index < NUM_TASKS_OF_SPLIT; index++) {
            const { task, seed } = spec.sampleTask({ split, index, seed: index % 7 });
            const content = JSON.stringify(spec.splitsAreDisjoint ? task : seed);
            expect(seen.get(content) ?? split).toBe(split);
            seen.set(content, split);
          }
        }
      },
    );
  });
}

/** Snapshots are optional; where they are offered, an episode goes on from one as it would have. */
function describeSnapshots(spec: EnvironmentSpec): void {
  const { snapshot, restore } = spec.create();
  it('offers snapshots and their restoring both, or neither', () => {
    expect(snapshot === undefined).toBe(restore === undefined);
  });
  if (snapshot === undefined) return;

  it('goes on from a snapshot, in another instance, as the episode itself does', async () => {
    const restored = spec.create();
    for (let index = 0; index < 30; index++) {
      const environment = spec.create();
      const sampled = spec.sampleTask({ split: 'train', index, seed: 5 });
      const played = await playRandom(spec, { environment, ...sampled, member: 1, agentSeed: index });
      const numBefore = index % (played.actions.length + 1);
      let observation = await environment.reset({ ...sampled, member: 1 });
      for (const action of played.actions.slice(0, numBefore)) {
        observation = (await environment.step(action)).observation;
      }
      const text = JSON.stringify(await environment.snapshot?.());
      expect(await restored.restore?.(JSON.parse(text) as Json)).toEqual(observation);
      expect(JSON.stringify(await restored.snapshot?.())).toBe(text);
      const results: StepResult[] = [];
      for (const action of played.actions.slice(numBefore)) results.push(await restored.step(action));
      expect(results).toEqual(played.results.slice(numBefore));
      const act = (): unknown => restored.step('anything');
      expect(act).toThrowError(expect.objectContaining({ code: 'EPISODE_OVER' }) as Error);
    }
  });

  it('draws the same chance from a snapshot on after the same new seed, where it takes one', async () => {
    if (spec.create().reseed === undefined) return;
    const { task, seed } = spec.sampleTask({ split: 'train', index: 1, seed: 5 });
    const played = await playRandom(spec, {
      environment: spec.create(),
      task,
      seed,
      member: 0,
      agentSeed: 1,
    });
    const resultsAfter = async (member: number, newSeed: number): Promise<StepResult[]> => {
      const environment = spec.create();
      await environment.reset({ task, seed, member });
      await environment.reseed?.(newSeed);
      const results: StepResult[] = [];
      for (const action of played.actions) results.push(await environment.step(action));
      return results;
    };
    expect((await resultsAfter(1, 8)).map(({ reward }) => reward)).toEqual(
      (await resultsAfter(2, 8)).map(({ reward }) => reward),
    );
    const seen = new Set<string>();
    for (let newSeed = 0; newSeed < 40; newSeed++) seen.add(JSON.stringify(await resultsAfter(0, newSeed)));
    expect(seen.size).toBeGreaterThan(1);
  });

  it('refuses to snapshot before the first reset, and to restore anything but a snapshot of its own', () => {
    const act = (): unknown => spec.create().snapshot?.();
    expect(act).toThrowError(expect.objectContaining({ code: 'NOT_RESET' }) as Error);
    const others: readonly Json[] = [null, 7, 'x', [], {}, { world: 'another' }];
    for (const value of others) {
      const restoring = (): unknown => spec.create().restore?.(value);
      expect(restoring).toThrowError(expect.objectContaining({ code: 'INVALID_SNAPSHOT' }) as Error);
    }
  });
}

/** Whether a result keeps the rules that hold at every step: a reward that is there is finite and the sum of its named parts. */
function isSound({ reward, rewardNames, rewardValues, terminated, truncated }: StepResult): boolean {
  const sum = rewardValues.reduce((total, value) => total + value, 0);
  const addsUp = reward === null || Math.abs(reward - sum) < 1e-12;
  return addsUp && rewardNames.length === rewardValues.length && !(terminated && truncated);
}

interface RandomPlay extends ResetOptions {
  readonly environment: Environment;
  readonly agentSeed: number;
}

/** Plays an episode with the spec's `random` agent. */
function playRandom(
  spec: EnvironmentSpec,
  { environment, agentSeed, ...reset }: RandomPlay,
): Promise<Playthrough> {
  const random = new Pcg32(agentSeed);
  return playEpisode(environment, {
    ...reset,
    maxSteps: spec.maxSteps,
    agent: requireAgent(spec, 'random'),
    random: () => random.nextFloat(),
  });
}
