import type { StepResult } from '@retrace/environments';
import { describe, expect, it } from 'vitest';
import { joinResults, withNote, withoutAction } from './executed-actions.js';

const observation = { text: 'here', anchor: null, legalActions: null };

function result(change: Partial<StepResult>): StepResult {
  return { ...withoutAction(observation, true), ...change };
}

describe('the results of a turn', () => {
  it('are the one of a single action as it is', () => {
    const only = result({ reward: null, rewardNames: ['goal'], rewardValues: [Number.NaN], info: [1] });
    expect(joinResults([only], { kind: 'act', actions: ['go'], isValid: true, note: null })).toEqual(only);
  });

  it('sum up rewards and their parts, list the actions, and end as the last does', () => {
    const results = [
      result({ reward: 1, rewardNames: ['step'], rewardValues: [1], parsedAction: 'up' }),
      result({ reward: null, parsedAction: null, actionValid: false }),
      result({
        reward: 0.5,
        rewardNames: ['step', 'goal'],
        rewardValues: [0.25, 0.25],
        parsedAction: 'left',
        terminated: true,
        success: true,
        info: { room: 2 },
      }),
    ];
    const actions = ['UP', 'fly', 'LEFT', 'right'];
    const joined = joinResults(results, { kind: 'act', actions, isValid: true, note: null });
    expect(joined).toMatchObject({
      reward: 1.5,
      rewardNames: ['step', 'goal'],
      rewardValues: [1.25, 0.25],
      parsedAction: 'up || left',
      actionValid: false,
      terminated: true,
      success: true,
    });
    expect(joined.info).toEqual({
      room: 2,
      agent: {
        actions: [
          { action: 'UP', parsedAction: 'up', actionValid: true, reward: 1 },
          { action: 'fly', parsedAction: null, actionValid: false, reward: null },
          { action: 'LEFT', parsedAction: 'left', actionValid: true, reward: 0.5 },
        ],
      },
    });
  });

  it('are invalid where the text broke the format, and keep an info of any kind beside the note', () => {
    const joined = joinResults([result({ info: 'plain' })], {
      ...{ kind: 'act', actions: ['go'], isValid: false },
      note: { problem: 'no tag' },
    });
    expect(joined.actionValid).toBe(false);
    expect(joined.info).toEqual({ environment: 'plain', agent: { problem: 'no tag' } });
    expect(withNote(null, 1)).toEqual({ agent: 1 });
  });
});
