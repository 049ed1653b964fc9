import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CustomAgent } from '@retrace/agents';
import { createTokenizer, loadPolicyText, plainPolicyText, type PromptFormat } from '@retrace/policy';
import { describe, expect, it } from 'vitest';
import { EpisodeBudget } from '../episode-budget.js';
import type { LoopMove, SeenAnswer } from '../episode-loop.js';
import { loadAgentModule } from './load-agent-module.js';
import { ModuleLoop } from './module-loop.js';

const plain = plainPolicyText(createTokenizer('byte', []));
const { tokenizer } = plain;

function loopOf(
  agent: CustomAgent,
  limits: { maxTurns?: number; maxPromptTokens?: number; prompts?: PromptFormat } = {},
): ModuleLoop {
  const { maxTurns = 10, maxPromptTokens = 200, prompts = plain.prompts } = limits;
  return new ModuleLoop({
    ...{ name: 'mine', begin: () => agent, prompts, tools: undefined, maxPromptTokens, maxNewTokens: 8 },
    budget: new EpisodeBudget({ maxTurns, maxEpisodeTokens: null, maxInvalidTurns: null }),
    timeoutMs: 50,
  });
}

const seen = (words: string): SeenAnswer => ({
  observation: { text: words, anchor: null, legalActions: null },
  wasValid: true,
  isOver: false,
});

function turnOf(action: string) {
  const tokenIds = Int32Array.of(...tokenizer.encode(action), tokenizer.endOfTurnTokenId);
  const none = new Float32Array(tokenIds.length);
  const versions = new Int32Array(tokenIds.length);
  return {
    ...{ action, tokenIds, logprobs: none, rawLogprobs: null, entropies: null, policyVersions: versions },
    ...{ logprobMode: 'processed' as const, generationMs: 0 },
  };
}

const user = (content: string) => ({ role: 'user' as const, content });

describe('the loop of a module', () => {
  it('takes several calls of the model in a turn, and continues the context as far as it is the same', async () => {
    const loop = loopOf({
      async act({ observation }, model) {
        const plan = await model.ask([user(observation)], { purpose: 'plan', isTrained: false });
        const last = await model.ask([user(observation), { role: 'assistant', content: plan }, user('act')]);
        return { actions: last.split(',') };
      },
    });
    const first = await loop.observe(seen('a room'));
    expect(first).toMatchObject({ kind: 'ask', purpose: 'plan', isTrained: false });
    const second = await loop.read(turnOf('go out'));
    // "a room", "go out", each with the end of its turn, are kept.
    expect(second).toMatchObject({ kind: 'ask', purpose: null, prompt: { keptPrefixTokens: 14 } });
    expect(second.kind === 'ask' && tokenizer.decode(second.prompt.tokenIds)).toBe('act<end>');
    expect(await loop.read(turnOf('up,left'))).toEqual({
      ...{ kind: 'act', actions: ['up', 'left'], isValid: true, note: null },
    });
  });

  it('keeps the tokens of a call that the model wrote and the agent repeats', async () => {
    const directory = new URL('../../../../../test/golden/chat-templates/tokenizer', import.meta.url);
    const qwen = await loadPolicyText(fileURLToPath(directory));
    const loop = loopOf(
      {
        async act({ observation }, model) {
          const plan = await model.ask([user(observation)]);
          await model.ask([user(observation), { role: 'assistant', content: plan }, user('act')]);
          return { actions: ['go'] };
        },
      },
      { prompts: qwen.prompts },
    );
    const first = await loop.observe(seen('a map'));
    const reply = '<tool_call>\n{"name": "go"}\n</tool_call>';
    const sampled = qwen.tokenizer.encode(`${reply}<|im_end|>`);
    const second = await loop.read({ ...turnOf('x'), action: reply, tokenIds: sampled });
    const numFirst = first.kind === 'ask' ? first.prompt.tokenIds.length : 0;
    expect(second).toMatchObject({ kind: 'ask', prompt: { keptPrefixTokens: numFirst + sampled.length } });
  });

  it.each<[string, CustomAgent['act'], RegExp]>([
    ['throws', () => Promise.reject(new Error('no idea')), /agent mine threw "no idea"/],
    ['decides something else', () => ({ actions: [1] }) as never, /must return a text, or \{ actions \}/],
    ['neither acts nor asks', () => new Promise(() => undefined), /neither acted nor asked within 50 ms/],
    ['asks with no message', (_, model) => model.ask([]), /messages must be a list of at least one/],
    [
      'asks twice at a time',
      async (_, model) => (await Promise.all([model.ask([user('a')]), model.ask([user('b')])]))[0],
      /one at a time/,
    ],
  ])('ends the episode of an agent that %s, and says so', async (_, act, failure) => {
    const loop = loopOf({ act });
    let move: LoopMove = await loop.observe(seen('a'));
    if (move.kind === 'ask') move = await loop.read(turnOf('x'));
    expect(move).toMatchObject({
      kind: 'fail',
      of: 'agent',
      failure: expect.stringMatching(failure) as string,
    });
  });

  it('ends the episode at its limits, and tells the agent that it is over', async () => {
    let refusal = '';
    const act: CustomAgent['act'] = (_, model) =>
      model.ask([user('x'.repeat(300))]).catch((error: unknown) => {
        refusal = (error as Error).message;
        throw error;
      });
    const loop = loopOf({ act });
    expect(await loop.observe(seen('a'))).toMatchObject({
      kind: 'end',
      endDetail: 'context full: the prompt has 301 tokens, and there is room for 200',
    });
    loop.close();
    await new Promise(setImmediate);
    expect(refusal).toBe('the episode has ended');
    const idle = loopOf({ act: () => 'go' }, { maxTurns: 1 });
    expect(await idle.observe(seen('a'))).toMatchObject({ kind: 'act', actions: ['go'] });
    expect(await idle.observe(seen('b'))).toMatchObject({ endDetail: 'turn limit of the agent: 1' });
  });
});

describe('loadAgentModule', () => {
  it('loads an agent, or a function of options that makes one, and refuses anything else', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'retrace-agent-module-'));
    const write = (name: string, source: string) => {
      const path = join(directory, name);
      writeFileSync(path, source);
      return path;
    };
    try {
      const made = write(
        'made.mjs',
        'export default ({ name }) => ({ name, begin: () => ({ act: () => "go" }) });',
      );
      expect((await loadAgentModule(made, { name: 'mine' })).name).toBe('mine');
      const bad = write('bad.mjs', 'export default { name: "mine" };');
      await expect(loadAgentModule(bad)).rejects.toThrow(/its default export is no agent/);
      await expect(loadAgentModule(join(directory, 'none.mjs'))).rejects.toThrow(/not found/);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});
