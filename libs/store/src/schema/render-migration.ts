import { StoreError } from '../client/store-error.js';
import { type SqlToken, sqlTokens } from '../user-sql/sql-tokens.js';
import { localTable } from '../client/store-layout.js';

export interface ClusterTarget {
  readonly cluster: string;
  /** The database of the tables. */
  readonly database: string;
}

/** Tables whose rows are spread over shards; every server has all rows of the others. */
const SHARDED_TABLES: ReadonlySet<string> = new Set(['events']);

/** Path in Keeper: `{uuid}` is the table's, the same on every server; `{shard}` and `{replica}` are macros of a server's configuration. */
const REPLICA_OF_SHARD = "'/clickhouse/tables/{uuid}/{shard}', '{replica}'";
const REPLICA_OF_ALL = "'/clickhouse/tables/{uuid}/all', '{shard}-{replica}'";

/**
 * Rewrites a statement of a migration for a cluster, as one statement or two:
 * every server runs it (`ON CLUSTER`), a MergeTree is replicated, and a sharded table is a local one with a `Distributed` one over it,
 * which has no sharding key so that the engine refuses inserts through it.
 *
 * @throws StoreError `MIGRATION_INVALID` for a statement of a form that has no rendering
 */
export function renderForCluster(sql: string, { cluster, database }: ClusterTarget): string[] {
  const tokens = [...sqlTokens(sql)];
  const at = findTarget(sql, tokens);
  const target = tokens[at];
  const onCluster = ` ON CLUSTER \`${cluster}\``;
  const renamed = (table: string, text = sql): string =>
    text.slice(0, target.start) + table + onCluster + text.slice(target.end);

  if (tokens[0].upper === 'CREATE' && tokens.slice(0, at).some(({ upper }) => upper === 'TABLE')) {
    const isSharded = SHARDED_TABLES.has(target.text);
    const replicated = replicate(sql, tokens, isSharded ? REPLICA_OF_SHARD : REPLICA_OF_ALL);
    if (!isSharded) return [renamed(target.text, replicated)];
    const local = localTable(target.text);
    return [
      renamed(local, replicated),
      `CREATE TABLE IF NOT EXISTS ${target.text}${onCluster} AS ${local} ENGINE = Distributed('${cluster}', '${database}', '${local}')`,
    ];
  }
  if (!SHARDED_TABLES.has(target.text)) return [renamed(target.text)];
  const local = renamed(localTable(target.text));
  return changesColumns(sql, tokens.slice(at + 1)) ? [local, renamed(target.text)] : [local];
}

/** Finds the index of the token that names the table or view of a statement. */
function findTarget(sql: string, tokens: readonly SqlToken[]): number {
  const form = tokens.slice(0, 8).map(({ upper }) => upper);
  const text = form.join(' ');
  const opening =
    /^(?:CREATE (?:OR REPLACE )?VIEW|CREATE TABLE IF NOT EXISTS|ALTER TABLE|DROP (?:TABLE|VIEW) IF EXISTS) (?=\S)/.exec(
      text,
    );
  const at = opening === null ? -1 : opening[0].trim().split(' ').length;
  const target = tokens[at] as SqlToken | undefined;
  const follower = tokens[at + 1] as SqlToken | undefined;
  if (target?.kind !== 'word' || follower?.text === '.') {
    const rule =
      'must be CREATE TABLE IF NOT EXISTS, CREATE [OR REPLACE] VIEW, ALTER TABLE, or DROP … IF EXISTS of a plain name without a database';
    throw new StoreError('MIGRATION_INVALID', `For a cluster a statement ${rule}; got ${sql.slice(0, 80)}`);
  }
  return at;
}

function replicate(sql: string, tokens: readonly SqlToken[], place: string): string {
  const at = tokens.findIndex(
    ({ upper }, i) => upper === 'ENGINE' && tokens[i + 1]?.text === '=' && tokens[i + 2]?.kind === 'word',
  );
  const engine = tokens[at + 2] as SqlToken | undefined;
  if (at < 0 || engine === undefined || !/^(?!Replicated)\w*MergeTree$/.test(engine.text)) {
    const got = at < 0 ? 'none' : (engine?.text ?? 'none');
    throw new StoreError(
      'MIGRATION_INVALID',
      `For a cluster a table's ENGINE must be a …MergeTree; got ${got}`,
    );
  }
  const hasArguments = tokens[at + 3]?.text === '(';
  const rest = sql.slice(hasArguments ? tokens[at + 3].end : engine.end);
  const isEmpty = tokens[at + 4]?.text === ')';
  const separator = !hasArguments ? ')' : isEmpty ? '' : ', ';
  return `${sql.slice(0, engine.start)}Replicated${engine.text}(${place}${separator}${rest}`;
}

/** Whether an ALTER changes columns, which a Distributed table has too, or only how rows are stored. */
function changesColumns(sql: string, tokens: readonly SqlToken[]): boolean {
  let depth = 0;
  const commands: SqlToken[][] = [[]];
  for (const token of tokens) {
    if (token.text === '(') depth++;
    else if (token.text === ')') depth--;
    if (token.text === ',' && depth === 0) commands.push([]);
    else commands[commands.length - 1].push(token);
  }
  // `MODIFY SETTING a = 1, b = 2` is one command.
  const kinds = commands.filter((command, i) => i === 0 || command[1]?.text !== '=');
  const numColumns = kinds.filter((command) => command[1]?.upper === 'COLUMN').length;
  if (numColumns !== 0 && numColumns !== kinds.length) {
    const rule = 'for a cluster columns must be changed in a statement of their own';
    throw new StoreError('MIGRATION_INVALID', `${sql.slice(0, 80)}; ${rule}`);
  }
  return numColumns > 0;
}
