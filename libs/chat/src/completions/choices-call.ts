import type { ChatMessage, JsonObject } from '@retrace/client';
import { ChunksReader } from './chunks-reader.js';
import { describeWholeness, type EngineAnswer } from '../calls/answer.js';
import { completionUsage } from '../calls/usage.js';
import {
  callTokens,
  countTokens,
  readLogprobs,
  missingTokens,
  readPromptIds,
  readSampledIds,
  unreadableIds,
  readWeightVersion,
} from '../tokens/engine-tokens.js';
import { hasOnlyObjects, asObjects, asText } from '../json/json-fields.js';
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
  const choices = asObjects(body.choices);
  const [first] = choices;
  const [output = null, ...otherOutputs] = choices.map(form.outputOf);
  const usage = completionUsage(body.usage);
  return {
    model: asText(body.model) ?? asText(asked.model),
    prompt,
    tools: form.tools,
    output,
    otherOutputs,
    finishReason: asText(first?.finish_reason),
    usage,
    ...sampledFields(asked, defaults),
    tokens:
      choices.length > 0 ? callTokens(readPromptIds(body), readSampledIds(first), readLogprobs(first)) : null,
    weightVersion: readWeightVersion(body),
    responseId: asText(body.id),
    error: form.errorOf(status, body),
    ...describeWholeness(answer, {
      unreadable: unreadableField(body, form),
      missing: form.comparesCounts ? missingTokens(countTokens(body), usage) : undefined,
    }),
  };
}

function unreadableField(body: JsonObject, form: ChoicesForm): string | undefined {
  if (!hasOnlyObjects(body.choices)) return 'choices';
  const choices = asObjects(body.choices);
  const ids = [body, ...choices].map(unreadableIds).find((name) => name !== undefined);
  return ids !== undefined || choices.length === 0 ? ids : form.unreadableField(choices[0]);
}
