import { describe, expect, it } from 'vitest';
import { alfworldTask, babyAiLevel, craftingDepth } from './task-families.js';

const opening = (goal: string, ...commands: readonly string[]) => ({
  observation: `Crafting commands:\n${commands.join('\n')}\n\nGoal: craft ${goal}.`,
});

describe('the kind of a task of AgentGym', () => {
  it('is the level of babyai, which repeats after forty', () => {
    expect([0, 4, 39, 40].map(babyAiLevel)).toEqual([
      'GoToRedBallGrey',
      'GoToLocalS8N7',
      'BossLevelNoUnlock',
      'GoToRedBallGrey',
    ]);
    expect(new Set(Array.from({ length: 40 }, (_, index) => babyAiLevel(index))).size).toBe(40);
  });

  it('is the beginning of what a reset of alfworld tells', () => {
    const told = 'look_at_obj_in_light-CD-None-DeskLamp-308/trial_T20190906_203327_311327';
    expect(alfworldTask({ id: 1, task_type: told })).toBe('look_at_obj_in_light');
    expect(alfworldTask({ id: 1 })).toBeNull();
  });

  it.each([
    [
      'depth-1',
      opening('lime concrete powder', 'craft 8 lime concrete powder using 1 lime dye, 4 sand, 4 gravel'),
    ],
    [
      'depth-2',
      opening('oak sign', 'craft 4 oak planks using 1 oak logs', 'craft 3 oak sign using 6 oak planks'),
    ],
    [
      'depth-1',
      opening('dye', 'craft 2 dye using 1 flower', 'craft 1 dye using 1 ink', 'craft 1 flower using 1 seed'),
    ],
  ])('is the depth of the shallowest way to a goal of textcraft: %s', (depth, answer) => {
    expect(craftingDepth(answer)).toBe(depth);
  });

  it('is unknown where a goal of textcraft needs itself, or nothing is told', () => {
    const circle = opening('a', 'craft 1 a using 1 b', 'craft 1 b using 1 a');
    expect([circle, {}, null].map(craftingDepth)).toEqual([null, null, null]);
  });
});
