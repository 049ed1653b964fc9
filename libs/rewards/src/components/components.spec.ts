import { describe, expect, it } from 'vitest';
import { RewardComposer, type RewardContext, type RewardEpisode, type RewardStep } from '../index.js';

const step = (change: Partial<RewardStep>): RewardStep => ({
  observation: '',
  action: 'left',
  parsedAction: 'left',
  actionValid: true,
  anchor: null,
  reward: 0,
  rewardNames: [],
  rewardValues: [],
  numActionTokens: 1,
  ...change,
});

const episode = (steps: readonly RewardStep[], change: Partial<RewardEpisode> = {}): RewardEpisode => ({
  environment: 'test',
  task: null,
  steps,
  finalObservation: '',
  endReason: 'terminated',
  success: null,
  ...change,
});

async function scoreOf(
  reward: string,
  scored: RewardEpisode,
  options: Record<string, unknown> = {},
  context: RewardContext = {},
): Promise<number | null | number[]> {
  const { components } = await new RewardComposer([{ reward, options }]).score(scored, context);
  expect(components[0].fault).toBeNull();
  const { stepValues, value } = components[0];
  return stepValues === null ? value : [...stepValues];
}

describe('reward components', () => {
  it('goal: gives one value for success and one for failure, and is missing when success is unknown', async () => {
    expect(await scoreOf('goal', episode([], { success: true }))).toBe(1);
    expect(await scoreOf('goal', episode([], { success: false }))).toBe(-1);
    expect(await scoreOf('goal', episode([], { success: null }))).toBeNull();
  });

  it('goal with measure: gives the return or the last reward, and is missing when a reward that it needs is missing', async () => {
    const steps = [step({ reward: 0.25 }), step({ reward: 0.5 })];
    const lost = { success: false };
    expect(await scoreOf('goal', episode(steps, lost), { measure: 'return' })).toBe(0.75);
    expect(await scoreOf('goal', episode(steps, lost), { measure: 'finalReward' })).toBe(0.5);
    const unknown = episode([step({ reward: null }), step({ reward: 0.5 })]);
    expect(await scoreOf('goal', unknown, { measure: 'return' })).toBeNull();
    expect(await scoreOf('goal', unknown, { measure: 'finalReward' })).toBe(0.5);
    for (const measure of ['return', 'finalReward']) {
      expect(await scoreOf('goal', episode([]), { measure })).toBeNull();
    }
  });

  it('environmentComponent: gives the named part, 0 on a rewarded step without it, and is missing where the reward is missing', async () => {
    const options = { component: 'goal' };
    const won = step({ reward: 1, rewardNames: ['time', 'goal'], rewardValues: [-0.1, 1.1] });
    expect(await scoreOf('environmentComponent', episode([won, step({})]), options)).toEqual([1.1, 0]);
    expect(await scoreOf('environmentComponent', episode([won, step({ reward: null })]), options)).toBeNull();
  });

  it('environmentComponent: is missing where the parts of a step do not add up to its reward without it', async () => {
    const options = { component: 'goal' };
    const silent = step({ reward: 1 });
    expect(await scoreOf('environmentComponent', episode([silent]), options)).toBeNull();
    const partly = step({ reward: 1, rewardNames: ['time'], rewardValues: [-0.1] });
    expect(await scoreOf('environmentComponent', episode([partly]), options)).toBeNull();
    const whole = step({ reward: 0.1 + 0.2, rewardNames: ['time'], rewardValues: [0.3] });
    expect(await scoreOf('environmentComponent', episode([whole]), options)).toEqual([0]);
  });

  describe('environmentComponent', () => {
    const lost = step({ reward: 0 });
    const won = step({ reward: 1, rewardNames: ['goal'], rewardValues: [1] });
    const invalid = step({ reward: -0.1, rewardNames: ['invalidAction'], rewardValues: [-0.1] });
    const both = step({ reward: 0.9, rewardNames: ['goal', 'time'], rewardValues: [1, -0.1] });
    const refusalOf = (component: string, ...episodes: (readonly RewardStep[])[]) => {
      const composer = new RewardComposer([{ reward: 'environmentComponent', options: { component } }]);
      try {
        composer.requireOptionsFor(episodes.map((steps) => episode(steps)));
        return null;
      } catch (error) {
        return (error as Error).message;
      }
    };

    it.each([
      ['gaol', [[lost, won]], 'goal'],
      ['Goal', [[lost], [invalid, won]], 'goal, invalidAction'],
      ['invalid-action', [[lost, invalid]], 'invalidAction'],
      // Nothing like it, but each step lists the same parts.
      ['progress', [[both, both], [both]], 'goal, time'],
    ])('is refused as %s once episodes have shown the names', (component, episodes, names) => {
      expect(refusalOf(component, ...episodes)).toBe(
        `reward environmentComponent: component is "${component}", must be a part that the environment lists: ${names}`,
      );
    });

    it.each([
      ['goal', [[lost, won]]],
      ['invalidAction', [[lost, won]]],
      ['goal', [[lost, invalid]]],
      ['goal', [[lost]]],
      ['goal', []],
    ])('is taken as %s where it is listed, or may come yet', (component, episodes) => {
      expect(refusalOf(component, ...episodes)).toBeNull();
    });
  });

  it('invalidAction and timePenalty: give a cost per step', async () => {
    const steps = [step({}), step({ actionValid: false })];
    expect(await scoreOf('invalidAction', episode(steps))).toEqual([0, -0.1]);
    expect(await scoreOf('timePenalty', episode(steps), { penalty: 0.5 })).toEqual([-0.5, -0.5]);
  });

  it.each([
    ['linear', -0.1 * 0.5],
    ['quadratic', -0.1 * 0.25],
    ['log', -0.1 * Math.log(1.5)],
  ])('lengthPenalty: grows in %s form with the relative excess', async (shape, expected) => {
    const long = episode([step({ numActionTokens: 10 }), step({ numActionTokens: 5 })]);
    expect(await scoreOf('lengthPenalty', long, { shape, limit: 10 })).toBeCloseTo(expected, 12);
    expect(await scoreOf('lengthPenalty', long, { shape, limit: 15 })).toBe(0);
    const characters = episode([step({ action: 'x'.repeat(15), numActionTokens: 99 })]);
    expect(await scoreOf('lengthPenalty', characters, { shape, limit: 10, unit: 'characters' })).toBeCloseTo(
      expected,
      12,
    );
  });

  it('formatPattern: matches the whole action by default, and keeps no state between steps', async () => {
    const steps = ['go', 'go', 'go on'].map((action) => step({ action }));
    const options = { pattern: 'g.', match: 1, mismatch: 0, flags: 'g' };
    expect(await scoreOf('formatPattern', episode(steps), options)).toEqual([1, 1, 0]);
    expect(await scoreOf('formatPattern', episode(steps), { ...options, whole: false })).toEqual([1, 1, 1]);
  });

  it('formatJson: accepts only an object with the required keys', async () => {
    const actions = ['{"tool":"x","args":{}}', '{"tool":"x"}', '["tool","args"]', 'tool args', 'null'];
    const options = { requiredKeys: ['tool', 'args'], match: 1, mismatch: -1 };
    expect(await scoreOf('formatJson', episode(actions.map((action) => step({ action }))), options)).toEqual([
      1, -1, -1, -1, -1,
    ]);
  });

  it('explorationBonus: decreases with the visits in the run and in the episode', async () => {
    const steps = ['a', 'b', 'a'].map((anchor) => step({ anchor }));
    const context = { visitCount: (anchor: string) => (anchor === 'a' ? 3 : 0) };
    expect(await scoreOf('explorationBonus', episode(steps), { bonus: 1 }, context)).toEqual([
      1 / Math.sqrt(4),
      1,
      1 / Math.sqrt(5),
    ]);
    expect(await scoreOf('explorationBonus', episode(steps), { bonus: 1, maxVisits: 4 }, context)).toEqual([
      0.5, 1, 0,
    ]);
    expect(await scoreOf('explorationBonus', episode([step({})]), {}, context)).toBeNull();
  });
});

describe('policyConsistency', () => {
  const acted = (...pairs: [string, string][]) =>
    episode(pairs.map(([anchor, action]) => step({ anchor, action, parsedAction: action })));

  it('compares each action with the previous one in the same state of the episode', async () => {
    const scored = acted(
      ['a', 'left'],
      ['b', 'up'],
      ['a', 'left'],
      ['a', 'right'],
      ['a', 'right'],
      ['b', 'down'],
    );
    expect(await scoreOf('policyConsistency', scored, { same: 0.5, different: -1 })).toEqual([
      0, 0, 0.5, -1, 0.5, -1,
    ]);
    expect(await scoreOf('policyConsistency', scored)).toEqual([0, 0, 0, -0.1, 0, -0.1]);
  });

  it('compares parsed actions, and texts where the environment parsed none', async () => {
    const said = (action: string, parsedAction: string | null) => step({ anchor: 'a', action, parsedAction });
    const scored = episode([
      said('Left!', 'left'),
      said('go left', 'left'),
      said('??', null),
      said('??', null),
    ]);
    expect(await scoreOf('policyConsistency', scored, { same: 1 })).toEqual([0, 1, -0.1, 1]);
  });

  it('is missing where states have no anchor', async () => {
    expect(await scoreOf('policyConsistency', episode([step({})]))).toBeNull();
  });
});

describe('rewards for answers', () => {
  const answered = (action: string, task: RewardEpisode['task']): RewardEpisode =>
    episode([step({ action: 'think', numActionTokens: 1 }), step({ action, parsedAction: 'parsed' })], {
      task,
      finalObservation: 'the end',
    });

  it('compare the last action with the best matching reference in the task', async () => {
    const task = { answer: ['a dog', 'the cat'] };
    expect(await scoreOf('exactMatch', answered('Cat!', task))).toBe(1);
    expect(await scoreOf('tokenF1', answered('cat and dog', task))).toBeCloseTo(2 / 4, 12);
    expect(await scoreOf('rougeL', answered('the cat', task))).toBe(1);
    expect(await scoreOf('bleu', answered('the cat', task))).toBe(1);
  });

  it('read the reference at a path, and the answer from the place that the options name', async () => {
    const task = { question: { solution: 'parsed' } };
    const options = { reference: 'question.solution', answer: 'lastParsedAction' };
    expect(await scoreOf('exactMatch', answered('x', task), options)).toBe(1);
    const final = { reference: 'question.solution', answer: 'finalObservation' };
    expect(await scoreOf('exactMatch', answered('x', task), final)).toBe(0);
  });

  it('compare numbers within the tolerance', async () => {
    expect(await scoreOf('numericEquality', answered('\\boxed{1,000}', { answer: 1000 }))).toBe(1);
    expect(await scoreOf('numericEquality', answered('about a thousand', { answer: 1000 }))).toBe(0);
    const loose = { relativeTolerance: 0.05 };
    expect(await scoreOf('numericEquality', answered('1040', { answer: '1000' }), loose)).toBe(1);
  });

  it('are missing without a reference, and score an episode without an action as an empty answer', async () => {
    const tasks: RewardEpisode['task'][] = [
      null,
      {},
      { answer: null },
      { answer: [] },
      { answer: ['x', null] },
    ];
    for (const task of tasks) {
      expect(await scoreOf('exactMatch', answered('x', task))).toBeNull();
    }
    expect(await scoreOf('exactMatch', episode([], { task: { answer: 'x' } }))).toBe(0);
  });

  it('fail instead of scoring 0 when the reference has no number', async () => {
    const { components } = await new RewardComposer([{ reward: 'numericEquality' }]).score(
      answered('1', { answer: 'many' }),
    );
    expect(components[0]).toMatchObject({ value: null, fault: 'reference "many" states no number' });
  });
});
