import { readFileSync } from 'node:fs';
import {
  CHAT_COMPLETIONS,
  COMPLETIONS,
  createResponses,
  type ModelServerKind,
  type Protocol,
} from '@retrace/chat';
import type { JsonObject } from '@retrace/client';
import { describe, expect, it } from 'vitest';
import { prepareCall } from './prepared-call.js';

const ASKED: JsonObject = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };

function prepare(protocol: Protocol, body: JsonObject, upstream: ModelServerKind) {
  return prepareCall(protocol, { body, upstream, defaults: {} });
}

describe('A call of chat completions or completions', () => {
  it('asks for nothing that the request asks for itself, and of other servers for nothing at all', () => {
    const asking = { ...ASKED, logprobs: true, top_logprobs: 2, return_token_ids: true };
    expect(prepare(CHAT_COMPLETIONS, asking, 'vllm')).toMatchObject({ body: asking, hides: false });
    expect(prepare(CHAT_COMPLETIONS, ASKED, 'other').body).toBe(ASKED);
    expect(prepare(CHAT_COMPLETIONS, { ...ASKED, stream: true }, 'openai').body).toEqual({
      ...ASKED,
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  const STREAMED = { ...ASKED, stream: true };
  const USAGE = { stream_options: { include_usage: true } };
  it.each<{ readonly kind: ModelServerKind; readonly added: JsonObject }>([
    { kind: 'vllm', added: { return_token_ids: true, ...USAGE } },
    { kind: 'sglang', added: { return_token_ids: true, return_prompt_token_ids: true, ...USAGE } },
  ])('asks $kind for ids, log-probabilities and usage', ({ kind, added }) => {
    expect(prepare(CHAT_COMPLETIONS, STREAMED, kind).body).toEqual({ ...STREAMED, ...added, logprobs: true });
    expect(prepare(COMPLETIONS, STREAMED, kind).body).toEqual({ ...STREAMED, ...added, logprobs: 0 });
  });

  it.each<{ readonly kind: ModelServerKind; readonly added: JsonObject }>([
    { kind: 'openai', added: USAGE },
    { kind: 'anthropic', added: {} },
    { kind: 'other', added: {} },
  ])('asks $kind for no tokens', ({ kind, added }) => {
    for (const protocol of [CHAT_COMPLETIONS, COMPLETIONS])
      expect(prepare(protocol, STREAMED, kind).body).toEqual({ ...STREAMED, ...added });
  });

  const IDS = { prompt_token_ids: [1], token_ids: [2] };
  const NO_IDS = { prompt_token_ids: null, token_ids: null };
  const [NO_PROMPT, NO_SAMPLED] = [
    { ...IDS, prompt_token_ids: null },
    { ...IDS, token_ids: null },
  ];
  interface Hiding {
    readonly kind: ModelServerKind;
    readonly protocol: Protocol;
    readonly flags: JsonObject;
    readonly shown: JsonObject;
  }
  const [CHAT, TEXT] = [{ protocol: CHAT_COMPLETIONS }, { protocol: COMPLETIONS }];
  it.each<Hiding>([
    { kind: 'vllm', ...CHAT, flags: {}, shown: NO_IDS },
    { kind: 'vllm', ...CHAT, flags: { return_token_ids: true }, shown: IDS },
    { kind: 'sglang', ...CHAT, flags: {}, shown: NO_IDS },
    { kind: 'sglang', ...CHAT, flags: { return_token_ids: true }, shown: NO_PROMPT },
    { kind: 'sglang', ...CHAT, flags: { return_prompt_token_ids: true }, shown: NO_SAMPLED },
    // There this flag alone brings both.
    { kind: 'sglang', ...TEXT, flags: { return_token_ids: true }, shown: IDS },
  ])('of $kind hides ids that its client did not ask for: $protocol.name, $flags', (hiding) => {
    const { kind, protocol, flags, shown } = hiding;
    const prepared = prepare(protocol, { ...STREAMED, ...flags }, kind);
    expect(prepared.hide({ choices: [{ ...IDS, response_token_ids: [2] }] }).choices).toMatchObject([shown]);
    const event = { event: null, data: JSON.stringify({ choices: [IDS] }) };
    const [{ data }] = prepared.hideEvent(event);
    expect(JSON.parse(data)).toEqual({ choices: [shown] });
  });

  it('that echoes its prompt is asked for no tokens', () => {
    const call = prepare(COMPLETIONS, { prompt: 'Once', echo: true, temperature: 0 }, 'vllm');
    expect(call.hides).toBe(false);
  });
});

describe('a response of vLLM', () => {
  interface Recorded {
    readonly answer: JsonObject;
    readonly events: readonly JsonObject[];
  }
  /** Real answers, without and with the fields that ask for tokens. */
  const { request, plain, asked } = JSON.parse(
    readFileSync(new URL('vllm-responses.fixture.json', import.meta.url), 'utf8'),
  ) as { readonly request: JsonObject; readonly plain: Recorded; readonly asked: Recorded };
  const eventOf = (event: JsonObject) => ({ event: null, data: JSON.stringify(event) });

  it('is asked for tokens, and shown as if it had not been', () => {
    const prepared = prepare(createResponses(), request, 'vllm');
    expect(prepared.body).toEqual({
      ...request,
      enable_response_messages: true,
      include: ['message.output_text.logprobs'],
    });
    expect(prepared.hide(asked.answer)).toEqual(plain.answer);
    const shown = asked.events.map((event) => prepared.hideEvent(eventOf(event))[0]);
    expect(shown.map((event) => JSON.parse(event!.data) as unknown)).toEqual(plain.events);
  });

  it.each([{ stream: false }, { stream: true }])(
    'has its tokens in the record (stream: $stream)',
    ({ stream }) => {
      const prepared = prepare(createResponses(), { ...request, stream }, 'vllm');
      const reader = prepared.reader();
      for (const event of asked.events) reader.add(eventOf(event));
      const call = stream ? reader.finish(true) : prepared.read({ status: 200, body: asked.answer });
      const ids = (name: string) => (asked.answer[name] as readonly JsonObject[])[0].tokens;
      expect(call).toMatchObject({
        tokens: { promptIds: ids('input_messages'), sampledIds: ids('output_messages') },
        sampling: { temperature: 0, greedy: true, topP: 1, maxNewTokens: 3 },
        finishReason: 'max_output_tokens',
        isCut: false,
      });
      const text = asked.events.flatMap(({ type, logprobs }) =>
        type === 'response.output_text.delta' ? (logprobs as readonly { logprob: number }[]) : [],
      );
      expect(call.tokens?.logprobs).toEqual(text.map(({ logprob }) => logprob));
    },
  );

  it('that shows more tokens than its text has log-probabilities for has none of these', () => {
    const [message] = asked.answer.output_messages as readonly JsonObject[];
    const longer = [{ ...message, tokens: [...(message.tokens as number[]), 2] }];
    const body = { ...asked.answer, output_messages: longer };
    const { tokens } = prepare(createResponses(), request, 'vllm').read({ status: 200, body });
    expect(tokens).toMatchObject({ sampledIds: longer[0].tokens, logprobs: null });
  });

  it('keeps what its client asked for itself', () => {
    const body = { ...request, enable_response_messages: true, include: ['message.output_text.logprobs'] };
    const prepared = prepare(createResponses(), body, 'vllm');
    expect(prepared).toMatchObject({ body, hides: false });
    expect(prepared.hide(asked.answer)).toBe(asked.answer);
  });
});
