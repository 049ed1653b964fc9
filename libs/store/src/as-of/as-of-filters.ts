import type { ClickHouseSettings, SettingsMap } from '@clickhouse/client';

const TIME = /fromUnixTimestamp64Micro\(toInt64\((\d{1,16})\)/;

/**
 * Conditions on the rows of each table that hold what was known at a time: the engine adds them to every read, also to those in views. The views
 * then show runs, episodes, rewards, tags, updates and metrics as they were.
 *
 * An event counts from the time that it states, a score and a reward definition from when they were written. Records that are no events have no
 * such time: they always count. What was deleted since is gone. The tables have the name of their database, since a query may call others so.
 *
 * @param timeUs microseconds since the Unix epoch; what happened in that microsecond counts
 */
function conditionsAsOf(timeUs: number): Readonly<Record<string, string>> {
  const time = `fromUnixTimestamp64Micro(toInt64(${timeUs}), 'UTC')`;
  return {
    'default.events': `occurred_at <= ${time}`,
    'default.reward_scores': `scored_at <= ${time}`,
    'default.reward_definitions': `named_at <= ${time}`,
    // Its rows have no time: they stand for events.
    'default.traced_inputs': `(plan_id, epoch) IN (
      SELECT plan_id, epoch FROM default.events WHERE episode_id = '' AND kind = 'UpdateTraced' AND occurred_at <= ${time})`,
  };
}

/** Value of the engine's setting `additional_table_filters`, as text, since the client's own map does not escape quotes. */
export function filtersAsOf(timeUs: number): string {
  const entries = Object.entries(conditionsAsOf(timeUs)).map(
    ([table, condition]) => `${quoted(table)}: ${quoted(condition)}`,
  );
  return `{${entries.join(', ')}}`;
}

/** As a text of SQL. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "\\'")}'`;
}

/** Settings with which a statement reads what was known at a time, in microseconds since the Unix epoch. */
export function settingsAsOf(timeUs: number): ClickHouseSettings {
  return { additional_table_filters: filtersAsOf(timeUs) as unknown as SettingsMap };
}

/** Whether a value of that setting is one that `filtersAsOf` makes. A user could write any SQL in another. */
export function isAsOf(filters: string): boolean {
  const [, timeUs] = TIME.exec(filters) ?? [];
  return timeUs !== undefined && filtersAsOf(Number(timeUs)) === filters;
}
