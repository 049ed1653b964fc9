import { fileURLToPath } from 'node:url';
import { parseRecipe, resolveRecipe, type Recipe } from '@retrace/config';
import { createTokenizer, loadPolicyText, plainPolicyText, type PromptFormat } from '@retrace/policy';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Turn } from '../../turn/turn.js';
import type { AskMove, EpisodeLoop, LoopMove, SeenAnswer } from '../episode-loop.js';
import { openLoop } from '../open-loop.js';

type AgentSection = NonNullable<Recipe['agent']>;

const text = plainPolicyText(createTokenizer('byte', []));
const { tokenizer } = text;
const MAX_NEW_TOKENS = 20;
/** The text side of a model with Qwen3's template and its tokens that are not special. */
const QWEN = fileURLToPath(new URL('../../../../../test/golden/chat-templates/tokenizer', import.meta.url));

async function begin(
  agent: AgentSection,
  { maxPositions = 2000, prompts = text.prompts }: { maxPositions?: number; prompts?: PromptFormat } = {},
): Promise<EpisodeLoop> {
  const isFull = agent.history?.policy === 'full';
  const base = resolveRecipe('frozen-lake-grpo', {
    assignments: [
      `model.maxPositions=${maxPositions}`,
      'context.tokenizer=byte',
      `context.window=${isFull ? 'history' : 'observation'}`,
      `context.maxNewTokens=${MAX_NEW_TOKENS}`,
    ],
  });
  const { begin: beginLoop } = await openLoop(parseRecipe({ ...base, agent }));
  return beginLoop({ prompts, maxTokens: maxPositions, task: null, maxSteps: 50 });
}

function seen(words: string, change: Partial<SeenAnswer> = {}): SeenAnswer {
  const observation = { text: words, anchor: null, legalActions: ['go', 'stay', 'help'] };
  return { observation, wasValid: true, isOver: false, ...change };
}

function turnOf(action: string): Turn {
  const tokenIds = Int32Array.of(...tokenizer.encode(action), tokenizer.endOfTurnTokenId);
  const zeros = new Float32Array(tokenIds.length);
  return {
    ...{ action, tokenIds, logprobs: zeros, rawLogprobs: null, entropies: null },
    policyVersions: new Int32Array(tokenIds.length),
    logprobMode: 'processed',
    generationMs: 0,
  };
}

async function asked(move: LoopMove | Promise<LoopMove>): Promise<AskMove> {
  const made = await move;
  if (made.kind !== 'ask') throw new Error(`the loop did not ask: ${JSON.stringify(made)}`);
  return made;
}

const sent = ({ prompt }: AskMove) => tokenizer.decode(prompt.tokenIds, { skipSpecialTokens: true });

/** Shows the observations, answers each with `go 1`, `go 2` …, and returns the prompts. */
async function converse(loop: EpisodeLoop, observations: readonly string[]): Promise<AskMove[]> {
  const asks: AskMove[] = [];
  for (const [i, observation] of observations.entries()) {
    asks.push(await asked(loop.observe(seen(observation))));
    await loop.read(turnOf(`go ${i + 1}`));
  }
  return asks;
}

const SHORT = {
  showLegalActions: false,
  userTemplate: '{{ problem }}{{ observation }}',
  firstUserTemplate: '{{ observation }}',
};
const PAST =
  '{{ problem }}{{ step_count }}:{% for turn in history %}[{{ turn.number }} {{ turn.observation }} {{ turn.action }}]{% endfor %}>{{ observation }}';

describe('the loop of the section agent', () => {
  it('writes the last turns into one fresh message, without the action help', async () => {
    const loop = await begin({ history: { policy: 'last', length: 2 }, taskMarker: 'task is: ' });
    const [first, , , fourth] = await converse(loop, ['A room. Your task is: tidy\nDoors.', 'b', 'c', 'd']);
    expect(sent(first)).toBe("A room. Your task is: tidy\nDoors.\n\nPossible actions: ['go', 'stay']");
    expect(fourth.prompt.keptPrefixTokens).toBe(0);
    expect(fourth.messages).toHaveLength(1);
    expect(sent(fourth)).toBe(
      `Task: tidy
Steps so far: 3.

The last 2, each with what you saw and did:
[Observation 2: 'b', Action 2: 'go 2']
[Observation 3: 'c', Action 3: 'go 3']

Step 4. You see: d

Possible actions: ['go', 'stay']`,
    );
  });

  it('keeps all of a full conversation as it was sampled', async () => {
    const loop = await begin({ ...SHORT, history: { policy: 'full' }, systemTemplate: 'Walk.' });
    const [first, second, third] = await converse(loop, ['aa', 'b', 'c']);
    expect(sent(first)).toBe('Walk.aa');
    expect(second.prompt.keptPrefixTokens).toBe(
      first.prompt.tokenIds.length + turnOf('go 1').tokenIds.length,
    );
    expect([sent(second), sent(third)]).toEqual(['b', 'c']);
    expect(third.messages.map(({ role, content }) => `${role}: ${content}`)).toEqual([
      ...['system: Walk.', 'user: aa', 'assistant: go 1', 'user: b', 'assistant: go 2', 'user: c'],
    ]);
  });

  it('keeps of a conversation without thoughts what comes before the first thought', async () => {
    const loop = await begin({
      ...{ ...SHORT, format: 'react', strict: false },
      history: { policy: 'full', keepThoughts: false },
    });
    const first = await asked(loop.observe(seen('aa')));
    await loop.read(turnOf('Thought: well\nAction: go'));
    const second = await asked(loop.observe(seen('b')));
    // "Thought: " is the same in both, and the thought that follows is not.
    expect(second.prompt.keptPrefixTokens).toBe(first.prompt.tokenIds.length + 'Thought: '.length);
    expect(sent(second)).toBe('\nAction: gob');
  });

  it('gives a conversation without thoughts the tokens that the model wrote and gets when served', async () => {
    const { prompts, tokenizer: qwen } = await loadPolicyText(QWEN);
    const loop = await begin(
      {
        ...SHORT,
        ...{ format: 'tool-call', history: { policy: 'full', keepThoughts: false } },
      },
      { prompts },
    );
    const reply = '<tool_call>\n{"name":"act","arguments":{"action":"go"}}\n</tool_call>';
    const first = await asked(loop.observe(seen('a map')));
    const sampled = [...qwen.encode(`${reply}<|im_end|>`)];
    await loop.read({ ...turnOf('x'), action: reply, tokenIds: Int32Array.from(sampled) });
    const second = await asked(loop.observe(seen('<tool_call> a wall')));
    const shown = [
      { role: 'user', content: 'a map' },
      { role: 'assistant', content: reply },
    ];
    const served = prompts.conversation([...shown, { role: 'user', content: '<tool_call> a wall' }]);
    const kept = [...first.prompt.tokenIds, ...sampled].slice(0, second.prompt.keptPrefixTokens);
    expect([...kept, ...second.prompt.tokenIds]).toEqual([...served]);
    const [opening] = qwen.encode('<tool_call>');
    expect(served.filter((id) => id === opening)).toHaveLength(1);
  });

  it('lets the model sum up the turns that no longer are shown, untrained', async () => {
    const loop = await begin({
      history: { policy: 'summary', length: 2 },
      showLegalActions: false,
      userTemplate: `<{{ summary }}>${PAST}`,
      summaryTemplate: `sum up <{{ summary }}>${PAST}`,
    });
    await converse(loop, ['a', 'b']);
    const summary = await asked(loop.observe(seen('c')));
    expect([summary.purpose, summary.isTrained]).toEqual(['summary', false]);
    expect(sent(summary)).toBe('sum up <>2:[1 a go 1][2 b go 2]>c');
    const third = await asked(loop.read(turnOf('doors are locked')));
    expect([third.purpose, third.isTrained]).toEqual([null, true]);
    expect(sent(third)).toBe('<doors are locked>2:>c');
  });

  it('tells of a turn that broke the format, loses it where there is nothing to carry out, and ends after several', async () => {
    const loop = await begin({ ...SHORT, format: 'react', invalidAction: { endAfter: 2 } });
    await asked(loop.observe(seen('a')));
    const act = await loop.read(turnOf('no label'));
    expect(act).toMatchObject({ kind: 'act', actions: [], isValid: false });
    const problem = 'Your answer has no line "Action: <one action>".';
    expect(act).toMatchObject({ note: { problem } });
    expect(sent(await asked(loop.observe(seen('a', { wasValid: false }))))).toBe(`${problem}a`);
    await loop.read(turnOf('no label'));
    expect(await loop.observe(seen('a', { wasValid: false }))).toMatchObject({
      kind: 'end',
      endDetail: '2 invalid turns in a row',
    });
  });

  it('does not tell, nor carry out what a lenient format found, where the recipe says so', async () => {
    const format = { format: 'think-action', strict: false };
    for (const execute of [true, false]) {
      const loop = await begin({ ...SHORT, ...format, invalidAction: { execute, tell: false } });
      await asked(loop.observe(seen('a')));
      const act = await loop.read(turnOf('<action>go</action>'));
      expect(act).toMatchObject({ kind: 'act', isValid: false, actions: execute ? ['go'] : [] });
      expect(sent(await asked(loop.observe(seen('b', { wasValid: false }))))).toBe('b');
    }
  });

  it('ends an episode at its limit of turns, and after the environment', async () => {
    const loop = await begin({ ...SHORT, maxTurns: 1 });
    await converse(loop, ['a']);
    expect(await loop.observe(seen('b'))).toMatchObject({
      kind: 'end',
      endDetail: 'turn limit of the agent: 1',
    });
    const other = await begin(SHORT);
    await converse(other, ['a']);
    const end = await other.observe(seen('over', { isOver: true }));
    expect(end).toMatchObject({ kind: 'end', endDetail: '' });
    expect(end.kind === 'end' && tokenizer.decode(end.final.tokenIds, { skipSpecialTokens: true })).toBe(
      'over',
    );
  });

  it.each([
    ['cutObservationStart', 'fghij', 5],
    ['cutObservationEnd', 'abcde', 5],
  ] as const)(
    '%s leaves as much of a long observation as fits',
    async (truncation, left, numCutCharacters) => {
      // Five letters and the end of the message.
      const loop = await begin({ ...SHORT, truncation, maxPromptTokens: 6 });
      expect(sent(await asked(loop.observe(seen('abcdefghij'))))).toBe(left);
      expect(await loop.read(turnOf('go'))).toMatchObject({ note: { numCutCharacters } });
    },
  );

  it('drops the oldest turns of a message that is too long, or ends the episode', async () => {
    const past = { ...SHORT, userTemplate: PAST, history: { policy: 'last', length: 3 } } as const;
    const loop = await begin({ ...past, maxPromptTokens: 20 });
    const asks = await converse(loop, ['a', 'b', 'c', 'd']);
    expect(asks.map(sent)).toEqual(['a', '1:[1 a go 1]>b', '2:[2 b go 2]>c', '3:[3 c go 3]>d']);
    const strict = await begin({ ...past, maxPromptTokens: 20, truncation: 'endEpisode' });
    await converse(strict, ['a', 'b']);
    expect(await strict.observe(seen('c'))).toMatchObject({
      kind: 'end',
      endDetail: 'context full: the prompt has 25 tokens, and there is room for 20',
    });
  });

  it('begins a full conversation again with its first message and the newest turns', async () => {
    const loop = await begin({ ...SHORT, history: { policy: 'full' }, maxPromptTokens: 40 });
    const asks = await converse(loop, ['task', ...'bcdefgh'.split('')]);
    const restart = asks.findIndex(({ prompt }, i) => i > 0 && prompt.keptPrefixTokens === 0);
    expect(restart).toBe(6);
    expect(sent(asks[restart])).toBe('task\n\nfgo 6g');
    expect(asks[restart].messages.map(({ content }) => content)).toEqual(['task\n\nf', 'go 6', 'g']);
    expect(asks[restart + 1].prompt.keptPrefixTokens).toBeGreaterThan(0);
  });

  const history = fc.constantFrom<AgentSection['history']>(
    { policy: 'observation' },
    { policy: 'last', length: 2 },
    { policy: 'full' },
    { policy: 'full', keepThoughts: false },
    { policy: 'summary', length: 2 },
  );
  const truncation = fc.constantFrom(
    ...(['endEpisode', 'dropHistory', 'cutObservationStart', 'cutObservationEnd'] as const),
  );

  it('never exceeds its budgets, and keeps only what is in the context', async () => {
    await fc.assert(
      fc.asyncProperty(
        history,
        truncation,
        fc.array(fc.string({ unit: 'grapheme', maxLength: 60 }), { minLength: 1, maxLength: 8 }),
        fc.array(fc.string({ maxLength: 15 }), { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 40, max: 200 }),
        fc.integer({ min: 60, max: 500 }),
        async (policy, cut, observations, replies, maxPromptTokens, maxEpisodeTokens) => {
          const texts = { ...SHORT, userTemplate: PAST, summaryTemplate: PAST };
          const limits = { ...texts, maxPromptTokens, maxEpisodeTokens, truncation: cut };
          const loop = await begin({ ...limits, history: policy, format: 'react', strict: false });
          let context: number[] = [];
          let numTokens = 0;
          for (const [i, observation] of observations.entries()) {
            let move = await loop.observe(seen(observation));
            for (let call = 0; move.kind === 'ask'; call++) {
              const { tokenIds, keptPrefixTokens } = move.prompt;
              expect(keptPrefixTokens).toBeLessThanOrEqual(context.length);
              expect(tokenIds.length).toBeGreaterThan(0);
              context = [...context.slice(0, keptPrefixTokens), ...tokenIds];
              expect(context.length).toBeLessThanOrEqual(maxPromptTokens);
              const turn = turnOf(replies[(i + call) % replies.length]);
              context.push(...turn.tokenIds);
              numTokens += tokenIds.length + turn.tokenIds.length;
              move = await loop.read({ ...turn, tokenIds: turn.tokenIds.slice(0, MAX_NEW_TOKENS) });
            }
            expect(numTokens).toBeLessThanOrEqual(maxEpisodeTokens);
            if (move.kind === 'end') {
              expect(move.endDetail).not.toBe('');
              expect(move.final.keptPrefixTokens + move.final.tokenIds.length).toBeLessThanOrEqual(
                maxPromptTokens,
              );
              break;
            }
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});
