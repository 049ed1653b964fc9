import { hash } from 'node:crypto';
import { SCHEMA_VERSIONS } from '../events/event-kinds.js';
import {
  EPISODE_EVENTS,
  type SamplingParameters,
  type StepRecorded,
  type Usage,
} from '../events/episode-events.js';
import { type EventField, toRules, type Shape } from '../fields/field.js';
import type { Json } from '../json/json.js';
import { uuidFromBytes } from '../fields/uuid.js';
import { textsOfMessages } from '../messages/message-text.js';
import { BodyReader } from './body/body-reader.js';
import { NUM_BODY_PARTS, unframe } from './frame.js';
import { readPackedColumn, type PackedColumn } from './body/packed-column.js';
import { TEXT_FIELDS } from './message-texts.js';
import { areSame, RememberedText, RememberedValue } from './remembered-value.js';

export type StepField = keyof StepRecorded;

/** Encoding of a field in the body, where it is not null. */
type Form = 'text' | 'label' | 'flag' | 'number' | 'column' | 'value';

/** Texts and values that are mostly the same from step to step. */
const LABELS = ['engine', 'model', 'tokenizerHash', 'logprobMode', 'untrainable'] as const;
const VALUES = ['rewardNames', 'info', 'sampling', 'messages', 'usage'] as const;

const KIND = 'StepRecorded';
const STEP_FIELDS: Readonly<Record<StepField, EventField<unknown>>> = EPISODE_EVENTS[KIND];
const STEP_RULES = toRules(STEP_FIELDS);
const KIND_BYTES = Buffer.from(KIND);

const isFine =
  (field: StepField) =>
  (value: unknown): boolean =>
    STEP_RULES[field](value, field) === null;

/** The encoding of a field by the form of its values; a text that repeats is a label. */
const FORMS: Readonly<Record<Shape['form'], Form>> = {
  ...{ text: 'text', word: 'text', flag: 'flag', integer: 'number', real: 'number' },
  ...{ array: 'column', json: 'value', list: 'value', object: 'value' },
};

const NO_BYTES = Buffer.alloc(0);

/** Records of this schema version and later ones have the same form; they differ in their token columns. */
const FIRST_VERSION = 3;

/** One field of the step that was read last. */
export class FieldPlace {
  readonly nameBytes: Buffer;
  /** The name as `BodyWriter` writes it: a tag with the length, then the bytes. */
  readonly encodedName: Buffer;
  readonly form: Form;
  readonly isNullable: boolean;
  /** The first schema version that has it. */
  readonly since: number;
  isNull = false;
  /** The bytes that contain its value: the body, or a text that follows from the messages. */
  source: Buffer = NO_BYTES;
  /** Range of its value there. */
  start = 0;
  end = 0;
  /** Value of a number; 1 or 0 for a flag. */
  number = 0;
  /** The column, unless it is null. */
  packed: PackedColumn | null = null;
  /** Number of the record that had the field last. */
  metIn = 0;

  constructor(readonly name: StepField) {
    this.nameBytes = Buffer.from(name);
    this.encodedName = Buffer.from([0xa0 | this.nameBytes.length, ...this.nameBytes]);
    this.form = (LABELS as readonly StepField[]).includes(name)
      ? 'label'
      : FORMS[STEP_FIELDS[name].shape.form];
    this.isNullable = this.form !== 'value' && STEP_FIELDS[name].isNullable;
    this.since = STEP_FIELDS[name].added?.since ?? 1;
  }
}

/**
 * Reads a step in place, from the bytes of its record, and creates no event object, and no string or array that is not needed.
 *
 * It reads the schema versions from `FIRST_VERSION` on, with fields in any order, and checks every rule except those between fields and over the elements of columns.
 * Whatever it is not sure about, it leaves to `decodeEvent`, which also finds the reason.
 */
export class StepRecord {
  /** As it is stored: that of the event after it was lifted. */
  readonly schemaVersion = SCHEMA_VERSIONS[KIND];
  runId = '';
  episodeId = '';
  seq = 0;
  occurredAtUs = 0;
  /** Position of the event id's 16 bytes in `body`. */
  eventIdAt = 0;
  readonly fields = newFields();
  readonly rewardNames = new RememberedValue<readonly string[]>(isFine('rewardNames'));
  readonly info = new RememberedValue<unknown>(isFine('info'));
  readonly sampling = new RememberedValue<SamplingParameters | null>(isFine('sampling'));
  readonly messages = new RememberedValue<unknown>(isFine('messages'));
  readonly usage = new RememberedValue<Usage | null>(isFine('usage'));
  readonly untrainable = new RememberedText();
  readonly engine = new RememberedText();
  readonly model = new RememberedText();
  readonly tokenizerHash = new RememberedText();
  readonly logprobMode = new RememberedText();

  /** Looking a field up by its name takes longer than reading it. */
  private readonly labels = LABELS.map((name) => ({ text: this[name], place: this.fields[name] }));
  private readonly values = VALUES.map((name) => ({ value: this[name], place: this.fields[name] }));
  private readonly reader = new BodyReader();
  private readonly places = Object.values<FieldPlace>(this.fields);
  /** Fields in the order of the last record, which is most probably that of the next one. */
  private readonly order = [...this.places];
  /** Fields that came after `FIRST_VERSION`. */
  private readonly added = this.places.filter(({ since }) => since > FIRST_VERSION);
  private numRead = 0;
  /** Schema version of the record. */
  private version = 0;
  private runBytes = Buffer.alloc(0);
  private episodeBytes = Buffer.alloc(0);
  /** Buffer for the text that the event's id is a hash of. */
  private readonly key = Buffer.alloc(160);

  get body(): Buffer {
    return this.reader.body;
  }

  /** Reads a record, in place of the one before; false when it is not certainly a valid step of the current version. */
  read(bytes: Uint8Array): boolean {
    const unframed = unframe(bytes);
    if (!unframed.ok) return false;
    this.numRead++;
    this.reader.reset(unframed.body);
    try {
      return this.readEnvelope() && this.readPayload() && this.reader.isWhole && this.readValues();
    } catch {
      // The columns or values have another form; the full decoder finds the reason.
      return false;
    }
  }

  /** Returns the remembered value of a field. */
  remembered(field: (typeof VALUES)[number]): RememberedValue<unknown> {
    return this[field];
  }

  private readEnvelope(): boolean {
    const { reader } = this;
    if (reader.list() !== NUM_BODY_PARTS) return false;
    reader.text();
    if (!areSame(KIND_BYTES, reader.body, reader.start, reader.end)) return false;
    this.version = reader.number();
    if (!(this.version >= FIRST_VERSION && this.version <= SCHEMA_VERSIONS[KIND])) return false;
    if (!this.readId()) return false;
    this.eventIdAt = reader.start;
    if (!this.readId() || !this.readId()) return false;
    if (!areSame(this.runBytes, reader.body, reader.start, reader.end)) {
      this.runBytes = Buffer.from(reader.body.subarray(reader.start, reader.end));
      this.runId = uuidFromBytes(this.runBytes);
    }
    if (!this.readId()) return false;
    if (!areSame(this.episodeBytes, reader.body, reader.start, reader.end)) {
      this.episodeBytes = Buffer.from(reader.body.subarray(reader.start, reader.end));
      this.episodeId = uuidFromBytes(this.episodeBytes);
    }
    this.seq = reader.number();
    this.occurredAtUs = reader.number();
    return !reader.hasFailed && isNatural(this.seq) && isNatural(this.occurredAtUs) && this.hasItsId();
  }

  /** Reads an id, which may be any 16 bytes. */
  private readId(): boolean {
    this.reader.uuid();
    return !this.reader.hasFailed && this.reader.start < this.reader.end;
  }

  /** Whether the event id is the one that `episodeEventId` gives. */
  private hasItsId(): boolean {
    const { key, eventIdAt, body } = this;
    let at = key.write(`event/${this.runId}/`, 0, 'latin1');
    at += key.write(this.episodeId, at, 'latin1');
    at += key.write(`/${this.seq}/${KIND}`, at, 'latin1');
    const id = hash('sha256', key.subarray(0, at), 'buffer');
    id[6] = 0x80 | (id[6] & 0x0f);
    id[8] = 0x80 | (id[8] & 0x3f);
    for (let i = 0; i < 16; i++) if (id[i] !== body[eventIdAt + i]) return false;
    return true;
  }

  private readPayload(): boolean {
    const { reader, places, added, version } = this;
    let numFields = places.length;
    for (const place of added) {
      if (place.since <= version) continue;
      numFields--;
      // Met already: a record of this version must not have it.
      place.metIn = this.numRead;
      place.isNull = true;
      place.packed = null;
    }
    if (reader.map() !== numFields) return false;
    for (let i = 0; i < numFields; i++) {
      const place = this.placeAt(i);
      if (place === null || place.metIn === this.numRead) return false;
      place.metIn = this.numRead;
      place.isNull = place.isNullable && reader.null();
      place.packed = null;
      place.source = reader.body;
      if (place.isNull) continue;
      if (isTextField(place.name) && reader.null()) {
        place.source = NO_BYTES;
        continue;
      }
      if (!this.readField(place)) return false;
    }
    return !reader.hasFailed;
  }

  /** Reads the name of the i-th field of the payload; null where it is none of a step. */
  private placeAt(i: number): FieldPlace | null {
    const { reader } = this;
    const expected = this.order[i];
    const { encodedName } = expected;
    if (areSame(encodedName, reader.body, reader.at, reader.at + encodedName.length)) {
      reader.at += encodedName.length;
      return expected;
    }
    reader.text();
    if (reader.hasFailed) return null;
    const { body, start, end } = reader;
    const found = this.places.find(({ nameBytes }) => areSame(nameBytes, body, start, end)) ?? null;
    if (found !== null) this.order[i] = found;
    return found;
  }

  private readField(place: FieldPlace): boolean {
    const { reader } = this;
    switch (place.form) {
      case 'number':
        place.number = reader.number();
        return STEP_RULES[place.name](place.number, place.name) === null;
      case 'flag':
        place.number = Number(reader.flag());
        return true;
      case 'text':
      case 'label':
        reader.text();
        break;
      case 'column':
        reader.binary();
        if (reader.hasFailed) return false;
        place.packed = readPackedColumn(reader.body, reader.start, reader.end);
        return true;
      case 'value':
        place.start = reader.at;
        reader.skip();
        place.end = reader.at;
        return true;
    }
    place.start = reader.start;
    place.end = reader.end;
    return true;
  }

  private readValues(): boolean {
    const { body } = this;
    for (const { text, place } of this.labels) text.read(body, place.start, place.end);
    if (STEP_RULES.logprobMode(this.logprobMode.value, 'logprobMode') !== null) return false;
    for (const { value, place } of this.values) if (!value.read(body, place.start, place.end)) return false;
    return TEXT_FIELDS.every((name) => this.fields[name].source !== NO_BYTES || this.takeText(name));
  }

  /** Derives a text that the record lacks from the messages; false where it does not follow from them. */
  private takeText(name: (typeof TEXT_FIELDS)[number]): boolean {
    const texts = textsOfMessages(this.messages.value as Json);
    if (texts === null) return false;
    const place = this.fields[name];
    place.source = Buffer.from(texts[name]);
    place.start = 0;
    place.end = place.source.length;
    return true;
  }
}

function newFields(): Readonly<Record<StepField, FieldPlace>> {
  const names = Object.keys(STEP_FIELDS) as StepField[];
  return Object.fromEntries(names.map((name) => [name, new FieldPlace(name)])) as Record<
    StepField,
    FieldPlace
  >;
}

const isTextField = (name: StepField): boolean => (TEXT_FIELDS as readonly StepField[]).includes(name);
const isNatural = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;
