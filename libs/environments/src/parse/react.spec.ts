import { describe, expect, it } from 'vitest';
import { parseReAct } from './react.js';

describe('parseReAct', () => {
  it('separates thought and action', () => {
    expect(parseReAct('Thought: it is near.\n\nAction: go to ball 1')).toEqual({
      thought: 'it is near.',
      action: 'go to ball 1',
      actionValid: true,
    });
  });

  it('uses the text before the action as the thought when it has no label', () => {
    expect(parseReAct('it is near. Action: wait').thought).toBe('it is near.');
  });

  it('ends the action at the end of its line', () => {
    expect(parseReAct('Action: craft 1 stick\nObservation: made up').action).toBe('craft 1 stick');
  });

  it('treats several actions as invalid', () => {
    expect(parseReAct('Action: wait\nAction: go')).toMatchObject({ action: '', actionValid: false });
  });

  it.each(['', 'just talk', 'Action:', 'Action:   \n', 'action: lower case label'])(
    'finds no action in %j',
    (text) => {
      expect(parseReAct(text)).toMatchObject({ action: '', actionValid: false });
    },
  );
});
