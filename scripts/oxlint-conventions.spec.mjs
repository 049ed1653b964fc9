import { Linter } from 'eslint';
import { describe, expect, it } from 'vitest';
import conventions from '../oxlint-conventions.mjs';

/** @param {string} code @param {string} rule @returns {string[]} what the rule says of the code */
function messagesOf(code, rule) {
  const config = { plugins: { conventions }, rules: { [`conventions/${rule}`]: 'error' } };
  return new Linter().verify(code, [config]).map(({ message }) => message);
}

describe('plain-words', () => {
  it.each([
    ['/** A column is encoded anew. */', 'anew'],
    ['// The log is away for a moment.', 'is away'],
    ['/** [N] Figures of each token; null: nobody wants to know. */', 'nobody wants'],
    ['/** One buffer,\n * used synchronously: one for\n * all. */', 'one for all'],
    ['// Checks what comes of it.', 'comes of it'],
    ['// It has ended already, which is told by its end.', 'told by'],
    ['/** Told of each row, in order. */', 'Told of'],
    ['/** So long the start waits for a server. */', 'So long'],
    ['/** Open, and closed by who opened it. */', 'by who'],
  ])('plain-words: refuses %j', (code, words) => {
    expect(messagesOf(code, 'plain-words')).toEqual([expect.stringContaining(`"${words}"`)]);
  });

  it.each([
    '/** Encoded again. One for each row. */',
    '// A client that goes away. It waits for so long; whoever is told, by whom?',
    "const text = 'anew, told by nobody';",
  ])('plain-words: accepts %j', (code) => {
    expect(messagesOf(code, 'plain-words')).toEqual([]);
  });
});

describe('docstring', () => {
  it('docstring: refuses one that starts with "What"', () => {
    expect(messagesOf('/** What it does. */', 'docstring')).toEqual([
      'Start the docstring with a verb or a plain noun, not with "What".',
    ]);
  });
});
