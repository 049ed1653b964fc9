import type { GeneratedTokens, GenerationRequest, ScoredTokens } from '@retrace/chat';
import type { TokenEngine } from '@retrace/endpoints';
import { getEnvironment } from '@retrace/environments';
import { buildWordTokenizer, plainPolicyText } from '@retrace/policy';
import { describe, expect, it } from 'vitest';
import type { FinishedAct } from '../turn/actor.js';
import { EndpointActor, servedName, type ServedPolicy } from './endpoint-actor.js';

const text = plainPolicyText(buildWordTokenizer(['go', 'left', 'right', 'look']));
const idsOf = (words: string) => Int32Array.from(text.tokenizer.encode(words));
const stop = text.tokenizer.endOfTurnTokenId;

/** An engine whose answers the test gives. */
class PlayedEngine implements TokenEngine {
  readonly requests: GenerationRequest[] = [];
  private readonly answers: ((answer: GeneratedTokens | Error) => void)[] = [];

  describe(): Promise<string> {
    return Promise.resolve('played');
  }

  likeliest(): Promise<ReadonlyMap<string, number>> {
    return Promise.reject(new Error('is not asked for'));
  }

  score(): Promise<ScoredTokens> {
    return Promise.reject(new Error('is not asked for'));
  }

  generate(request: GenerationRequest, signal?: AbortSignal): Promise<GeneratedTokens> {
    this.requests.push(request);
    return new Promise((resolve, reject) => {
      signal?.addEventListener('abort', () => {
        reject(new Error('aborted'));
      });
      this.answers.push((answer) => {
        if (answer instanceof Error) reject(answer);
        else resolve(answer);
      });
    });
  }

  answer(n: number, answer: Partial<GeneratedTokens> | Error): void {
    const tokenIds = Int32Array.of(idsOf('left')[0], stop);
    const logprobs = Float32Array.of(-0.5, -0.25);
    const whole = { tokenIds, logprobs, versions: null, stopReason: 'stopToken' as const };
    this.answers[n](answer instanceof Error ? answer : { ...whole, ...answer });
  }
}

function open(served: () => ServedPolicy = () => ({ policyVersion: 3, model: servedName('run', 3) })) {
  const engine = new PlayedEngine();
  const actor = new EndpointActor({
    sampler: {
      sample: async (_slot, request, ended) => {
        const { policyVersion, model } = served();
        const generated = await engine.generate({ ...request, model }, ended);
        return { generated, policyVersion, logprobMode: 'processed' };
      },
      release: () => undefined,
    },
    text,
    maxTokens: 64,
    sampling: { temperature: 0.7, topK: 0, topP: 1, greedy: false, maxNewTokens: 8 },
    signal: new AbortController().signal,
  });
  const ask = (slot: number, words: string, keptPrefixTokens = 0) => {
    const observation = { text: words, anchor: null, legalActions: null };
    actor.request({
      slot,
      environment: getEnvironment('frozen-lake').create(),
      observation,
      prompt: { observation, tokenIds: idsOf(words), keptPrefixTokens },
      messages: [{ role: 'user', content: observation.text }],
      purpose: null,
      samplingSeed: 1,
      greedy: false,
    });
  };
  return { engine, actor, ask };
}

function turnIn(act: FinishedAct) {
  if ('failure' in act) throw new Error(act.failure.reason);
  return act.turn;
}

describe('EndpointActor', () => {
  it('sends the whole context as tokens, and stores the sampled ones as they came', async () => {
    const { engine, actor, ask } = open();
    ask(0, 'look');
    engine.answer(0, {});
    const [first] = await actor.step();
    expect(turnIn(first)).toMatchObject({ action: 'left', logprobMode: 'processed', rawLogprobs: null });
    expect([...turnIn(first).tokenIds]).toEqual([...idsOf('left'), stop]);
    expect([...turnIn(first).logprobs]).toEqual([-0.5, -0.25]);
    expect([...turnIn(first).policyVersions]).toEqual([3, 3]);

    const numTokens = idsOf('look').length + 2;
    ask(0, 'go right', numTokens);
    expect([...(engine.requests[1].tokenIds as Int32Array)]).toEqual([
      ...idsOf('look'),
      ...idsOf('left'),
      stop,
      ...idsOf('go right'),
    ]);
    expect(engine.requests[1]).toMatchObject({
      model: 'retrace-run-3',
      temperature: 0.7,
      stopTokenIds: [stop],
    });
    // A kept prefix that is shorter cuts the context.
    engine.answer(1, {});
    await actor.step();
    ask(0, 'look', idsOf('look').length);
    expect([...(engine.requests[2].tokenIds as Int32Array)]).toEqual([...idsOf('look'), ...idsOf('look')]);
  });

  it('returns each answer as it comes, whichever request is first', async () => {
    const { engine, actor, ask } = open();
    ask(0, 'look');
    ask(1, 'go');
    expect(actor.numPending).toBe(2);
    engine.answer(1, {});
    expect((await actor.step()).map(({ slot }) => slot)).toEqual([1]);
    const later = actor.step();
    engine.answer(0, {});
    expect((await later).map(({ slot }) => slot)).toEqual([0]);
    expect(actor.numPending).toBe(0);
  });

  it('gives each token the version that the server names, and −1 where that is none of ours', async () => {
    const { engine, actor, ask } = open();
    ask(0, 'look');
    engine.answer(0, {
      tokenIds: Int32Array.of(3, 4, 5),
      logprobs: Float32Array.of(-1, -1, -1),
      versions: [
        { version: servedName('run', 3), start: 0, end: 1 },
        { version: servedName('run', 4), start: 1, end: 2 },
        { version: 'default', start: 2, end: 3 },
      ],
      stopReason: 'length',
    });
    expect([...turnIn((await actor.step())[0]).policyVersions]).toEqual([3, 4, -1]);
  });

  it('keeps the version that a turn began with while a newer one is served', async () => {
    let policyVersion = 3;
    const { engine, actor, ask } = open(() => ({ policyVersion, model: servedName('run', policyVersion) }));
    ask(0, 'look');
    policyVersion = 4;
    ask(1, 'look');
    engine.answer(0, {});
    engine.answer(1, {});
    const acts = await actor.step();
    const others = acts.length === 2 ? [] : await actor.step();
    const versions = [...acts, ...others].map((act) => turnIn(act).policyVersions[0]);
    expect(versions).toEqual([3, 4]);
    expect(engine.requests.map(({ model }) => model)).toEqual(['retrace-run-3', 'retrace-run-4']);
  });

  it('reports a turn that the server does not give, and forgets one whose episode has ended', async () => {
    const { engine, actor, ask } = open();
    ask(0, 'look');
    ask(1, 'look');
    actor.release(1);
    engine.answer(0, new Error('HTTP 500'));
    expect(await actor.step()).toEqual([{ slot: 0, failure: { of: 'model', reason: 'HTTP 500' } }]);
    expect(actor.numPending).toBe(0);
  });
});
