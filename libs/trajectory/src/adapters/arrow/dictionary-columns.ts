import { Dictionary, Int32, makeVector, Utf8, type Data } from 'apache-arrow';
import { INITIAL_ROWS, newData, type ColumnBuilder } from './column-builder.js';
import { GrowingArray } from './growing-array.js';
import { BytesColumn, newList, RowOffsets } from './ragged-columns.js';

/** The distinct texts of a column, numbered as they come. Number 0 is the empty text, so that rows left out are empty. */
class TextDictionary {
  private readonly indexes = new Map([['', 0]]);

  /** @param id tells the dictionaries of one stream apart */
  constructor(private readonly id: number) {}

  indexOf(text: string): number {
    const known = this.indexes.get(text);
    if (known !== undefined) return known;
    const index = this.indexes.size;
    this.indexes.set(text, index);
    return index;
  }

  finish(indexes: Int32Array): Data {
    const texts = new BytesColumn(new Utf8());
    [...this.indexes.keys()].forEach((text, row) => texts.set(row, text));
    const type = new Dictionary(new Utf8(), new Int32(), this.id);
    const dictionary = makeVector(texts.finish(this.indexes.size));
    return newData(type, { length: indexes.length, nullCount: 0, data: indexes, dictionary });
  }
}

/** Text with few distinct values. */
export class DictionaryColumn implements ColumnBuilder {
  readonly isNullable = false;
  private readonly dictionary: TextDictionary;
  private indexes: GrowingArray<Int32Array> | null = null;

  constructor(dictionaryId: number) {
    this.dictionary = new TextDictionary(dictionaryId);
  }

  get isUsed(): boolean {
    return this.indexes !== null;
  }

  set(row: number, text: string): void {
    if (text === '') return;
    this.indexes ??= new GrowingArray(Int32Array, INITIAL_ROWS);
    this.indexes.set(row, this.dictionary.indexOf(text));
  }

  finish(numRows: number): Data {
    this.indexes?.extend(numRows);
    return this.dictionary.finish(this.indexes?.finish() ?? new Int32Array(numRows));
  }
}

/** A list a row of texts with few distinct values. */
export class DictionaryListColumn implements ColumnBuilder {
  readonly isNullable = false;
  private readonly dictionary: TextDictionary;
  private indexes: GrowingArray<Int32Array> | null = null;
  private readonly offsets = new RowOffsets();

  constructor(dictionaryId: number) {
    this.dictionary = new TextDictionary(dictionaryId);
  }

  get isUsed(): boolean {
    return this.indexes !== null;
  }

  set(row: number, texts: readonly string[]): void {
    if (texts.length === 0) return;
    this.indexes ??= new GrowingArray(Int32Array, INITIAL_ROWS);
    const start = this.indexes.length;
    this.indexes.append(texts.map((text) => this.dictionary.indexOf(text)));
    this.offsets.set(row, start, this.indexes.length);
  }

  finish(numRows: number): Data {
    const indexes = this.indexes?.finish() ?? new Int32Array(0);
    return newList(this.dictionary.finish(indexes), this.offsets.finish(numRows, indexes.length), numRows);
  }
}
