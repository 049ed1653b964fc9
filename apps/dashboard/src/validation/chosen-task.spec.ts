import { describe, expect, it } from 'vitest';
import type { ValidationTask } from '../api-types/schema';
import { chooseTask } from './chosen-task';

const tasks = ['a', 'b', 'c'].map((taskId) => ({ taskId }) as ValidationTask);

describe('chooseTask', () => {
  it.each([
    ['a', { number: 1, previousId: null, nextId: 'b' }],
    ['b', { number: 2, previousId: 'a', nextId: 'c' }],
    ['c', { number: 3, previousId: 'b', nextId: null }],
    ['', { number: 1, previousId: null, nextId: 'b' }],
    ['gone', { number: 1, previousId: null, nextId: 'b' }],
  ])('task "%s" is found with its neighbours, or else the first', (taskId, chosen) => {
    expect(chooseTask(tasks, taskId)).toEqual({ task: tasks[chosen.number - 1], ...chosen });
  });

  it('without tasks there is none', () => {
    expect(chooseTask([], 'a')).toBeNull();
  });
});
