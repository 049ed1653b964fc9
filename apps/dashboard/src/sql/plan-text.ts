import type { SqlPlan, SqlPlanIndex, SqlPlannedTable } from '../api-types/schema';
import { formatCount, formatPercent } from '../format/numbers';

/** The share of a table from which on the whole table is read, as far as time is concerned. */
const WHOLE_FRACTION = 0.9;
/** Fewer rows than that take no time that anybody notices. */
const MANY_ROWS = 100_000;

const STEP_NAMES: Readonly<Record<string, string>> = {
  Aggregating: 'Group',
  ArrayJoin: 'Unfold a list',
  LimitBy: 'Limit',
  MergingAggregated: 'Group',
  ReadFromMergeTree: 'Read',
  ReadFromPreparedSource: 'Known answer',
  ReadFromSystemOne: 'Read nothing',
  Sorting: 'Sort',
};

const INDEX_NAMES: Readonly<Record<string, string>> = {
  PrimaryKey: 'Primary key',
  Skip: 'Skip index',
};

/** A step in words of SQL; the engine's own word for the rare ones. */
export function stepName(name: string): string {
  return STEP_NAMES[name] ?? name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ');
}

/** Tells how many rows of a table are read, in all steps that read it. */
export function describeRead(read: SqlPlannedTable, steps: SqlPlan['steps']): string {
  const { table, numRows, totalRows } = read;
  const rows = `${formatCount(numRows)} ${numRows === 1 ? 'row' : 'rows'}`;
  if (totalRows === null) return `Reads ${rows} of ${table}`;
  const numReads = countReads(table, steps);
  if (isWhole(read, numReads))
    return `Reads the whole of ${table}${numReads > 1 ? `, ${numReads} times` : ''}, ${rows}`;
  if (numReads > 1)
    return `Reads ${rows} of ${table}, which has ${formatCount(totalRows)}, in ${numReads} steps`;
  return `Reads ${formatCount(numRows)} of ${formatCount(totalRows)} rows of ${table}, ${formatPercent(numRows / totalRows)}`;
}

function countReads(table: string, steps: SqlPlan['steps']): number {
  return steps.filter(({ name, detail }) => name.startsWith('Read') && detail === table).length;
}

/** Whether each read is of the whole table, on average: their rows are known as a sum. */
function isWhole({ numRows, totalRows }: SqlPlannedTable, numReads: number): boolean {
  if (totalRows === null || totalRows === 0) return false;
  return numRows >= WHOLE_FRACTION * totalRows * Math.max(1, numReads);
}

/** The views, and tables beside those that are read, that a query names. */
export function listViews({ names, tables }: SqlPlan): readonly string[] {
  return names.filter((name) => tables.every(({ table }) => table !== name));
}

/** Advises on what to change so that less is read; null where that is not worth it. */
export function adviceOn({ tables, steps }: SqlPlan): string | null {
  const large = tables.find(
    (read) => isWhole(read, countReads(read.table, steps)) && read.numRows >= MANY_ROWS,
  );
  if (large === undefined) return null;
  const keys = steps.flatMap(({ indexes }) => indexes).filter(({ type }) => type === 'PrimaryKey');
  const hasRun = keys.some(({ condition }) => condition.includes('run_id'));
  return hasRun
    ? 'The run is most of the table: a filter by episode_id reads less.'
    : 'A filter by run_id reads less, because rows are stored in the order run, episode, step.';
}

/** Tells how much an index left to be read. */
export function describeIndex({ type, name, numGranules, totalGranules }: SqlPlanIndex): string {
  const index = `${INDEX_NAMES[type] ?? type} ${name}`.trim();
  return `${index}: ${formatCount(numGranules)} of ${formatCount(totalGranules)} granules`;
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** Formats 7,632,784 as `7.3 MiB`. */
export function formatBytes(bytes: number): string {
  const power = Math.min(bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10), UNITS.length - 1);
  return `${(bytes / 1024 ** power).toFixed(power === 0 ? 0 : 1)} ${UNITS[power]}`;
}
