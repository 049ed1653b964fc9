import type { ChatMessage, JsonObject } from '@retrace/client';
import { ChunksReader } from './chunks-reader.js';
import { wholenessOf, type EngineAnswer } from '../calls/answer.js';
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
import type { OpenCall, ReadRequest, RecordedCall } from '../calls/protocol.js';
import { sampledFields } from '../sampling/sampling.js';

/** Parts of an answer of choices in which chat completions and completions differ. */
interface ChoicesForm {
  readonly tools: RecordedCall['tools'];
  readonly outputOf: (choice: JsonObject) => ChatMessage;
  /** The field of the first choice that is not as the protocol has it; undefined where there is none. */
  readonly unreadableField: (choice: JsonObject) => string | undefined;
  readonly errorOf: (status: number, body: JsonObject) => RecordedCall['error'];
  /** Whether token ids are compared with the usage: servers differ in whether they count an echoed prompt. */
  readonly comparesCounts: boolean;
}

/** Opens a call whose answer is a list of choices, as a whole or in chunks. */
export function openChoicesCall(request: ReadRequest, form: ChoicesForm): OpenCall {
  const record = (answer: EngineAnswer) => recordedCall(request, form, answer);
  return {
    prompt: request.prompt,
    read: (answer) => record({ ...answer, isCut: false }),
    reader: () => new ChunksReader(record),
  };
}

function recordedCall(
  { asked, prompt, defaults }: ReadRequest,
  form: ChoicesForm,
  answer: EngineAnswer,
): RecordedCall {
  const { status, body } = answer;
  const choices = objectsOf(body.choices);
  const [first] = choices;
  const [output = null, ...otherOutputs] = choices.map(form.outputOf);
  const usage = completionUsage(body.usage);
  return {
    model: textOf(body.model) ?? textOf(asked.model),
    prompt,
    tools: form.tools,
    output,
    otherOutputs,
    finishReason: textOf(first?.finish_reason),
    usage,
    ...sampledFields(asked, defaults),
    tokens: choices.length > 0 ? callTokens(promptIdsOf(body), sampledIdsOf(first), logprobsOf(first)) : null,
    weightVersion: weightVersionOf(body),
    responseId: textOf(body.id),
    error: form.errorOf(status, body),
    ...wholenessOf(answer, {
      unreadable: unreadableField(body, form),
      missing: form.comparesCounts ? missingTokens(countTokens(body), usage) : undefined,
    }),
  };
}

function unreadableField(body: JsonObject, form: ChoicesForm): string | undefined {
  if (!hasOnlyObjects(body.choices)) return 'choices';
  const choices = objectsOf(body.choices);
  const ids = [body, ...choices].map(unreadableIds).find((name) => name !== undefined);
  return ids !== undefined || choices.length === 0 ? ids : form.unreadableField(choices[0]);
}
