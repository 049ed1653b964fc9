import type { MetricRecord } from '../records/metric-record.js';

/*
 * TensorFlow's messages `Event` and `Summary` in protobuf's wire format, as far as scalars need them:
 *
 *   message Event   { double wall_time = 1; int64 step = 2; string file_version = 3; Summary summary = 5; }
 *   message Summary { repeated Value value = 1; }
 *   message Value   { string tag = 1; float simple_value = 2; }
 *
 * https://github.com/tensorflow/tensorboard/blob/master/tensorboard/compat/proto/event.proto
 */
const FIXED_64 = 1;
const BYTES = 2;
const FIXED_32 = 5;

/** The event that a file begins with. */
export function fileVersionEvent(wallTimeSeconds: number): Buffer {
  return Buffer.concat([double(1, wallTimeSeconds), text(3, 'brain.Event:2')]);
}

/** A record as one event with a scalar for each value, in float32, which is what TensorBoard stores. */
export function scalarsEvent({ step, occurredAtUs, values }: MetricRecord): Buffer {
  const summary = values.map(([name, value]) => bytes(1, Buffer.concat([text(1, name), float(2, value)])));
  return Buffer.concat([double(1, occurredAtUs / 1e6), int(2, step), bytes(5, Buffer.concat(summary))]);
}

function key(field: number, wireType: number): number {
  return (field << 3) | wireType;
}

function double(field: number, value: number): Buffer {
  const out = Buffer.alloc(9);
  out[0] = key(field, FIXED_64);
  out.writeDoubleLE(value, 1);
  return out;
}

function float(field: number, value: number): Buffer {
  const out = Buffer.alloc(5);
  out[0] = key(field, FIXED_32);
  // `writeFloatLE` refuses nothing: a value beyond float32 becomes infinite.
  out.writeFloatLE(value, 1);
  return out;
}

/** @param value a whole number of at least 0 */
function int(field: number, value: number): Buffer {
  return Buffer.from([key(field, 0), ...varint(value)]);
}

function text(field: number, value: string): Buffer {
  return bytes(field, Buffer.from(value));
}

function bytes(field: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([key(field, BYTES), ...varint(content.length)]), content]);
}

/** Seven bits a byte, the lowest first; the top bit says that more follow. */
function varint(value: number): number[] {
  const out: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) out.push((rest % 0x80) | 0x80);
  return [...out, rest];
}
