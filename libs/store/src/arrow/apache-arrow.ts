/**
 * The part of Arrow that the store uses, from the package's build in one file. Its 150 modules take ten times as long to load: 200 ms of CPU time in each process that
 * opens the store (Node 20.20, one core of a Xeon). In that file only what Arrow documents has its name.
 */
import { createRequire } from 'node:module';
import type * as Arrow from 'apache-arrow';

const require = createRequire(import.meta.url);
const arrow = require('apache-arrow/Arrow.esnext.min') as typeof Arrow;

export const {
  Binary,
  DataType,
  Dictionary,
  Field,
  FixedSizeBinary,
  Float32,
  Float64,
  Int32,
  List,
  RecordBatch,
  RecordBatchReader,
  RecordBatchStreamWriter,
  Schema,
  Struct,
  TimestampMicrosecond,
  Uint16,
  Uint8,
  Utf8,
  makeData,
  makeVector,
} = arrow;

export type { Data } from 'apache-arrow';
export type Binary = Arrow.Binary;
export type DataType = Arrow.DataType;
export type Field<T extends Arrow.DataType = Arrow.DataType> = Arrow.Field<T>;
export type RecordBatch<T extends Arrow.TypeMap = Arrow.TypeMap> = Arrow.RecordBatch<T>;
export type ArrowSchema<T extends Arrow.TypeMap = Arrow.TypeMap> = Arrow.Schema<T>;
export type Struct<T extends Arrow.TypeMap = Arrow.TypeMap> = Arrow.Struct<T>;
export type Utf8 = Arrow.Utf8;
