import type { JsonObject, JsonValue, StepMessages } from '../wire/records.js';
import type { Changes } from './changes.js';
import { storableJson } from './storable-json.js';

/** The server takes no longer image inline. */
const MAX_INLINE_CHARACTERS = 4096;
/** A message is in a list in the messages of a step. */
const MESSAGE_DEPTH = 2;

/**
 * The messages of a step in the outline that the server takes, which is that of OpenAI's chat API. What is of another form is kept as
 * text; an image inline becomes a text that says how large it was.
 *
 * @returns null for what has no messages
 */
export function storableMessages(value: unknown, changes: Changes): StepMessages | null {
  if (!isObject(value)) return null;
  const { input = [], output = null } = value;
  const listed = Array.isArray(input) ? (input as readonly unknown[]) : [input];
  const messages = {
    input: sameOr(
      listed,
      listed.map((message) => new Outline(changes, 'messages.input').message(message)),
    ),
    output: output === null ? null : new Outline(changes, 'messages.output').message(output),
  };
  for (const name of Object.keys(value))
    if (name !== 'input' && name !== 'output') changes.note('messages', 'an unknown field was left out');
  return messages as unknown as StepMessages;
}

class Outline {
  constructor(
    private readonly changes: Changes,
    private readonly path: string,
  ) {}

  message(given: unknown): JsonValue {
    const message = storableJson(given, this.changes, this.path, MESSAGE_DEPTH);
    if (!isObject(message)) return { role: 'unknown', content: this.asText(message) };
    return this.withFields(message, {
      role: isText(message.role) && message.role !== '' ? message.role : this.put('unknown'),
      ...('content' in message && { content: this.content(message.content) }),
      ...('tool_calls' in message && { tool_calls: this.calls(message.tool_calls) }),
      ...('tool_call_id' in message && { tool_call_id: this.textOrNull(message.tool_call_id) }),
    });
  }

  private content(content: JsonValue | undefined): JsonValue | undefined {
    if (content === undefined || content === null || isText(content)) return content;
    return isList(content)
      ? sameOr(
          content,
          content.map((part) => this.part(part)),
        )
      : this.asText(content);
  }

  private part(part: JsonValue): JsonValue {
    if (!isObject(part) || !isText(part.type) || part.type === '')
      return { type: 'text', text: this.asText(part) };
    const { text, image_url: image } = part;
    const url = isObject(image) ? image.url : image;
    if (image !== undefined && !isAddress(url)) {
      const size = (isText(url) ? url : JSON.stringify(image)).length;
      return this.put({ type: 'text', text: `[image, ${size} characters inline: not recorded]` });
    }
    return this.withFields(part, {
      ...(text !== undefined && { text: isText(text) ? text : this.asText(text) }),
      ...(image !== undefined && { image_url: isObject(image) ? image : this.put({ url }) }),
    });
  }

  private calls(calls: JsonValue | undefined): JsonValue | undefined {
    if (calls === undefined || calls === null) return calls;
    const list = isList(calls) ? calls : this.put([calls]);
    return sameOr(
      list,
      list.map((call) => this.call(call)),
    );
  }

  private call(call: JsonValue): JsonValue {
    if (!isObject(call)) return this.call({ function: { name: '', arguments: this.asText(call) } });
    const { id, type, function: called } = call;
    return this.withFields(call, {
      id: isText(id) ? id : this.put(id === undefined || id === null ? '' : this.asText(id)),
      ...(type !== undefined && { type: isText(type) ? type : this.asText(type) }),
      ...(called !== undefined && { function: this.called(called) }),
    });
  }

  private called(called: JsonValue): JsonValue {
    if (!isObject(called)) return { name: '', arguments: this.asText(called) };
    const { name, arguments: given } = called;
    return this.withFields(called, {
      name: isText(name) ? name : this.put(name === undefined ? '' : this.asText(name)),
      arguments: isText(given) ? given : this.put(given === undefined ? '' : this.asText(given)),
    });
  }

  private textOrNull(value: JsonValue | undefined): JsonValue | undefined {
    return value === undefined || value === null || isText(value) ? value : this.asText(value);
  }

  /** The same object, unless one of these fields is another. */
  private withFields(object: JsonObject, fields: JsonObject): JsonObject {
    const isSame = Object.entries(fields).every(([name, value]) => object[name] === value);
    return isSame ? object : { ...object, ...fields };
  }

  private asText(value: JsonValue): string {
    this.put(value);
    return isText(value) ? value : JSON.stringify(value);
  }

  /** Notes that a value takes the place of one of another form. */
  private put<Value>(value: Value): Value {
    this.changes.note(this.path, 'a message was not in the form of a chat message');
    return value;
  }
}

function sameOr<Item>(list: readonly Item[], changed: readonly Item[]): readonly Item[] {
  return changed.every((item, i) => item === list[i]) ? list : changed;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function isAddress(url: JsonValue | undefined): boolean {
  return isText(url) && url !== '' && !(url.startsWith('data:') && url.length > MAX_INLINE_CHARACTERS);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
