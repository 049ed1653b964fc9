import type { JsonObject, JsonValue } from '@retrace/client';
import { REASONING_FIELDS } from '@retrace/client/messages';
import { isJsonObject } from '@retrace/trajectory/json';
import { unreadableMessageField } from './chat-message-fields.js';
import { readLogprobs, readSampledIds, unreadableIds } from '../tokens/engine-tokens.js';
import { asObject, asObjects, asText } from '../json/json-fields.js';
import { ToolCallsDraft } from './tool-calls-draft.js';

/** Fields of a message that a stream brings in pieces: texts, or lists of parts. */
const GROWING_FIELDS = ['content', 'refusal', ...REASONING_FIELDS] as const;

/** One choice of a streamed answer, which grows by chunks, and is a choice of a whole answer in the end. */
export class ChoiceDraft {
  private readonly texts: string[] = [];
  private readonly fields = new Map<string, JsonValue[]>();
  private readonly calls = new ToolCallsDraft();
  private readonly functionCall = new ToolCallsDraft();
  private finishReason: string | null = null;
  private sampledIds: number[] | null = null;
  private logprobs: (number | null)[] | null = null;

  constructor(readonly index: number) {}

  /** Whether a tool is called of which no event told the name. */
  get hasNamelessCall(): boolean {
    return this.calls.hasNameless || this.functionCall.hasNameless;
  }

  /** @returns whether all of the chunk could be read; if not, nothing of it is added */
  add(choice: JsonObject): boolean {
    if (!isReadable(choice)) return false;
    const delta = asObject(choice.delta);
    if (typeof choice.text === 'string') this.texts.push(choice.text);
    for (const name of GROWING_FIELDS) {
      const piece = delta[name];
      if (piece == null || piece === '') continue;
      const pieces = this.fields.get(name);
      if (pieces) pieces.push(piece);
      else this.fields.set(name, [piece]);
    }
    this.calls.add(asObjects(delta.tool_calls));
    if (isJsonObject(delta.function_call))
      this.functionCall.add([{ index: 0, function: delta.function_call }]);
    this.finishReason = asText(choice.finish_reason) ?? this.finishReason;
    const ids = readSampledIds(choice);
    if (ids !== null) (this.sampledIds ??= []).push(...ids);
    const logprobs = readLogprobs(choice);
    if (logprobs !== null) (this.logprobs ??= []).push(...logprobs);
    return true;
  }

  /** The choice as a whole answer has it. `text` is of completions, `message` of chat completions. */
  finish(): JsonObject {
    const toolCalls = this.calls.finish();
    const [functionCall] = this.functionCall.finish();
    return {
      index: this.index,
      text: this.texts.join(''),
      message: {
        role: 'assistant',
        content: null,
        ...Object.fromEntries([...this.fields].map(([name, pieces]) => [name, joined(pieces)])),
        ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
        ...(functionCall !== undefined && { function_call: functionCall.function }),
      },
      finish_reason: this.finishReason,
      token_ids: this.sampledIds,
      logprobs: this.logprobs && { token_logprobs: this.logprobs },
    };
  }
}

/** Whether what this draft reads of a chunk has the types that it has by the protocol. */
function isReadable(choice: JsonObject): boolean {
  const { text, delta = null } = choice;
  if (delta !== null && !isJsonObject(delta)) return false;
  return (
    (text == null || typeof text === 'string') &&
    unreadableMessageField(asObject(delta)) === undefined &&
    unreadableIds(choice) === undefined
  );
}

/** Pieces of a field as its whole value: one text, or parts where some of it came in parts. Texts that follow each other are one part. */
function joined(pieces: readonly JsonValue[]): JsonValue {
  if (pieces.every((piece) => typeof piece === 'string')) return pieces.join('');
  const parts: JsonValue[] = [];
  let texts: string[] = [];
  const finishText = () => {
    if (texts.length > 0) parts.push({ type: 'text', text: texts.join('') });
    texts = [];
  };
  for (const piece of pieces.flat() as readonly JsonValue[]) {
    const text = isJsonObject(piece) && piece.type === 'text' ? piece.text : piece;
    if (typeof text === 'string') texts.push(text);
    else {
      finishText();
      parts.push(piece);
    }
  }
  finishText();
  return parts;
}
