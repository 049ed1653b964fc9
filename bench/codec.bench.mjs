/**
 * Compares the wire format of events with its alternatives: bytes per event, and events encoded and decoded per second of CPU time,
 * for a step of a small text environment (26 tokens, 2 sampled) and one of a chat turn (512 tokens, 400 sampled).
 *
 *   npm run bench -- codec
 */
import { Buffer } from 'node:buffer';
import { writeFileSync } from 'node:fs';
import {
  Field,
  Float32,
  Int32,
  List,
  makeData,
  RecordBatch,
  RecordBatchStreamWriter,
  Schema,
  Struct,
  tableFromIPC,
  Uint8,
  Utf8,
} from 'apache-arrow';
import { Packr } from 'msgpackr';
import { decodeEvent, encodeEvent } from '@retrace/trajectory/codec';
import { isColumn, packColumn, unpackColumn } from '../libs/trajectory/dist/codec/body/packed-column.js';
import { sampleEpisodeEvent, sampleStep } from '@retrace/trajectory/testing';

const ARROW_BATCH = 256;
const MIN_MEASURED_MS = 200;
const NUM_REPEATS = 5;

const plain = new Packr({ useRecords: false, variableMapSize: true });
const numbered = new Packr({ useRecords: false, variableMapSize: true, coercibleKeyAsNumber: true });

const IDS = ['eventId', 'logId', 'runId', 'episodeId'];
const uuidBytes = (uuid) => Buffer.from(uuid.replaceAll('-', ''), 'hex');

const mapValues = (object, change) =>
  Object.fromEntries(Object.entries(object).map(([key, v]) => [key, change(v)]));
const packColumns = (payload) => mapValues(payload, (value) => (isColumn(value) ? packColumn(value) : value));
/** The envelope with ids of 16 bytes, as the codec has them, so that bodies differ only in their payload. */
const withBinaryIds = (event) => ({
  ...event,
  ...Object.fromEntries(IDS.map((id) => [id, uuidBytes(event[id])])),
});
/** Recognizes ids by their 16 bytes; no packed column of these steps has that length. */
const unpackIfColumn = (value) =>
  value instanceof Uint8Array && value.length !== 16 ? unpackColumn(value) : value;
const unpackColumns = (payload) => mapValues(payload, unpackIfColumn);

/** Each form turns events into bytes and bytes into as many events; `numEvents` at a time. */
const forms = [
  {
    name: 'this codec: MessagePack, named fields, packed columns, CRC, validated both ways',
    numEvents: 1,
    encode: ([event]) => encodeEvent(event),
    decode: (bytes) => decodeEvent(bytes),
  },
  {
    name: 'MessagePack, named fields, packed columns (body alone)',
    numEvents: 1,
    encode: ([event]) => plain.pack({ ...withBinaryIds(event), payload: packColumns(event.payload) }),
    decode: (bytes) => unpackColumns(plain.unpack(bytes).payload),
  },
  {
    name: 'MessagePack, numbered fields as Protobuf has them, packed columns (body alone)',
    numEvents: 1,
    encode: ([event]) => {
      const values = Object.values({ ...withBinaryIds(event), ...packColumns(event.payload), payload: 0 });
      return numbered.pack(Object.fromEntries(values.map((value, i) => [i + 1, value])));
    },
    decode: (bytes) => mapValues(numbered.unpack(bytes), unpackIfColumn),
  },
  {
    name: 'MessagePack, named fields, a number a token (body alone)',
    numEvents: 1,
    encode: ([event]) =>
      plain.pack({
        ...withBinaryIds(event),
        payload: mapValues(event.payload, (v) => (isColumn(v) ? Array.from(v) : v)),
      }),
    decode: (bytes) => plain.unpack(bytes),
  },
  { name: 'Arrow IPC stream, one event', numEvents: 1, encode: encodeArrow, decode: decodeArrow },
  {
    name: `Arrow IPC stream, ${ARROW_BATCH} events`,
    numEvents: ARROW_BATCH,
    encode: encodeArrow,
    decode: decodeArrow,
  },
  {
    name: 'JSON, a number a token',
    numEvents: 1,
    encode: ([event]) => Buffer.from(JSON.stringify(event, (_key, v) => (isColumn(v) ? Array.from(v) : v))),
    decode: (bytes) => JSON.parse(bytes.toString()),
  },
];

const LIST_TYPES = { Uint8Array: new Uint8(), Int32Array: new Int32(), Float32Array: new Float32() };

/** Token columns as lists over flat arrays; everything else as one column of JSON text, which flatters Arrow a little. */
function encodeArrow(events) {
  const names = Object.keys(events[0].payload).filter((name) => {
    const value = events[0].payload[name];
    return isColumn(value) && value.constructor.name in LIST_TYPES;
  });
  const rest = events.map(({ payload, ...envelope }) =>
    JSON.stringify({ ...envelope, ...mapValues(payload, (value) => (isColumn(value) ? null : value)) }),
  );
  const children = [...names.map((name) => listData(events.map((e) => e.payload[name]))), textData(rest)];
  const schema = new Schema([...names, 'rest'].map((name, i) => new Field(name, children[i].type, false)));
  const type = new Struct(schema.fields);
  const batch = new RecordBatch(schema, makeData({ type, length: events.length, nullCount: 0, children }));
  return RecordBatchStreamWriter.writeAll([batch]).toUint8Array(true);
}

function listData(rows) {
  const type = LIST_TYPES[rows[0].constructor.name];
  const valueOffsets = offsetsOf(rows.map((row) => row.length));
  const values = new rows[0].constructor(valueOffsets[rows.length]);
  rows.forEach((row, i) => values.set(row, valueOffsets[i]));
  const child = makeData({ type, length: values.length, nullCount: 0, data: values });
  const list = new List(new Field('item', type, false));
  return makeData({ type: list, length: rows.length, nullCount: 0, valueOffsets, child });
}

function textData(texts) {
  const rows = texts.map((text) => Buffer.from(text));
  const valueOffsets = offsetsOf(rows.map((row) => row.length));
  const data = new Uint8Array(Buffer.concat(rows));
  return makeData({ type: new Utf8(), length: rows.length, nullCount: 0, valueOffsets, data });
}

function offsetsOf(lengths) {
  const offsets = new Int32Array(lengths.length + 1);
  lengths.forEach((length, i) => (offsets[i + 1] = offsets[i] + length));
  return offsets;
}

function decodeArrow(bytes) {
  const table = tableFromIPC(bytes);
  const rest = table.getChild('rest');
  const names = table.schema.fields.map(({ name }) => name).filter((name) => name !== 'rest');
  return Array.from({ length: table.numRows }, (_, row) => ({
    ...JSON.parse(rest.get(row)),
    ...Object.fromEntries(names.map((name) => [name, table.getChild(name).get(row).toArray().slice()])),
  }));
}

/** Returns the best of some repeats: calls per second of CPU time, which other load on the machine affects less than wall time. */
function callsPerSecond(run) {
  for (let i = 0; i < 200; i += 1) run();
  let best = 0;
  for (let repeat = 0; repeat < NUM_REPEATS; repeat += 1) {
    const startedAtMs = cpuMs();
    let numCalls = 0;
    let tookMs = 0;
    while (tookMs < MIN_MEASURED_MS) {
      for (let i = 0; i < 10; i += 1) run();
      numCalls += 10;
      tookMs = cpuMs() - startedAtMs;
    }
    best = Math.max(best, (numCalls * 1000) / tookMs);
  }
  return best;
}

function cpuMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

const figures = [];
for (const [numTokens, numActionTokens] of [
  [26, 2],
  [512, 400],
]) {
  console.log(`\nStepRecorded of ${numTokens} tokens, ${numActionTokens} of them sampled`);
  console.log('  bytes  size   encode/s   decode/s');
  let sizeOfFirst = 0;
  for (const { name, numEvents, encode, decode } of forms) {
    const events = Array.from({ length: numEvents }, (_, i) =>
      sampleEpisodeEvent('StepRecorded', { ...sampleStep({ numTokens, numActionTokens, step: i }) }, i + 1),
    );
    const bytes = encode(events);
    const sizeBytes = bytes.length / numEvents;
    sizeOfFirst ||= sizeBytes;
    const encodesPerSecond = callsPerSecond(() => encode(events)) * numEvents;
    const decodesPerSecond = callsPerSecond(() => decode(bytes)) * numEvents;
    console.log(
      [
        sizeBytes.toFixed(0).padStart(7),
        `${(sizeBytes / sizeOfFirst).toFixed(2)}×`.padStart(6),
        Math.round(encodesPerSecond).toLocaleString('en').padStart(10),
        Math.round(decodesPerSecond).toLocaleString('en').padStart(10),
        ` ${name}`,
      ].join(' '),
    );
    figures.push(
      { name: `${numTokens} tokens: ${name}: size`, value: sizeBytes, unit: 'bytes/event' },
      { name: `${numTokens} tokens: ${name}: encode`, value: encodesPerSecond, unit: 'events/CPU s' },
      { name: `${numTokens} tokens: ${name}: decode`, value: decodesPerSecond, unit: 'events/CPU s' },
    );
  }
}

if (process.env.RETRACE_RESULT_FILE) {
  writeFileSync(process.env.RETRACE_RESULT_FILE, JSON.stringify({ title: 'Wire format of events', figures }));
}
