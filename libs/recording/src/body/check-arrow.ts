import type { DataType, Message, Schema } from 'apache-arrow';
import { apacheArrow } from './apache-arrow.js';
import { MESSAGE } from './arrow-metadata.js';
import { type BatchHeader, checkArrowBatch } from './check-arrow-batch.js';
import { checkFlatbuffer, FormatFault } from './check-flatbuffer.js';

const LENGTH_BYTES = 4;

/** Marks the length of a message's metadata, in front of it; streams of Arrow before 0.15 have none. */
const CONTINUATION = -1;

/** Version 4 of the format, whose buffers and unions have today's layout, counted from 0. */
const FIRST_VERSION = 3;

const MAX_COLUMNS = 200;

/** apache-arrow's time for a dictionary that comes in parts grows with the square of their number. */
const MAX_DICTIONARIES = 1_000;

/**
 * Checks all that an Arrow stream declares (counts, lengths, offsets, nesting) against the bytes that it has. apache-arrow believes what it reads: a few
 * damaged bytes can have it count to 2³¹ or allocate gigabytes. A stream that passes is decoded in time and memory proportional to its bytes.
 *
 * @returns the bytes of its messages, without the mark of its end. Decode these alone: apache-arrow may go on reading behind the mark.
 * @throws FormatFault
 */
export function checkArrowStream(bytes: Uint8Array): Uint8Array {
  let schema: Schema | undefined;
  let dictionaries = 0;
  let checked = 0;
  for (const { metadata, body, end } of walkMessages(bytes)) {
    if (metadata.isDictionaryBatch()) dictionaries += 1;
    if (dictionaries > MAX_DICTIONARIES) {
      throw new FormatFault(`it has more than ${MAX_DICTIONARIES} messages with dictionaries`);
    }
    if (schema === undefined) schema = decodeSchema(metadata);
    else checkBatch(metadata, body, schema);
    checked = end;
  }
  if (schema === undefined) throw new FormatFault('it has no schema');
  return bytes.subarray(0, checked);
}

interface RawMessage {
  readonly metadata: Message;
  readonly body: Uint8Array;
  /** Where it ends in the stream. */
  readonly end: number;
}

function* walkMessages(bytes: Uint8Array): Generator<RawMessage> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < bytes.length;) {
    const length = (from: number): number => {
      if (from + LENGTH_BYTES > bytes.length)
        throw new FormatFault(`byte ${from} must begin a length of 4 bytes`);
      return view.getInt32(from, true);
    };
    if (length(at) === CONTINUATION) at += LENGTH_BYTES;
    const metadataBytes = length(at);
    at += LENGTH_BYTES;
    if (metadataBytes === 0) return;
    const metadata = decodeMetadata(part(bytes, at, metadataBytes, 'metadata'));
    at += metadataBytes;
    const body = part(bytes, at, metadata.bodyLength, 'body');
    at += metadata.bodyLength;
    yield { metadata, body, end: at };
  }
}

function part(bytes: Uint8Array, from: number, length: number, what: string): Uint8Array {
  if (!(length >= 0 && from + length <= bytes.length)) {
    throw new FormatFault(
      `a message's ${what} has ${length} bytes, of which ${bytes.length - from} are there`,
    );
  }
  return bytes.subarray(from, from + length);
}

function decodeMetadata(bytes: Uint8Array): Message {
  checkFlatbuffer(bytes, MESSAGE);
  const message = apacheArrow().Message.decode(bytes);
  if (message.version < FIRST_VERSION) throw new FormatFault('its format is older than version 4');
  return message;
}

function decodeSchema(message: Message): Schema {
  if (!message.isSchema()) throw new FormatFault('its first message must be its schema');
  // apache-arrow would read the body of a schema as the next message.
  if (message.bodyLength !== 0) throw new FormatFault('its schema must have no body');
  const schema = message.header() as unknown as Schema;
  const columns = schema.fields.length;
  if (columns > MAX_COLUMNS) throw new FormatFault(`it has ${columns} columns, more than ${MAX_COLUMNS}`);
  return schema;
}

function checkBatch(message: Message, body: Uint8Array, schema: Schema): void {
  if (message.isRecordBatch()) {
    const types = schema.fields.map((field) => field.type as DataType);
    checkArrowBatch(message.header() as unknown as BatchHeader, body, types);
  } else if (message.isDictionaryBatch()) {
    const { id, data } = message.header() as unknown as { id: number; data: BatchHeader };
    const type = schema.dictionaries.get(id);
    if (type === undefined) throw new FormatFault(`dictionary ${id} is not in its schema`);
    checkArrowBatch(data, body, [type]);
  } else throw new FormatFault('it has two schemas');
}
