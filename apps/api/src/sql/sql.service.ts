import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import {
  checkUserSql,
  describeExceededLimit,
  explainQuery,
  limitRows,
  type QueryPlan,
  USER_SQL_LIMITS,
  UserSqlError,
} from '@retrace/store/user-sql';
import { createStoreClient, StoreError, type StatementOptions, type StoreClient } from '@retrace/store';
import type { Json } from '@retrace/trajectory';
import { performance } from 'node:perf_hooks';
import { requestSettings } from '../store/asked-moment.js';
import { ApiConfig } from '../config/api-config.js';
import { ProblemError } from '../problems/problem.js';
import { StoreService } from '../store/store.service.js';
import {
  ARROW_STREAM,
  MAX_JSON_ROWS,
  type SqlColumn,
  type SqlRequest,
  type SqlResult,
  type SqlSchema,
  type SqlTable,
} from './sql.dto.js';
import { integerReader } from './sql-values.js';

/** Tables that user SQL may read. */
const TABLES = [
  'runs',
  'episodes',
  'steps',
  'updates',
  'update_inputs',
  'update_tokens',
  'policies',
  'validations',
  'metrics',
  'warnings',
  'groups',
  'reward_assignments',
  'current_rewards',
  'reward_versions',
  'scores',
  'datasets',
  'dataset_episodes',
  'notebooks',
  'update_groups',
  'discarded_groups',
  'sampling_blocks',
  'forks',
  'step_values',
  'dead_letters',
  'events',
];
/** A SELECT without FROM reads from `system.one`. */
const READABLE = [...TABLES, 'system.one'];

/** A query that is too large fails with an error of the engine, before it can harm the store. The read-only user has these limits too. */
const LIMITS: StatementOptions['settings'] = {
  ...Object.fromEntries(Object.entries(USER_SQL_LIMITS).map(([name, limit]) => [name, `${limit}`])),
  // The result is held in memory and sent as JSON.
  max_result_bytes: `${64 * 1024 ** 2}`,
};

const READONLY_EXCEPTION = '164';

const LIST_COLUMNS = `
  SELECT table, name, type
  FROM system.columns
  WHERE database = currentDatabase() AND table IN {tables:Array(String)}
  ORDER BY indexOf({tables:Array(String)}, table), position`;

/** Runs user SQL: one checked SELECT, as the read-only user, within limits. */
@Injectable()
export class SqlService implements OnApplicationShutdown {
  private readonly readonlyClient: StoreClient;

  constructor(
    private readonly store: StoreService,
    config: ApiConfig,
  ) {
    const { url, readonlyUsername: username, readonlyPassword: password } = config.store;
    this.readonlyClient = createStoreClient({
      url,
      username,
      password,
      requestTimeoutMs: (USER_SQL_LIMITS.max_execution_time + 5) * 1000,
    });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.readonlyClient.close();
  }

  /** @throws ProblemError `SQL_REFUSED`, `SQL_FAILED` or `SQL_LIMIT_EXCEEDED`, with the reason */
  async run({ query, maxRows }: SqlRequest): Promise<SqlResult> {
    if (maxRows > MAX_JSON_ROWS) {
      const rule = `maxRows must be at most ${MAX_JSON_ROWS} for JSON, got ${maxRows}; ask for more rows with Accept: ${ARROW_STREAM}`;
      throw new ProblemError('SQL_LIMIT_EXCEEDED', rule, [{ field: 'maxRows', value: maxRows, rule }]);
    }
    const startedAt = performance.now();
    try {
      const statement = await this.check(query);
      const result = await this.readonlyClient.queryTable(limitRows(statement, maxRows + 1), {
        settings: { ...LIMITS, ...requestSettings() },
      });
      const readers = result.columns.map(({ type }) => integerReader(type));
      const rows = result.rows
        .slice(0, maxRows)
        .map((row) => row.map((value, column) => readers[column](value as Json)));
      return {
        columns: result.columns,
        rows,
        numRows: rows.length,
        truncated: result.rows.length > maxRows,
        elapsedMs: Math.round(performance.now() - startedAt),
      };
    } catch (error) {
      throw sqlProblem(error);
    }
  }

  /**
   * Returns at most `maxRows` rows in Arrow's streaming format.
   *
   * @throws ProblemError `SQL_REFUSED`, `SQL_FAILED` or `SQL_LIMIT_EXCEEDED`, with the reason
   */
  async runAsArrow({ query, maxRows }: SqlRequest): Promise<Uint8Array> {
    try {
      const statement = await this.check(query);
      const limited = limitRows(statement, maxRows);
      return await this.readonlyClient.queryArrow(limited, {
        settings: { ...LIMITS, ...requestSettings() },
        isUserSql: true,
      });
    } catch (error) {
      throw sqlProblem(error);
    }
  }

  /** @throws ProblemError `SQL_REFUSED`, `SQL_FAILED` or `SQL_LIMIT_EXCEEDED`, with the reason */
  async explain(query: string, signal: AbortSignal): Promise<QueryPlan> {
    try {
      const statement = await this.check(query);
      return await explainQuery(this.readonlyClient, statement, {
        settings: { ...LIMITS, ...requestSettings() },
        signal,
      });
    } catch (error) {
      throw sqlProblem(error);
    }
  }

  private async check(query: string): Promise<string> {
    this.store.requireReady();
    return checkUserSql(query, {
      tables: READABLE,
      explainAst: (sql) => this.readonlyClient.explainAst(sql),
    });
  }

  async schema(): Promise<SqlSchema> {
    const rows = await this.store.queryRows<SqlColumn & { table: string }>(LIST_COLUMNS, { tables: TABLES });
    const tables = new Map<string, SqlTable>();
    for (const { table, name, type } of rows) {
      if (!tables.has(table)) tables.set(table, { name: table, columns: [] });
      tables.get(table)?.columns.push({ name, type });
    }
    return { tables: [...tables.values()] };
  }
}

function sqlProblem(error: unknown): unknown {
  if (error instanceof UserSqlError) {
    return new ProblemError(error.code === 'USER_SQL_SYNTAX' ? 'SQL_FAILED' : 'SQL_REFUSED', error.message);
  }
  if (!(error instanceof StoreError) || error.code !== 'STORE_EXCEPTION') return error;
  const { code, message } = error.cause as { readonly code: string; readonly message: string };
  // Raised by the parser for a SETTINGS clause, which a read-only user may not have.
  if (code === READONLY_EXCEPTION) return new ProblemError('SQL_REFUSED', 'SETTINGS is not allowed');
  const exceeded = describeExceededLimit(Number(code), message);
  return exceeded === null
    ? new ProblemError('SQL_FAILED', message)
    : new ProblemError('SQL_LIMIT_EXCEEDED', exceeded);
}
