import { hash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { RowIdentity } from './contamination/contamination.js';
import { sha256OfFile } from './dataset-directory.js';
import { JsonlFile, readJsonl } from './files/jsonl-file.js';
import { writeParquet } from './files/parquet-file.js';
import type { DatasetFormat, DatasetRow, RowPlan } from './formats/dataset-format.js';
import { withoutCalls } from './formats/parquet-columns.js';
import type { DatasetFileFormat, ManifestSplit } from './manifest.js';

interface WrittenSplit {
  readonly file: JsonlFile;
  readonly identities: RowIdentity[];
}

/** Writes the rows of a data set as JSON lines, a file for each split, with the lineage of each row. */
export class DatasetWriter {
  numDuplicates = 0;
  private readonly splits = new Map<string, WrittenSplit>();
  private readonly seen = new Set<string>();
  /** Fields that some row has: a column without a value would change how trainers read the others. */
  private readonly fields = new Set<string>();

  /** Whether a row may have tool calls. */
  private hasCalls = false;

  private constructor(
    private readonly directory: string,
    private readonly lineage: JsonlFile,
    private readonly dropsDuplicates: boolean,
  ) {}

  static async create(
    directory: string,
    options: { readonly dropDuplicates: boolean },
  ): Promise<DatasetWriter> {
    const lineage = await JsonlFile.create(join(directory, 'lineage.jsonl'));
    return new DatasetWriter(directory, lineage, options.dropDuplicates);
  }

  /** The tasks and states that each row covers, by split. */
  get identities(): ReadonlyMap<string, readonly RowIdentity[]> {
    return new Map([...this.splits].map(([split, { identities }]) => [split, identities]));
  }

  async write(
    { split, members }: RowPlan,
    { row, line }: { readonly row: DatasetRow; readonly line: string },
    identity: RowIdentity,
  ): Promise<void> {
    if (this.isDuplicate(row) && this.dropsDuplicates) return;
    const written = await this.splitNamed(split);
    const place = { split, row: written.file.numRows };
    for (const field in row) this.fields.add(field);
    this.hasCalls ||= line.includes('"arguments":');
    await written.file.write(line);
    written.identities.push(identity);
    const from = members.map(({ episode: { facts }, step }) => ({
      runId: facts.runId,
      episodeId: facts.episodeId,
      step,
    }));
    await this.lineage.write(JSON.stringify({ ...place, members: from }));
  }

  /** Ends the files, converts them to `fileFormat`, and returns the splits in order of their names, and the hash of the content. */
  async finish(
    fileFormat: DatasetFileFormat,
    columns: DatasetFormat['columns'],
    checkRows: () => Promise<void>,
  ): Promise<{ readonly splits: readonly ManifestSplit[]; readonly contentHash: string }> {
    await this.lineage.finish();
    const ended: { split: string; numRows: number; sha256: string }[] = [];
    for (const [split, { file }] of [...this.splits].sort(([a], [b]) => (a < b ? -1 : 1)))
      ended.push({ split, numRows: file.numRows, sha256: await file.finish() });
    await checkRows();
    const contentHash = hash('sha256', ended.map(({ split, sha256 }) => `${split} ${sha256}\n`).join(''));
    const splits: ManifestSplit[] = [];
    for (const { split, numRows, sha256 } of ended) {
      const file = fileOf(split, fileFormat);
      const path = join(this.directory, file);
      if (fileFormat === 'parquet') {
        const present = columns.filter(([{ name }]) => this.fields.has(name));
        await writeParquet(path, this.hasCalls ? present : present.map(withoutCalls), this.rowsOf(split));
        await rm(join(this.directory, fileOf(split, 'jsonl')));
      }
      splits.push({
        split,
        numRows,
        file,
        sha256: fileFormat === 'jsonl' ? sha256 : await sha256OfFile(path),
      });
    }
    return { splits, contentHash };
  }

  /** Reads the rows of a split that has ended. */
  rowsOf(split: string): AsyncIterable<DatasetRow> {
    return readJsonl(join(this.directory, fileOf(split, 'jsonl')));
  }

  async abort(): Promise<void> {
    await Promise.all([this.lineage.abort(), ...[...this.splits.values()].map(({ file }) => file.abort())]);
  }

  /** Whether a row with the same conversations was written before, whatever its ids. */
  private isDuplicate({
    extra_info: _,
    item_id: __,
    session_id: ___,
    trajectory_id: ____,
    ...content
  }: DatasetRow) {
    const key = hash('sha256', JSON.stringify(content), 'base64');
    const isKnown = this.seen.has(key);
    if (isKnown) this.numDuplicates += 1;
    this.seen.add(key);
    return isKnown;
  }

  private async splitNamed(split: string): Promise<WrittenSplit> {
    const known = this.splits.get(split);
    if (known !== undefined) return known;
    const file = await JsonlFile.create(join(this.directory, fileOf(split, 'jsonl')));
    const written = { file, identities: [] };
    this.splits.set(split, written);
    return written;
  }
}

/** Hugging Face `datasets` finds the split in a file's name. */
const fileOf = (split: string, fileFormat: DatasetFileFormat): string =>
  `data/${split}-00000-of-00001.${fileFormat}`;
