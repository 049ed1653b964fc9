import type { PlanStep, QueryPlan } from '@retrace/store/user-sql';
import { CliError } from '../cli-error.js';
import type { StoreSession } from '../services/connection.js';
import { renderRecords } from '../terminal/table.js';
import { shownText } from '../terminal/shown-text.js';

interface PlanToPrint {
  readonly sql: string;
  readonly isJson: boolean;
  /** As `runQuery` takes them. */
  readonly settings: Readonly<Record<string, string>>;
}

/**
 * Asks the store, as its read-only user, how it would answer a query, and writes that to stdout.
 *
 * @throws CliError `QUERY_FAILED` with the engine's reason; StoreError where the store does not answer
 */
export async function printPlan(session: StoreSession, { isJson, ...query }: PlanToPrint): Promise<void> {
  const plan = await readPlan(session, query);
  if (isJson) {
    console.log(JSON.stringify(plan, null, 2));
    return;
  }
  console.log(
    plan.tables.length === 0 ? 'reads no rows: the engine knows the answer' : renderRecords(plan.tables),
  );
  console.log(`\n${plan.steps.flatMap(listLines).join('\n')}`);
}

async function readPlan(
  { directory, storeUrl }: StoreSession,
  { sql, settings }: Omit<PlanToPrint, 'isJson'>,
): Promise<QueryPlan> {
  const { createStoreClient, StoreError } = await import('@retrace/store');
  const { describeExceededLimit, explainQuery } = await import('@retrace/store/user-sql');
  const { readonlyUser: username, readonlyPassword: password } = directory.credentials();
  const client = createStoreClient({ url: storeUrl, username, password });
  try {
    return await explainQuery(client, sql, { settings });
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== 'STORE_EXCEPTION') throw error;
    const { code, message } = error.cause as { readonly code: string; readonly message: string };
    const reason = describeExceededLimit(Number(code), message) ?? message;
    throw new CliError('QUERY_FAILED', `query: ${reason}`, { cause: error });
  } finally {
    await client.close();
  }
}

function listLines({ depth, name, detail, indexes }: PlanStep): string[] {
  const indent = '  '.repeat(depth);
  return [
    `${indent}${name} ${shownText(detail)}`.trimEnd(),
    ...indexes.map(
      (index) =>
        `${indent}  ${index.type} ${index.name}: ${index.numGranules} of ${index.totalGranules} granules, by ${shownText(index.condition)}`,
    ),
  ];
}
