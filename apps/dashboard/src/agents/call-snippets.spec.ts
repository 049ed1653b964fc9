import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { callSnippets, KEY_PLACEHOLDER, maxAnswerTokens } from './call-snippets';

const TEXT = `it's "here" \\ $HOME\nnext`;
const call = { url: 'http://127.0.0.1:8788', model: 'run:a', text: TEXT, maxTokens: 2 };
const snippets = callSnippets({ ...call, needsKey: false });

describe('callSnippets', () => {
  it('the body of curl is what a shell passes on, whatever is quoted in the text', () => {
    const curl = snippets[0].code.replace(/^curl /, 'printf "%s\\n" ');
    const printed = execFileSync('sh', ['-c', curl]).toString();
    const body = printed.slice(printed.indexOf('{'));
    expect(JSON.parse(body)).toEqual({
      model: 'run:a',
      messages: [{ role: 'user', content: TEXT }],
      max_tokens: 2,
    });
  });

  it('the clients get address, model and text', () => {
    for (const { code } of snippets.slice(1)) {
      expect(code).toContain('http://127.0.0.1:8788/v1');
      expect(code).toContain('"run:a"');
      expect(code).toContain(JSON.stringify(TEXT));
    }
  });
});

it('callSnippets: all of them have a place for the key, only where one is needed', () => {
  const numWith = (needsKey: boolean) =>
    callSnippets({ ...call, needsKey }).filter(({ code }) => code.includes(KEY_PLACEHOLDER)).length;
  expect([numWith(true), numWith(false)]).toEqual([3, 0]);
});

it.each([
  [{ context: { maxNewTokens: 1 } }, 1],
  [{ context: { maxNewTokens: 4096 } }, 256],
  [{}, 64],
  [null, 64],
])('maxAnswerTokens of the recipe %j is %i', (recipe, most) => {
  expect(maxAnswerTokens(recipe)).toBe(most);
});
