import { describe, expect, it } from 'vitest';
import {
  RewardComposer,
  registerReward,
  type ComponentConfig,
  type RewardEpisode,
  type RewardStep,
} from './index.js';
import type { CompositionOptions } from './composer.js';

const STEP: RewardStep = {
  observation: 'start',
  action: 'left',
  parsedAction: 'left',
  actionValid: true,
  anchor: 'a',
  reward: 0,
  rewardNames: [],
  rewardValues: [],
  numActionTokens: 1,
};

const EPISODE: RewardEpisode = {
  environment: 'frozen-lake',
  task: {},
  steps: [
    { ...STEP, actionValid: false, parsedAction: null, reward: -0.1 },
    { ...STEP, reward: 0.25 },
    { ...STEP, reward: 1 },
  ],
  finalObservation: 'end',
  endReason: 'terminated',
  success: true,
};

registerReward(import.meta.url, {
  name: 'testThrows',
  description: 'always fails',
  options: {},
  score: () => {
    throw new Error('the judge is down');
  },
});
registerReward(import.meta.url, {
  name: 'testMissing',
  description: 'never knows',
  options: {},
  score: () => Promise.resolve({ scope: 'episode', value: null } as const),
});
registerReward(import.meta.url, {
  name: 'testWrong',
  description: 'breaks the contract',
  options: {},
  score: () => ({ scope: 'step', values: [1, Number.NaN, 0] }),
});

function score(configs: readonly ComponentConfig[], episode = EPISODE): ReturnType<RewardComposer['score']> {
  return new RewardComposer(configs).score(episode);
}

describe('RewardComposer', () => {
  it('adds weighted components and reports each of them', async () => {
    const reward = await score([
      { reward: 'environment' },
      { reward: 'goal', weight: 2, options: { success: 1, failure: 0 } },
      { reward: 'invalidAction', weight: 0.5, options: { penalty: 0.4 } },
    ]);
    // steps: −.1 − .5·.4, .25, 1; episode: 2·1
    expect([...reward.stepRewards]).toEqual([-0.1 - 0.5 * 0.4, 0.25, 1]);
    expect(reward.episodeReward).toBe(2);
    expect(reward.total).toBeCloseTo(-0.3 + 0.25 + 1 + 2, 12);
    expect(reward.components.map(({ name, weight, fault }) => [name, weight, fault])).toEqual([
      ['environment', 1, null],
      ['goal', 2, null],
      ['invalidAction', 0.5, null],
    ]);
    expect(reward.components[0].value).toBeCloseTo(1.15, 12);
    expect(reward.components[1]).toMatchObject({ value: 1, stepValues: null });
    expect(reward.components[2].value).toBe(-0.4);
  });

  it('makes the total null, not 0, when a component fails, and reports the fault and the other components', async () => {
    const reward = await score([{ reward: 'environment' }, { reward: 'testThrows' }]);
    expect(reward.total).toBeNull();
    expect(reward.components[1]).toEqual({
      name: 'testThrows',
      weight: 1,
      value: null,
      stepValues: null,
      fault: 'the judge is down',
      missing: null,
    });
    expect(reward.components[0].value).toBeCloseTo(1.15, 12);
  });

  it('makes the total null when a component is missing, without a fault', async () => {
    const reward = await score([{ reward: 'environment' }, { reward: 'testMissing' }]);
    expect(reward.total).toBeNull();
    expect(reward.components[1]).toMatchObject({ value: null, fault: null });
  });

  it('makes the total null when one step has no reward', async () => {
    const steps = [...EPISODE.steps.slice(0, 2), { ...STEP, reward: null }];
    const reward = await score([{ reward: 'environment' }], { ...EPISODE, steps });
    expect(reward.total).toBeNull();
    expect(reward.components[0]).toMatchObject({ value: null, stepValues: null, fault: null });
  });

  it('reports a value that is not finite as a fault of its component', async () => {
    const reward = await score([{ reward: 'testWrong' }]);
    expect(reward.components[0].fault).toBe('value of step 1 is NaN, must be finite or null');
  });

  it('reports components of weight 0 and leaves them out of the total', async () => {
    const reward = await score([{ reward: 'environment' }, { reward: 'testThrows', weight: 0 }]);
    expect(reward.total).toBeCloseTo(1.15, 12);
    expect(reward.components[1].fault).toBe('the judge is down');
  });

  it('scores an episode without steps', async () => {
    expect(await score([{ reward: 'environment' }], { ...EPISODE, steps: [] })).toMatchObject({ total: 0 });
  });

  describe('by data source', () => {
    const from = (source: string | null): RewardEpisode => ({
      ...EPISODE,
      task: source === null ? {} : { data_source: source, meta: { origin: 'elsewhere' } },
    });
    const dispatch: ComponentConfig[] = [
      { reward: 'goal', sources: ['gsm8k', 'math'] },
      { reward: 'environment', sources: ['frozen-lake'] },
      { reward: 'invalidAction' },
    ];
    const namesOf = async (episode: RewardEpisode, options: CompositionOptions = {}) => {
      const { components } = await new RewardComposer(dispatch, options).score(episode);
      return components.map(({ name }) => name);
    };

    it('scores an episode with the components of its source and those without sources', async () => {
      expect(await namesOf(from('math'))).toEqual(['goal', 'invalidAction']);
      expect(await namesOf(from('gsm8k'))).toEqual(['goal', 'invalidAction']);
    });

    it('uses the environment as the source of a task that names none', async () => {
      expect(await namesOf(from(null))).toEqual(['environment', 'invalidAction']);
    });

    it('reads the source from the field that the composition names', async () => {
      const options: CompositionOptions = { sourceField: 'meta.origin', unlistedSource: 'common' };
      expect(await namesOf(from('math'), options)).toEqual(['invalidAction']);
    });

    it('gives an episode of an unlisted source a typed fault and no total', async () => {
      const reward = await new RewardComposer(dispatch).score(from('aime'));
      expect(reward).toMatchObject({ total: null, components: [] });
      expect(reward.fault).toMatchObject({
        code: 'UNKNOWN_SOURCE',
        message: "data source is 'aime', must be one that a component names: frozen-lake, gsm8k, math",
      });
    });

    it('scores an episode of an unlisted source with the components without sources when unlistedSource is common', async () => {
      expect(await namesOf(from('aime'), { unlistedSource: 'common' })).toEqual(['invalidAction']);
      const none = new RewardComposer(dispatch.slice(0, 2), { unlistedSource: 'common' });
      expect((await none.score(from('aime'))).fault).toMatchObject({ code: 'UNKNOWN_SOURCE' });
    });
  });

  it('refuses two components with the same name, and accepts them with different names', async () => {
    const twice = [{ reward: 'goal' }, { reward: 'goal' }];
    expect(() => new RewardComposer(twice)).toThrowError(
      expect.objectContaining({ code: 'DUPLICATE_NAME' }) as Error,
    );
    expect((await score([{ reward: 'goal' }, { reward: 'goal', name: 'again' }])).total).toBe(2);
  });

  it.each<[string, ComponentConfig[], string]>([
    ['UNKNOWN_NAME', [{ reward: 'gaol' }], "no reward component is named 'gaol'; did you mean goal?"],
    ['INVALID_ARGUMENT', [{ reward: 'goal', weight: Number.NaN }], 'weight of goal is NaN, must be finite'],
    [
      'INVALID_ARGUMENT',
      [{ reward: 'goal', options: { sucess: 1 } }],
      "no option is named 'sucess'; did you mean success?",
    ],
    [
      'INVALID_ARGUMENT',
      [{ reward: 'invalidAction', options: { penalty: -1 } }],
      'penalty is -1, must be a finite number ≥ 0',
    ],
    [
      'INVALID_ARGUMENT',
      [{ reward: 'formatPattern', options: { pattern: '(' } }],
      'is no regular expression',
    ],
    ['INVALID_ARGUMENT', [], 'components is empty'],
    ['INVALID_ARGUMENT', [{ reward: 'goal', sources: [] }], 'sources of goal is empty'],
    ['INVALID_ARGUMENT', [{}], 'neither reward nor module'],
    ['INVALID_ARGUMENT', [{ reward: 'judge' }], 'model is empty, must name a model'],
    ['UNKNOWN_NAME', [{ module: './mine.mjs' }], "reward module './mine.mjs' was not loaded"],
  ])('refuses with %s: %j', (code, configs, message) => {
    expect(() => new RewardComposer(configs)).toThrowError(
      expect.objectContaining({ code, message: expect.stringContaining(message) as string }) as Error,
    );
  });
});
