import { describe, expect, it } from 'vitest';
import { parseReAct, reActAction } from './parse-react.js';

describe('parseReAct', () => {
  it('separates thought and action', () => {
    expect(parseReAct('Thought: it is near.\n\nAction: go to ball 1\nand more')).toEqual({
      thought: 'it is near.',
      action: 'go to ball 1',
      rest: 'and more',
      numActionLabels: 1,
      hasThoughtLabel: true,
    });
  });

  it('uses the text before the action as the thought when it has no label', () => {
    expect(parseReAct('it is near. Action: wait').thought).toBe('it is near.');
  });

  it('takes the action after the last label, and counts the labels', () => {
    expect(parseReAct('Action: wait\nAction: go')).toMatchObject({ action: 'go', numActionLabels: 2 });
  });
});

describe('reActAction', () => {
  it('ends the action at the end of its line', () => {
    expect(reActAction('Action: craft 1 stick\nObservation: made up')).toBe('craft 1 stick');
  });

  it.each([
    '',
    'just talk',
    'Action:',
    'Action:   \n',
    'action: lower case label',
    'Action: wait\nAction: go',
  ])('finds no action in %j', (text) => {
    expect(reActAction(text)).toBeNull();
  });
});
