import { describe, expect, it } from 'vitest';
import { parseReAct } from './react.js';

describe('parseReAct', () => {
  it('splits thought and action', () => {
    expect(parseReAct('Thought: it is near.\n\nAction: go to ball 1')).toEqual({
      thought: 'it is near.',
      action: 'go to ball 1',
      actionValid: true,
    });
  });

  it('takes what stands before the action as the thought when it has no label', () => {
    expect(parseReAct('it is near. Action: wait').thought).toBe('it is near.');
  });

  it('ends the action at its line, or takes the rest when asked', () => {
    const text = 'Action: craft 1 stick\nObservation: made up';
    expect(parseReAct(text).action).toBe('craft 1 stick');
    expect(parseReAct(text, { extent: 'rest' }).action).toBe('craft 1 stick\nObservation: made up');
  });

  it('calls several actions invalid, or takes the last when asked', () => {
    const text = 'Action: wait\nAction: go';
    expect(parseReAct(text)).toMatchObject({ action: '', actionValid: false });
    expect(parseReAct(text, { severalActions: 'last' })).toMatchObject({ action: 'go', actionValid: true });
  });

  it.each(['', 'just talk', 'Action:', 'Action:   \n', 'action: lower case label'])(
    'finds no action in %j',
    (text) => {
      expect(parseReAct(text)).toMatchObject({ action: '', actionValid: false });
    },
  );
});
