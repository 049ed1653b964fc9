import { runRetrace } from '../test/support/train-recipe.mjs';

/** Mean seconds of each part of a run's updates from one on, as the run recorded them. */
export function recordedTimes(directory, { from, isWithoutStore }) {
  if (isWithoutStore) runRetrace(['rebuild', '--data-dir', directory]);
  const query = `SELECT substring(name, 6) AS part, avg(value) AS mean FROM metrics
    WHERE source = 'trainer' AND name LIKE 'time/%' AND step >= ${from} GROUP BY part`;
  const rows = JSON.parse(runRetrace(['sql', query, '--format', 'json', '--data-dir', directory]));
  return Object.fromEntries(rows.map(({ part, mean }) => [part, Number(mean)]));
}

/**
 * Mean seconds of some updates of a synchronous run without a store: what the trainer recorded of each part; and of the collector, how long
 * it was `idle` before the round that follows, waited for the `log`, and was `held` after that round, which its update had not published yet.
 */
export function recordedWaits(directory, { from, to }) {
  runRetrace(['rebuild', '--data-dir', directory]);
  const query = `SELECT source, substring(name, 6) AS part, step, value FROM metrics WHERE name LIKE 'time/%' AND step >= ${from}`;
  const rows = JSON.parse(runRetrace(['sql', query, '--format', 'json', '--data-dir', directory]));
  const seconds = new Map(rows.map(({ source, part, step, value }) => [`${source} ${part} ${step}`, value]));
  // Round r is the first that update r does not train on.
  const updates = Array.from({ length: to - from + 1 }, (_, u) => from + u);
  const mean = (of) => updates.reduce((sum, update) => sum + of(update), 0) / updates.length;
  const recorded = (source, part, step) => {
    const value = Number(seconds.get(`${source} ${part} ${step}`));
    if (Number.isNaN(value)) throw new Error(`${source} recorded no time/${part} of step ${step}`);
    return value;
  };
  const parts = ['read', 'update', 'checkpoint'];
  return {
    ...Object.fromEntries(parts.map((part) => [part, mean((u) => recorded('trainer', part, u))])),
    ...Object.fromEntries(
      ['idle', 'log', 'held'].map((part) => [part, mean((u) => recorded('collector', part, u))]),
    ),
  };
}
