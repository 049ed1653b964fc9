import { text } from 'node:stream/consumers';
import type { CommonOptions } from '../../options.js';
import { CliError } from '../../cli-error.js';
import { findRunId } from '../../run/find-run.js';
import type { StoreSession } from '../../services/connection.js';
import { withStore } from '../../services/store-session.js';
import { printPlan } from '../../queries/print-plan.js';
import { printQuery, type QueryFormat } from '../../queries/print-query.js';

interface SqlOptions extends CommonOptions {
  /** Default: a table, or JSON with `--json`. */
  readonly format?: QueryFormat;
  /** A moment as `readMoment` takes it; of a run also a part of its id. */
  readonly asOf?: string;
  /** Shows the plan in place of the result. */
  readonly explain?: true;
}

/** Runs a query, given or read from standard input, and prints its result. */
export async function sql(
  query: string,
  { dataDir, json, asOf, explain, format = json === true ? 'json' : 'table' }: SqlOptions,
): Promise<void> {
  if (explain === true && format !== 'table' && format !== 'json')
    throw new CliError('OPTION_INVALID', `--explain prints a table or JSON, not ${format}`);
  const statement = query === '-' ? await text(process.stdin) : query;
  await withStore({ dataDir }, async (session) => {
    const settings = asOf === undefined ? {} : await settingsOfMoment(session, asOf);
    if (explain === true) await printPlan(session, { sql: statement, isJson: format === 'json', settings });
    else await printQuery(session, { sql: statement, format, settings });
  });
}

async function settingsOfMoment(
  { client, log }: StoreSession,
  moment: string,
): Promise<Readonly<Record<string, string>>> {
  const { filtersAsOf, readMoment, StoreError } = await import('@retrace/store');
  const [, run, update] = /^([^@]+)(@\d+)$/.exec(moment) ?? [];
  const complete = run === undefined ? moment : `${await findRunId(log, run)}${update}`;
  const timeUs = await readMoment(client, complete).catch((cause: unknown) => {
    if (!(cause instanceof StoreError) || cause.code === 'STORE_UNAVAILABLE') throw cause;
    throw new CliError('OPTION_INVALID', `--as-of: ${cause.message}`, { cause });
  });
  return { additional_table_filters: filtersAsOf(timeUs) };
}
