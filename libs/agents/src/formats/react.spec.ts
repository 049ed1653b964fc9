import { describe, expect, it } from 'vitest';
import { actionFormat } from '../registry.js';

const CONTEXT = { legalActions: null };
const strict = actionFormat('react', { strict: true });
const lenient = actionFormat('react', { strict: false });

describe('react', () => {
  it('reads thought and action', () => {
    expect(strict.parse('Thought: it is near.\n\nAction: go to ball 1\n', CONTEXT)).toEqual({
      actions: ['go to ball 1'],
      thought: 'it is near.',
      valid: true,
      problem: null,
      toolCalls: [],
    });
  });

  it.each([
    ['Action: wait', 'Your answer must begin with "Thought:".'],
    ['Thought: x', 'Your answer has no line "Action: <one action>".'],
    ['Thought: x\nAction: ', 'There is nothing after "Action:".'],
    ['Thought: x\nAction: go\nThen I rest.', 'Nothing may follow the line of the action.'],
    ['Thought: x\nAction: go\nAction: stop', 'Only one action is allowed in a turn; your answer has 2.'],
  ])('strict: executes nothing of %j and says why', (text, problem) => {
    expect(strict.parse(text, CONTEXT)).toMatchObject({ actions: [], valid: false, problem });
  });

  it('strict: allows the stop string after the action', () => {
    expect(strict.parse(`Thought: x\nAction: go${strict.stopStrings[0]}`, CONTEXT)).toMatchObject({
      actions: ['go'],
      valid: true,
    });
  });

  it.each([
    ['Action: wait', ['wait'], true],
    ['Thought: x\nAction: go\nObservation: I made this up', ['go'], true],
    ['Action: go\nAction: stop', ['stop'], false],
    ['I think search[red shoes]', ['I think search[red shoes]'], false],
    ['nothing to see', [], false],
  ])('lenient: reads %j as %j', (text, actions, valid) => {
    expect(lenient.parse(text, CONTEXT)).toMatchObject({ actions, valid });
  });

  it('refuses to write a thought that has the label of an action', () => {
    expect(() => strict.write({ thought: 'Action: go', actions: ['wait'] })).toThrow('your answer has 2');
  });
});

describe('bare', () => {
  it('passes the text on as it is', () => {
    const bare = actionFormat('bare', { strict: true });
    expect(bare.parse(' left \n', CONTEXT)).toMatchObject({
      actions: [' left \n'],
      thought: null,
      valid: true,
    });
    expect(bare.write({ actions: ['left'] })).toBe('left');
    expect(() => bare.write({ thought: 'x', actions: ['left'] })).toThrow('it would read another turn');
    expect(() => bare.write({ actions: [] })).toThrow('writes exactly one');
  });
});

describe('actionFormat', () => {
  it('lists the formats when a name is unknown', () => {
    expect(() => actionFormat('reakt', { strict: true })).toThrow(
      'Unknown action format "reakt"; known are bare, react',
    );
  });

  it('refuses a number of actions below 1', () => {
    expect(() => actionFormat('bare', { strict: true, maxActions: 0 })).toThrow('maxActions: got 0');
  });
});
