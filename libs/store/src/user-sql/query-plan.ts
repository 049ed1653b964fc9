import type { StatementOptions, StoreClient } from '../client/store-client.js';
import { sqlTokens } from './sql-tokens.js';
import { USER_SQL_LIMITS } from './user-sql-limits.js';
import { readName, readSyntaxTree } from './syntax-tree.js';
import { WithNames } from './with-names.js';

/** How the engine will answer a SELECT. */
export interface QueryPlan {
  /** Tables and views that the SELECT names, without expressions of WITH that have the name of one. */
  readonly names: readonly string[];
  /** Rows that are read of each table, of those behind the views too. Empty where the engine answers from counts that it keeps. */
  readonly tables: readonly PlannedTable[];
  /** From the result down to what is read: each step takes what the steps one level below it give. */
  readonly steps: readonly PlanStep[];
}

export interface PlannedTable {
  readonly table: string;
  /** Rows that will be read; a table that is read twice counts twice. */
  readonly numRows: number;
  /** Rows of the table now; null where the engine doesn't count them. */
  readonly totalRows: number | null;
  /** Compressed bytes of these rows in all columns, estimated by their share of the table: a query that names few columns reads less. */
  readonly maxBytes: number | null;
  readonly numParts: number;
  readonly numGranules: number;
}

export interface PlanStep {
  /** 0 for the step that gives the result. */
  readonly depth: number;
  /** The engine's name, as `Aggregating`. */
  readonly name: string;
  /** Keys, conditions or the table, in the engine's words; `''` for none. */
  readonly detail: string;
  /** Which parts of a table the indexes leave to be read; empty in steps that read no table. */
  readonly indexes: readonly PlanIndex[];
}

/** An index that the engine asked, with what was left after it. */
export interface PlanIndex {
  /** `PrimaryKey`, `Skip`, `MinMax`, `Partition`. */
  readonly type: string;
  /** Its name, or the columns of the key that are used. */
  readonly name: string;
  /** `true` where it could leave nothing out. */
  readonly condition: string;
  readonly numParts: number;
  readonly totalParts: number;
  /** A granule is the least that is read: some thousand rows. */
  readonly numGranules: number;
  readonly totalGranules: number;
}

/** Steps that name or compute columns, or prepare others: what they do is in those above them. */
const LEFT_OUT: ReadonlySet<string> = new Set(['Expression', 'BuildRuntimeFilter', 'CreatingSets']);

const MAX_DETAIL_LENGTH = 400;

const TOTALS = 'SELECT name, total_rows, total_bytes FROM system.tables WHERE database = currentDatabase()';

/**
 * Asks the engine how it will answer a SELECT, which it does not run, except for subqueries whose value the plan depends on. They are computed twice, within
 * the time of one query.
 *
 * @param sql a statement that `checkUserSql` accepts, or that the store checks for this user
 * @throws StoreError
 */
export async function explainQuery(
  client: Pick<StoreClient, 'explain' | 'queryTable'>,
  sql: string,
  options?: StatementOptions,
): Promise<QueryPlan> {
  const startedAtMs = performance.now();
  const tree = await client.explain<{ readonly explain: string }>('AST', sql, options);
  const [plan] = await client.explain<{ readonly explain: string }>(
    'PLAN actions = 1, indexes = 1, json = 1',
    sql,
    options,
  );
  const elapsedSeconds = (performance.now() - startedAtMs) / 1000;
  const leftSeconds = Math.max(1, Math.ceil(USER_SQL_LIMITS.max_execution_time - elapsedSeconds));
  const estimates = await client.explain<Estimate>('ESTIMATE', sql, {
    ...options,
    settings: { ...options?.settings, max_execution_time: leftSeconds },
  });
  const { rows } = await client.queryTable(TOTALS, { signal: options?.signal });
  const totals = new Map(rows.map(([name, numRows, bytes]) => [name, { numRows, bytes }]));
  const withNames = new WithNames([...sqlTokens(sql)]);
  const named = readSyntaxTree(tree.map(({ explain }) => explain).join('\n'))
    .filter(({ type }) => type === 'TableIdentifier')
    .map((node) => readName(node).replace(/^default\./, ''));
  const [{ Plan: root }] = JSON.parse(plan.explain) as readonly { readonly Plan: PlanNode }[];
  return {
    names: [...new Set(named)].filter((name) => totals.has(name) && !withNames.has(name)),
    tables: estimates.map((estimate) => {
      const { numRows, bytes } = totals.get(estimate.table) ?? {};
      return plannedTable(estimate, numberOrNull(numRows), numberOrNull(bytes));
    }),
    steps: listSteps(root, 0),
  };
}

/** A row of EXPLAIN ESTIMATE, whose 64-bit integers may be text. */
interface Estimate {
  readonly table: string;
  readonly parts: number | string;
  readonly rows: number | string;
  readonly marks: number | string;
}

function plannedTable(
  { table, parts, rows, marks }: Estimate,
  totalRows: number | null,
  totalBytes: number | null,
): PlannedTable {
  const numRows = Number(rows);
  const isCounted = totalRows !== null && totalRows > 0 && totalBytes !== null;
  return {
    ...{ table, numRows, totalRows, numParts: Number(parts), numGranules: Number(marks) },
    maxBytes: isCounted ? Math.round((totalBytes * numRows) / totalRows) : null,
  };
}

function numberOrNull(value: unknown): number | null {
  return value === null || value === undefined ? null : Number(value);
}

/** A node of EXPLAIN PLAN with `json`; which fields there are depends on its type. */
type PlanNode = Readonly<Record<string, unknown>> & {
  readonly 'Node Type': string;
  readonly Description?: string;
  readonly Plans?: readonly PlanNode[];
  readonly Indexes?: readonly IndexNode[];
};

interface IndexNode {
  readonly Type: string;
  readonly Name?: string;
  readonly Keys?: readonly string[];
  readonly Condition?: string;
  readonly 'Initial Parts': number;
  readonly 'Selected Parts': number;
  readonly 'Initial Granules': number;
  readonly 'Selected Granules': number;
}

function listSteps(node: PlanNode, depth: number): readonly PlanStep[] {
  const { 'Node Type': name, Plans: below = [], Indexes: indexes = [] } = node;
  const isShown = !LEFT_OUT.has(name);
  const inner = below.flatMap((one) => listSteps(one, isShown ? depth + 1 : depth));
  if (!isShown) return inner;
  return [{ depth, name, detail: toDetail(node), indexes: indexes.map(toPlanIndex) }, ...inner];
}

function toPlanIndex(index: IndexNode): PlanIndex {
  const { Type: type, Name: name, Keys: keys = [], Condition: condition = 'true' } = index;
  return {
    ...{ type, name: name ?? keys.join(', '), condition: readable(condition) },
    ...{ numParts: index['Selected Parts'], totalParts: index['Initial Parts'] },
    ...{ numGranules: index['Selected Granules'], totalGranules: index['Initial Granules'] },
  };
}

/** Tells of a step by the fields that its type has. */
function toDetail(node: PlanNode): string {
  const records = (list: unknown) => list as readonly Readonly<Record<string, unknown>>[];
  const texts = (list: unknown) => (list as readonly string[]).join(', ');
  if (node.Indexes !== undefined || node['Node Type'].startsWith('Read'))
    return (node.Description ?? '').replace(/^default\./, '');
  if (node.Keys !== undefined)
    return readable(
      [
        texts(node.Keys),
        records(node.Aggregates ?? [])
          .map(({ Name }) => Name)
          .join(', '),
      ]
        .filter((part) => part !== '')
        .join(' → '),
    );
  if (node.Clauses !== undefined) return readable(`${node.Type} ${node.Clauses}`);
  const sorted = node['Result Sort Description'] ?? node['Sort Description'];
  if (sorted !== undefined)
    return readable(
      records(sorted)
        .map(({ Column, Ascending }) => (Ascending === false ? `${Column} DESC` : `${Column}`))
        .join(', '),
    );
  if (node.Columns !== undefined) {
    const limit = node.Length === undefined ? '' : `${node.Length} for each `;
    return readable(`${limit}${texts(node.Columns)}`);
  }
  if (node.Limit !== undefined) return `${node.Limit}`;
  if (node['Filter Column'] !== undefined) return readable(`${node['Filter Column']}`);
  return '';
}

/** Without the numbers that the engine gives tables, and the types that it gives constants. */
function readable(text: string): string {
  const plain = text
    .replaceAll(/__table\d+\./g, '')
    .replaceAll(/__set_[\w()]+/g, 'subquery')
    .replaceAll(/(?<=['\d])_(?:String|U?Int\d+|Float\d+|Bool)\b/g, '');
  return plain.length <= MAX_DETAIL_LENGTH ? plain : `${plain.slice(0, MAX_DETAIL_LENGTH)}…`;
}
