import type { ChatMessage, JsonObject, JsonValue } from '@retrace/client';
import { chatMessage } from '@retrace/client/messages';
import { ChunksReader } from './chunks-reader.js';
import { errorOfAnswer, wholenessOf, type EngineAnswer } from '../calls/answer.js';
import { completionUsage } from '../calls/usage.js';
import {
  callTokens,
  countTokens,
  logprobsOf,
  missingTokens,
  promptIdsOf,
  sampledIdsOf,
  unreadableIds,
  weightVersionOf,
} from '../tokens/engine-tokens.js';
import { hasOnlyObjects, objectsOf, textOf } from '../json/json-fields.js';
import type { Protocol, ReadRequest, RecordedCall } from '../calls/protocol.js';
import { sampledFields } from '../sampling/sampling.js';

/**
 * Reads OpenAI's older completions (https://platform.openai.com/docs/api-reference/completions), with vLLM's and SGLang's fields. The
 * prompt is one message of role `user`; a prompt of token ids has no text.
 */
export const COMPLETIONS: Protocol = {
  name: 'completions',
  open(body, defaults) {
    const [text] = [body.prompt].flat() as (JsonValue | undefined)[];
    const prompt = [chatMessage({ role: 'user', content: textOf(text) })];
    const record = (answer: EngineAnswer) => recordedCall({ asked: body, prompt, defaults }, answer);
    return {
      prompt,
      read: (answer) => record({ ...answer, isCut: false }),
      reader: () => new ChunksReader(record),
    };
  },
};

/** Whether a request has several prompts, whose answers are several conversations: such a call is not recorded. */
export function hasSeveralPrompts({ prompt }: JsonObject): boolean {
  return Array.isArray(prompt) && prompt.length > 1 && typeof prompt[0] !== 'number';
}

function recordedCall({ asked, prompt, defaults }: ReadRequest, answer: EngineAnswer): RecordedCall {
  const { status, body } = answer;
  const choices = objectsOf(body.choices);
  const [output = null, ...otherOutputs] = choices.map((choice) => outputOf(asked, prompt, choice));
  const usage = completionUsage(body.usage);
  return {
    model: textOf(body.model) ?? textOf(asked.model),
    prompt,
    tools: null,
    output,
    otherOutputs,
    finishReason: textOf(choices[0]?.finish_reason),
    usage,
    ...sampledFields(asked, defaults),
    tokens:
      choices.length > 0
        ? callTokens(promptIdsOf(body), sampledIdsOf(choices[0]), logprobsOf(choices[0]))
        : null,
    weightVersion: weightVersionOf(body),
    responseId: textOf(body.id),
    error: errorOfAnswer(status, body),
    ...wholenessOf(answer, {
      unreadable: unreadableField(body),
      // Servers differ in whether they count an echoed prompt.
      missing: asked.echo === true ? undefined : missingTokens(countTokens(body), usage),
    }),
  };
}

/** The field of an answer that is not as the protocol has it; undefined where there is none. */
function unreadableField(body: JsonObject): string | undefined {
  if (!hasOnlyObjects(body.choices)) return 'choices';
  const choices = objectsOf(body.choices);
  const ids = [body, ...choices].map(unreadableIds).find((name) => name !== undefined);
  if (ids !== undefined || choices.length === 0) return ids;
  return typeof choices[0].text === 'string' ? undefined : 'text';
}

function outputOf(asked: JsonObject, prompt: readonly ChatMessage[], { text }: JsonObject): ChatMessage {
  const [{ content }] = prompt;
  const answered = textOf(text) ?? '';
  // With `echo` the answer begins with the prompt.
  const isEcho = asked.echo === true && typeof content === 'string' && answered.startsWith(content);
  return chatMessage({ role: 'assistant', content: isEcho ? answered.slice(content.length) : answered });
}
