import { describe, expect, it } from 'vitest';
import { oneWordParser } from './one-word.js';

const parse = oneWordParser(['left', 'right']);

describe('oneWordParser', () => {
  it.each([
    'left',
    ' left\n',
    'LEFT',
    'Thought: the goal is there.\nAction: Left',
    'Action: left\nObservation: …',
  ])('reads %j as left', (text) => {
    expect(parse(text)).toEqual({ parsedAction: 'left', actionValid: true });
  });

  it.each(['', 'north', 'left right', 'go left', 'Action:', 'Action: left\nAction: right', 'toString'])(
    'finds no action in %j',
    (text) => {
      expect(parse(text)).toEqual({ parsedAction: null, actionValid: false });
    },
  );
});
