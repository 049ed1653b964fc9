import type { JsonObject } from '@retrace/client';
import { isJsonObject } from '@retrace/trajectory/json';
import { messageOf, unreadableMessageField } from './chat-message-fields.js';
import { ChunksReader } from './chunks-reader.js';
import { errorInStream, errorOfAnswer, wholenessOf, type EngineAnswer } from '../calls/answer.js';
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
import { hasOnlyObjects, listedObjects, objectOf, objectsOf, textOf } from '../json/json-fields.js';
import type { Protocol, ReadRequest, RecordedCall } from '../calls/protocol.js';
import { sampledFields } from '../sampling/sampling.js';

/** Reads OpenAI's chat completions (https://platform.openai.com/docs/api-reference/chat), with vLLM's and SGLang's fields. */
export const CHAT_COMPLETIONS: Protocol = {
  name: 'chat-completions',
  open(body, defaults) {
    const prompt = objectsOf(body.messages).map(messageOf);
    const record = (answer: EngineAnswer) => recordedCall({ asked: body, prompt, defaults }, answer);
    return {
      prompt,
      read: (answer) => record({ ...answer, isCut: false }),
      reader: () => new ChunksReader(record),
    };
  },
};

function recordedCall({ asked, prompt, defaults }: ReadRequest, answer: EngineAnswer): RecordedCall {
  const { status, body } = answer;
  const choices = objectsOf(body.choices);
  const [first, ...others] = choices;
  const usage = completionUsage(body.usage);
  return {
    model: textOf(body.model) ?? textOf(asked.model),
    prompt,
    tools: listedObjects(asked.tools),
    output: choices.length > 0 ? messageOf(objectOf(first.message)) : null,
    otherOutputs: others.map(({ message }) => messageOf(objectOf(message))),
    finishReason: choices.length > 0 ? textOf(first.finish_reason) : null,
    usage,
    ...sampledFields(asked, defaults),
    tokens: choices.length > 0 ? callTokens(promptIdsOf(body), sampledIdsOf(first), logprobsOf(first)) : null,
    weightVersion: weightVersionOf(body),
    responseId: textOf(body.id),
    error: errorOfAnswer(status, body) ?? errorInStream(status, body),
    ...wholenessOf(answer, {
      unreadable: unreadableField(body),
      missing: missingTokens(countTokens(body), usage),
    }),
  };
}

/** The field of an answer that is not as the protocol has it; undefined where there is none. */
function unreadableField(body: JsonObject): string | undefined {
  if (!hasOnlyObjects(body.choices)) return 'choices';
  const choices = objectsOf(body.choices);
  const ids = [body, ...choices].map(unreadableIds).find((name) => name !== undefined);
  if (ids !== undefined || choices.length === 0) return ids;
  const [{ message }] = choices;
  return isJsonObject(message) ? unreadableMessageField(message) : 'message';
}
