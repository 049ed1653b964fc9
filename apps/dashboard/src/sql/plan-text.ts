import type { SqlPlan, SqlPlanIndex, SqlPlannedTable } from '../api/schema';
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

/** Tells how many rows of a table are read. */
export function describeRead({ table, numRows, totalRows }: SqlPlannedTable): string {
  const rows = `${formatCount(numRows)} ${numRows === 1 ? 'row' : 'rows'}`;
  if (totalRows === null) return `Reads ${rows} of ${table}`;
  // A table that is read twice counts twice.
  if (numRows > totalRows)
    return `Reads ${rows} of ${table}, which has ${formatCount(totalRows)}: it is read more than once`;
  if (isWhole({ numRows, totalRows })) return `Reads the whole of ${table}, ${rows}`;
  return `Reads ${formatCount(numRows)} of ${formatCount(totalRows)} rows of ${table}, ${formatPercent(numRows / totalRows)}`;
}

function isWhole({ numRows, totalRows }: Pick<SqlPlannedTable, 'numRows' | 'totalRows'>): boolean {
  return totalRows !== null && totalRows > 0 && numRows >= WHOLE_FRACTION * totalRows;
}

/** Advises on what to change so that less is read; null where that is not worth it. */
export function adviceOn({ tables, steps }: SqlPlan): string | null {
  const large = tables.find((read) => isWhole(read) && read.numRows >= MANY_ROWS);
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
