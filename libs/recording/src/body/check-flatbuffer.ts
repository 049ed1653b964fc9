/** Content of a slot of a table: a number of so many bytes, text, a vector of items of so many bytes each, one table, a vector of tables. */
export type TableField =
  | { readonly kind: 'number'; readonly bytes: number }
  | { readonly kind: 'text' }
  | { readonly kind: 'vector'; readonly itemBytes: number }
  | { readonly kind: 'table'; readonly of: () => TableLayout }
  | { readonly kind: 'tables'; readonly of: () => TableLayout }
  /** One table, whose layout the number in the slot before tells; undefined for a number that is not taken. */
  | { readonly kind: 'union'; readonly of: (tag: number) => TableLayout | undefined };

/** The slots of a table in the order of their ids. Slots that are not named are never read. */
export interface TableLayout {
  readonly name: string;
  readonly slots: readonly TableField[];
}

/** The bytes break a rule of the format; the message says which. */
export class FormatFault extends Error {}

const MAX_DEPTH = 32;
const OFFSET_BYTES = 4;

/** Most that the parts of a flatbuffer may add up to, as a multiple of the buffer's bytes. Only parts that are used many times over come to more than 1. */
const MAX_SHARING = 2;

/**
 * Checks that whatever a reader of this flatbuffer may follow lies within the buffer: tables, their vtables, vectors and texts; that tables are
 * not nested without end; and that all of it adds up to no more than twice the bytes, which bounds what a reader may allocate.
 *
 * Source: FlatBuffers internals (the binary format), and the `Verifier` of its C++ library, which JavaScript's has no equal of.
 *
 * @throws FormatFault
 */
export function checkFlatbuffer(bytes: Uint8Array, root: TableLayout): void {
  new FlatbufferCheck(bytes).checkTable(OFFSET_BYTES > bytes.length ? -1 : 0, root, 0);
}

class FlatbufferCheck {
  private readonly view: DataView;
  private bytesLeft: number;

  constructor(bytes: Uint8Array) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.bytesLeft = MAX_SHARING * bytes.byteLength;
  }

  /** Checks the table that the offset at `at` points to. */
  checkTable(at: number, layout: TableLayout, depth: number): void {
    const { name, slots } = layout;
    if (depth > MAX_DEPTH) throw new FormatFault(`${name} is nested more than ${MAX_DEPTH} deep`);
    const table = this.follow(at, name);
    const vtable = table - this.view.getInt32(table, true);
    this.need(vtable, 2 * Int16Array.BYTES_PER_ELEMENT, `the vtable of ${name}`);
    const vtableBytes = this.view.getInt16(vtable, true);
    const tableBytes = this.view.getInt16(vtable + Int16Array.BYTES_PER_ELEMENT, true);
    this.need(vtable, vtableBytes, `the vtable of ${name}`);
    if (vtableBytes % 2 !== 0)
      throw new FormatFault(`the vtable of ${name} has ${vtableBytes} bytes, an odd number`);
    this.take(table, tableBytes, name);
    let previous = 0;
    slots.forEach((slot, id) => {
      const entry = 2 * Int16Array.BYTES_PER_ELEMENT + id * Int16Array.BYTES_PER_ELEMENT;
      const field =
        entry + Int16Array.BYTES_PER_ELEMENT > vtableBytes ? 0 : this.view.getInt16(vtable + entry, true);
      const what = `slot ${id} of ${name}`;
      const bytes = slot.kind === 'number' ? slot.bytes : OFFSET_BYTES;
      if (field < 0 || (field > 0 && field + bytes > tableBytes))
        throw new FormatFault(`${what} lies outside its table`);
      const tag = previous;
      previous = field > 0 && slot.kind === 'number' ? this.view.getUint8(table + field) : 0;
      if (slot.kind === 'union')
        this.checkUnion(table + field, field > 0, slot.of(tag), { what, tag, depth });
      else if (field > 0) this.checkSlot(table + field, slot, what, depth);
    });
  }

  private checkUnion(
    at: number,
    given: boolean,
    layout: TableLayout | undefined,
    { what, tag, depth }: { what: string; tag: number; depth: number },
  ): void {
    if (layout === undefined) throw new FormatFault(`${what} is of type ${tag}, which is not taken here`);
    if (!given) throw new FormatFault(`${what} is missing`);
    this.checkTable(at, layout, depth + 1);
  }

  private checkSlot(
    at: number,
    slot: Exclude<TableField, { kind: 'union' }>,
    what: string,
    depth: number,
  ): void {
    if (slot.kind === 'number') return;
    if (slot.kind === 'table') this.checkTable(at, slot.of(), depth + 1);
    else if (slot.kind === 'text') this.checkVector(at, 1, what);
    else if (slot.kind === 'vector') this.checkVector(at, slot.itemBytes, what);
    else {
      const { first, length } = this.checkVector(at, OFFSET_BYTES, what);
      for (let i = 0; i < length; i++) this.checkTable(first + i * OFFSET_BYTES, slot.of(), depth + 1);
    }
  }

  private checkVector(at: number, itemBytes: number, what: string): { first: number; length: number } {
    const start = this.follow(at, what);
    const length = this.view.getInt32(start, true);
    const first = start + OFFSET_BYTES;
    if (length < 0) throw new FormatFault(`${what} has ${length} items`);
    this.take(first, length * itemBytes, what);
    return { first, length };
  }

  /** Where the offset at `at` points to, where at least 4 bytes are. */
  private follow(at: number, what: string): number {
    this.need(at, OFFSET_BYTES, `the offset of ${what}`);
    const target = at + this.view.getUint32(at, true);
    this.need(target, OFFSET_BYTES, what);
    return target;
  }

  private need(from: number, bytes: number, what: string): void {
    if (from < 0 || bytes < 0 || from + bytes > this.view.byteLength) {
      throw new FormatFault(`${what} lies outside the ${this.view.byteLength} bytes of its message`);
    }
  }

  private take(from: number, bytes: number, what: string): void {
    this.need(from, bytes, what);
    this.bytesLeft -= bytes + OFFSET_BYTES;
    if (this.bytesLeft < 0) throw new FormatFault(`the parts of its metadata up to ${what} overlap`);
  }
}
