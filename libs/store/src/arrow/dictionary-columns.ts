import { type Data, Dictionary, Int32, makeVector, Utf8 } from './apache-arrow.js';
import { type ColumnBuilder, INITIAL_ROWS, newData } from './column-builder.js';
import { GrowingArray } from './growing-array.js';
import { BytesColumn, newList, RowOffsets } from './ragged-columns.js';

/** The distinct texts of a column, numbered in order of appearance. Number 0 is the empty text, so that rows left out are empty. */
class TextDictionary {
  private readonly indexes = new Map([['', 0]]);

  /** @param id distinguishes the dictionaries of one stream */
  constructor(private readonly id: number) {}

  indexOf(text: string): number {
    const known = this.indexes.get(text);
    if (known !== undefined) return known;
    const index = this.indexes.size;
    this.indexes.set(text, index);
    return index;
  }

  clear(): void {
    this.indexes.clear();
    this.indexes.set('', 0);
  }

  finish(indexes: Int32Array): Data {
    const texts = new BytesColumn(new Utf8());
    [...this.indexes.keys()].forEach((text, row) => texts.set(row, text));
    const type = new Dictionary(new Utf8(), new Int32(), this.id);
    const dictionary = makeVector(texts.finish(this.indexes.size));
    return newData(type, { length: indexes.length, nullCount: 0, data: indexes, dictionary });
  }
}

/** A column of text with few distinct values. */
export class DictionaryColumn implements ColumnBuilder {
  readonly isNullable = false;
  private readonly dictionary: TextDictionary;
  private readonly indexes = new GrowingArray(Int32Array, INITIAL_ROWS);

  constructor(dictionaryId: number) {
    this.dictionary = new TextDictionary(dictionaryId);
  }

  get isUsed(): boolean {
    return this.indexes.length > 0;
  }

  set(row: number, text: string): void {
    if (text === '') return;
    this.indexes.set(row, this.dictionary.indexOf(text));
  }

  finish(numRows: number): Data {
    this.indexes.extend(numRows);
    return this.dictionary.finish(this.indexes.finish());
  }

  clear(): void {
    this.indexes.clear();
    this.dictionary.clear();
  }
}

/** A column with a list in each row, of texts with few distinct values. */
export class DictionaryListColumn implements ColumnBuilder {
  readonly isNullable = false;
  private readonly dictionary: TextDictionary;
  private readonly indexes = new GrowingArray(Int32Array, INITIAL_ROWS);
  private readonly offsets = new RowOffsets();

  constructor(dictionaryId: number) {
    this.dictionary = new TextDictionary(dictionaryId);
  }

  get isUsed(): boolean {
    return this.indexes.length > 0;
  }

  set(row: number, texts: readonly string[]): void {
    if (texts.length === 0) return;
    const start = this.indexes.length;
    this.indexes.append(texts.map((text) => this.dictionary.indexOf(text)));
    this.offsets.set(row, start, this.indexes.length);
  }

  finish(numRows: number): Data {
    const indexes = this.indexes.finish();
    return newList(this.dictionary.finish(indexes), this.offsets.finish(numRows, indexes.length), numRows);
  }

  clear(): void {
    this.indexes.clear();
    this.offsets.clear();
    this.dictionary.clear();
  }
}
