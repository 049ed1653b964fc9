import { describe, expect, it } from 'vitest';
import {
  RewardComposer,
  defineReward,
  type ComponentConfig,
  type RewardEpisode,
  type RewardStep,
} from './index.js';

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

defineReward({
  name: 'testThrows',
  description: 'always fails',
  codeVersion: 1,
  options: {},
  score: () => {
    throw new Error('the judge is down');
  },
});
defineReward({
  name: 'testMissing',
  description: 'never knows',
  codeVersion: 1,
  options: {},
  score: () => Promise.resolve({ scope: 'episode', value: null } as const),
});
defineReward({
  name: 'testWrong',
  description: 'breaks the contract',
  codeVersion: 1,
  options: {},
  score: () => ({ scope: 'step', values: [1, Number.NaN, 0] }),
});

function score(configs: readonly ComponentConfig[], episode = EPISODE): ReturnType<RewardComposer['score']> {
  return new RewardComposer(configs).score(episode);
}

describe('RewardComposer', () => {
  it('adds weighted components and keeps the breakdown', async () => {
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

  it('makes the total null, never 0, when a component fails, and keeps the fault and the others', async () => {
    const reward = await score([{ reward: 'environment' }, { reward: 'testThrows' }]);
    expect(reward.total).toBeNull();
    expect(reward.components[1]).toEqual({
      name: 'testThrows',
      weight: 1,
      value: null,
      stepValues: null,
      fault: 'the judge is down',
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

  it('takes a value that is not finite as a fault of its component', async () => {
    const reward = await score([{ reward: 'testWrong' }]);
    expect(reward.components[0].fault).toBe('value of step 1 is NaN, must be finite or null');
  });

  it('reports components of weight 0 without letting them into the total', async () => {
    const reward = await score([{ reward: 'environment' }, { reward: 'testThrows', weight: 0 }]);
    expect(reward.total).toBeCloseTo(1.15, 12);
    expect(reward.components[1].fault).toBe('the judge is down');
  });

  it('scores an episode without steps', async () => {
    expect(await score([{ reward: 'environment' }], { ...EPISODE, steps: [] })).toMatchObject({ total: 0 });
  });

  it('refuses two components of one name, and takes them under two', async () => {
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
  ])('refuses with %s: %j', (code, configs, message) => {
    expect(() => new RewardComposer(configs)).toThrowError(
      expect.objectContaining({ code, message: expect.stringContaining(message) as string }) as Error,
    );
  });
});
