import { runRetrace } from '../test/support/train-recipe.mjs';

/** Mean seconds of each part of a run's updates from one on, as the run recorded them. */
export function recordedTimes(directory, { from, isWithoutStore }) {
  if (isWithoutStore) runRetrace(['rebuild', '--data-dir', directory]);
  const query = `SELECT substring(name, 6) AS part, avg(value) AS mean FROM metrics
    WHERE source = 'trainer' AND name LIKE 'time/%' AND step >= ${from} GROUP BY part`;
  const rows = JSON.parse(runRetrace(['sql', query, '--format', 'json', '--data-dir', directory]));
  return Object.fromEntries(rows.map(({ part, mean }) => [part, Number(mean)]));
}
