import type { DataType, Field } from 'apache-arrow';
import { apacheArrow } from './apache-arrow.js';
import { FormatFault } from './check-flatbuffer.js';

/** Declared contents of a batch. Lengths and offsets are in rows and bytes. */
export interface BatchHeader {
  readonly length: number;
  readonly nodes: readonly { readonly length: number; readonly nullCount: number }[];
  readonly buffers: readonly { readonly offset: number; readonly length: number }[];
  readonly compression: unknown;
  readonly variadicBufferCounts: readonly number[];
}

const VIEW_BYTES = 16;

/**
 * Checks that a batch has the buffers that its types need, that they lie in its body and hold as many values as it declares, and that the
 * offsets of its texts and lists never go back and end within their items.
 *
 * Source: "Physical memory layout" of Apache Arrow's columnar format 1.5.
 *
 * @param types - of its columns; of its one column for a dictionary
 * @throws FormatFault
 */
export function checkArrowBatch(header: BatchHeader, body: Uint8Array, types: readonly DataType[]): void {
  if (header.compression !== null)
    throw new FormatFault('its batches are compressed: compress the body instead');
  const check = new BatchCheck(header, body);
  for (const type of types) {
    const rows = check.checkColumn(type);
    if (rows !== header.length)
      throw new FormatFault(`a column of ${rows} rows is in a batch of ${header.length}`);
  }
  checkCount(header.length, 'rows of a batch');
}

function checkCount(count: number, what: string): void {
  // Vectors of apache-arrow count with 32 bits.
  if (!(count >= 0 && count <= 0x7fffffff)) throw new FormatFault(`the number of ${what} is ${count}`);
}

interface Buffer {
  readonly offset: number;
  readonly length: number;
}

class BatchCheck {
  private readonly view: DataView;
  private nodes = 0;
  private buffers = 0;
  private variadic = 0;

  constructor(
    private readonly header: BatchHeader,
    body: Uint8Array,
  ) {
    this.view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  }

  /** Checks the next column and the columns of its items; answers with its number of values. */
  checkColumn(type: DataType): number {
    const node = this.header.nodes.at(this.nodes++);
    if (node === undefined) throw new FormatFault('a batch has fewer columns than its schema');
    const { length, nullCount } = node;
    checkCount(length, 'values of a column');
    const { DataType } = apacheArrow();
    if (DataType.isNull(type)) return length;
    checkCount(nullCount, 'nulls of a column');
    this.nextBuffer(nullCount > 0 ? Math.ceil(length / 8) : 0);
    if (DataType.isBool(type)) this.nextBuffer(Math.ceil(length / 8));
    else if (DataType.isDictionary(type)) this.nextBuffer(length * computeWidth(type.indices));
    else if (DataType.isUtf8(type) || DataType.isLargeUtf8(type)) {
      const end = this.checkOffsets(length, DataType.isLargeUtf8(type));
      this.nextBuffer(end);
    } else if (DataType.isUtf8View(type)) this.checkViews(length);
    else if (DataType.isFixedSizeList(type)) {
      if (type.listSize < 1) throw new FormatFault(`lists of fixed size have ${type.listSize} items`);
      this.checkItems(type, length * type.listSize);
    } else if (DataType.isList(type)) this.checkItems(type, this.checkOffsets(length, false));
    else if (DataType.isLargeList(type)) this.checkItems(type, this.checkOffsets(length, true));
    else this.nextBuffer(length * computeWidth(type));
    return length;
  }

  private checkItems(type: DataType, needed: number): void {
    const [item] = (type as { children: readonly (Field | undefined)[] }).children;
    if (item === undefined) throw new FormatFault('a list has no type of its items');
    const length = this.checkColumn(item.type);
    if (length < needed) throw new FormatFault(`lists of ${needed} items have a column of ${length}`);
  }

  private checkViews(length: number): void {
    this.nextBuffer(length * VIEW_BYTES);
    const count = this.header.variadicBufferCounts.at(this.variadic++) ?? 0;
    checkCount(count, 'buffers of a column');
    for (let i = 0; i < count; i++) this.nextBuffer(0);
  }

  /** Checks the offsets of `length` texts or lists; answers where the last one ends. */
  private checkOffsets(length: number, wide: boolean): number {
    if (length === 0) {
      this.nextBuffer(0);
      return 0;
    }
    const width = wide ? BigInt64Array.BYTES_PER_ELEMENT : Int32Array.BYTES_PER_ELEMENT;
    const { offset } = this.nextBuffer((length + 1) * width);
    let previous = 0;
    for (let i = 0, at = offset; i <= length; i++, at += width) {
      const next = wide ? Number(this.view.getBigInt64(at, true)) : this.view.getInt32(at, true);
      if (next < previous) throw new FormatFault(`offset ${i} of a column is ${next} after ${previous}`);
      previous = next;
    }
    return previous;
  }

  private nextBuffer(needed: number): Buffer {
    const buffer = this.header.buffers.at(this.buffers++);
    if (buffer === undefined) throw new FormatFault('a batch has fewer buffers than its columns need');
    const { offset, length } = buffer;
    if (offset < 0 || length < 0 || offset + length > this.view.byteLength) {
      throw new FormatFault(
        `a buffer of ${length} bytes at ${offset} lies outside a body of ${this.view.byteLength}`,
      );
    }
    if (length < needed) throw new FormatFault(`a buffer of ${length} bytes must have ${needed}`);
    return buffer;
  }
}

/** Bytes of one value of a type of numbers. */
function computeWidth(type: DataType): number {
  const { ArrayType } = type as { ArrayType?: { BYTES_PER_ELEMENT?: number } };
  const width = ArrayType?.BYTES_PER_ELEMENT;
  if (width === undefined) throw new FormatFault(`type ${type.toString()} is not taken here`);
  return width;
}
