import type { JsonObject } from '@retrace/client';
import { describe, expect, it } from 'vitest';
import { CHAT_COMPLETIONS } from '../completions/chat-completions.js';
import { COMPLETIONS } from '../completions/completions.js';
import { MESSAGES } from '../messages/messages.js';
import type { Protocol, SamplingDefaults } from '../calls/protocol.js';
import { createResponses } from '../responses/responses.js';
import { knownDefaults, type ModelServerKind } from '../servers/model-servers.js';
import { NEUTRAL_SAMPLING, withNeutralSampling } from './sampling.js';

const MESSAGE = [{ role: 'user', content: 'q' }];
const NEUTRAL = NEUTRAL_SAMPLING as JsonObject;

interface Asked {
  readonly protocol?: Protocol;
  readonly kind?: ModelServerKind;
  readonly defaults?: SamplingDefaults;
  readonly answer?: JsonObject;
}

/** Returns the recorded sampling of a call. */
function recorded(request: JsonObject, asked: Asked = {}) {
  const { protocol = CHAT_COMPLETIONS, kind = 'vllm', defaults = knownDefaults(kind), answer = {} } = asked;
  const call = protocol.open({ messages: MESSAGE, ...request }, defaults);
  const { sampling, statedSampling, untrainable } = call.read({ status: 200, body: answer });
  return { sampling, statedSampling, untrainable };
}

function without(...names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(NEUTRAL).filter(([name]) => !names.includes(name)));
}

const fromModel = (names: string) => `${names} left to the server, which takes them from its model`;

describe('Sampling parameters that a request leaves out', () => {
  it.each<ModelServerKind>(['vllm', 'sglang'])(
    'are unknown before %s, which has them from its model',
    (kind) => {
      expect(recorded({ temperature: 1 }, { kind })).toEqual({
        sampling: null,
        statedSampling: { temperature: 1 },
        untrainable: fromModel('top_p, top_k, min_p, repetition_penalty'),
      });
      expect(recorded({}, { kind })).toMatchObject({
        sampling: null,
        statedSampling: {},
        untrainable: fromModel('temperature, top_p, top_k, min_p, repetition_penalty'),
      });
      expect(recorded({ temperature: 1, top_p: 1 }, { kind }).untrainable).toBe(
        fromModel('top_k, min_p, repetition_penalty'),
      );
      // null is not a value, either.
      expect(recorded({ ...NEUTRAL, top_p: null }, { kind })).toMatchObject({
        sampling: null,
        untrainable: fromModel('top_p'),
      });
    },
  );

  it('are known where all are stated, and where what is unknown can’t change the recorded ones', () => {
    expect(recorded(NEUTRAL)).toEqual({
      sampling: { temperature: 1, topP: 1 },
      statedSampling: undefined,
      untrainable: undefined,
    });
    expect(recorded({ ...NEUTRAL, temperature: 0.7, top_k: 20, top_p: 0.8 }).sampling).toEqual({
      temperature: 0.7,
      topP: 0.8,
      topK: 20,
    });
    expect(recorded(without('repetition_penalty'))).toMatchObject({
      sampling: { temperature: 1, topP: 1 },
      untrainable: fromModel('repetition_penalty'),
    });
    expect(recorded(without('temperature'))).toEqual({
      sampling: null,
      statedSampling: undefined,
      untrainable: undefined,
    });
  });

  it('do not matter to the likeliest token, but for a penalty', () => {
    expect(recorded({ temperature: 0, repetition_penalty: 1 })).toMatchObject({
      sampling: { temperature: 0, greedy: true },
      untrainable: undefined,
    });
    expect(recorded({ temperature: 0 }).untrainable).toBe(fromModel('repetition_penalty'));
  });

  it.each<ModelServerKind>(['openai', 'other'])('are neutral before %s', (kind) => {
    expect(recorded({ temperature: 1 }, { kind })).toMatchObject({
      sampling: { temperature: 1 },
      untrainable: undefined,
    });
    expect(recorded({ temperature: 1 }, { kind }).statedSampling).toBeUndefined();
  });

  it('are those that a server tells', () => {
    expect(recorded({}, { defaults: NEUTRAL_SAMPLING })).toMatchObject({
      sampling: { temperature: 1 },
      untrainable: undefined,
    });
    expect(recorded({ temperature: 0.5 }, { defaults: NEUTRAL_SAMPLING }).sampling).toEqual({
      temperature: 0.5,
    });
  });

  it('are unknown in every API of such a server; a response tells temperature and top_p itself', () => {
    const unknown = { sampling: null, statedSampling: { temperature: 1 } };
    expect(recorded({ prompt: 'q', temperature: 1 }, { protocol: COMPLETIONS })).toMatchObject(unknown);
    expect(recorded({ temperature: 1 }, { protocol: MESSAGES })).toMatchObject(unknown);
    const protocol = createResponses();
    const answer = { temperature: 1, top_p: 0.8 };
    expect(recorded({ input: 'q', temperature: 1 }, { protocol, answer })).toEqual({
      sampling: null,
      statedSampling: { temperature: 1, top_p: 0.8 },
      untrainable: fromModel('top_k, repetition_penalty'),
    });
    expect(recorded({ input: 'q', top_k: -1, repetition_penalty: 1 }, { protocol, answer })).toMatchObject({
      sampling: { temperature: 1, topP: 0.8 },
      untrainable: undefined,
    });
  });

  it('become neutral where they are asked for', () => {
    expect(withNeutralSampling({ temperature: 0.5, top_k: null, n: 1 })).toEqual({
      ...NEUTRAL_SAMPLING,
      temperature: 0.5,
      n: 1,
    });
    expect(withNeutralSampling(NEUTRAL)).toBe(NEUTRAL);
  });
});
