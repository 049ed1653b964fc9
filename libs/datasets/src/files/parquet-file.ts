import { writeJson } from '@retrace/rows';
import type { Json } from '@retrace/trajectory';
import { type SchemaElement, parquetWriteRows } from 'hyparquet-writer';
import { fileWriter } from 'hyparquet-writer/src/node.js';
import type { DatasetRow } from '../formats/dataset-format.js';
import { isJsonText } from '../formats/parquet-columns.js';

const ROWS_PER_GROUP = 1_000;

/** Writes rows to a Parquet file with the given columns; a value that is no text is written to a text column as JSON. */
export async function writeParquet(
  path: string,
  columns: readonly (readonly SchemaElement[])[],
  rows: AsyncIterable<DatasetRow>,
): Promise<void> {
  const convert = columns.map((elements) => chooseConverter([...elements]));
  async function* converted() {
    for await (const row of rows)
      yield Object.fromEntries(columns.map(([{ name }], c) => [name, convert[c](row[name] ?? null)]));
  }
  await parquetWriteRows({
    writer: fileWriter(path),
    rows: converted(),
    columns: columns.map(([{ name }]) => ({ name })),
    schema: [{ name: 'root', num_children: columns.length }, ...columns.flat()],
    rowGroupSize: ROWS_PER_GROUP,
  });
}

type Converter = (value: Json) => unknown;

/** Takes a column's elements from the front of `elements`, and returns how its values are converted. */
function chooseConverter(elements: SchemaElement[]): Converter {
  const element = elements.shift();
  if (element?.num_children === undefined) return leafConverter(element);
  const names = Array.from({ length: element.num_children }, () => {
    const name = elements[0].name;
    return [name, chooseConverter(elements)] as const;
  });
  if (element.converted_type === 'LIST') {
    const [, item] = names[0];
    return (value) => (Array.isArray(value) ? value.map((entry: Json) => item(entry)) : null);
  }
  if (element.repetition_type === 'REPEATED') return names[0][1];
  return (value) =>
    value === null || typeof value !== 'object'
      ? null
      : Object.fromEntries(
          names.map(([name, convert]) => [name, convert((value as DatasetRow)[name] ?? null)]),
        );
}

function leafConverter(element: SchemaElement | undefined): Converter {
  if (element !== undefined && isJsonText(element))
    return (value) => (value === null ? null : writeJson(value));
  // A number beyond 2^53 comes out of the JSON lines as a text.
  if (element?.type === 'DOUBLE') return (value) => (value === null ? null : Number(value));
  if (element?.converted_type !== 'UTF8') return (value) => value;
  return (value) => (value === null || typeof value === 'string' ? value : writeJson(value));
}
