/**
 * Runs the fault matrix at every commit point: kills the store at each call of an insert, of a merge and of a deletion (in parts with
 * one file, with a file per column, and merged column by column), and the sink at each call of its cursor and its requests.
 *
 *   npm run test:long -- faults [-- --points 60 --minutes 40 --skip 0 --matrix insert]
 *
 * A part with a file per column has hundreds of points that differ only in their names, so `--points` limits the number for each
 * matrix. Each matrix gets its share of `--minutes`. The points come in an order whose every prefix is evenly spread over all of them,
 * so no region is left out when time runs out; `--skip` continues after that many points of each matrix.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { FaultBench } from '../support/fault-bench.mjs';
import {
  countDeletionPoints,
  countHits,
  countInsertPoints,
  countMergePoints,
  countSinkPoints,
  killSink,
  killStoreInDeletion,
  killStoreInInsert,
  killStoreInMerge,
  sampleEvenly,
  spreadEvenly,
} from '../support/kill-points.mjs';
import { whyNoStrace } from '../support/strace.mjs';

const WIDE = 'min_bytes_for_wide_part = 0';
const VERTICAL = `${WIDE}, vertical_merge_algorithm_min_rows_to_activate = 1, vertical_merge_algorithm_min_columns_to_activate = 1`;
const { values } = parseArgs({
  options: {
    points: { type: 'string', default: '60' },
    minutes: { type: 'string', default: 'Infinity' },
    skip: { type: 'string', default: '0' },
    matrix: { type: 'string', multiple: true },
  },
});
const mostPoints = Number(values.points);
const endsAtMs = performance.now() + Number(values.minutes) * 60_000;
/** Long enough that a busy machine does not count as a fault. */
const VISIBLE_WITHIN_MS = 300_000;

const matrices = [
  { name: 'insert', count: countInsertPoints, kill: killStoreInInsert },
  { name: 'merge', count: countMergePoints, kill: killStoreInMerge },
  { name: 'deletion', count: countDeletionPoints, kill: killStoreInDeletion },
  { name: 'sink', count: countSinkPoints, kill: killSink },
  { name: 'insert of wide parts', settings: WIDE, count: countInsertPoints, kill: killStoreInInsert },
  { name: 'merge of wide parts', settings: WIDE, count: countMergePoints, kill: killStoreInMerge },
  { name: 'deletion from wide parts', settings: WIDE, count: countDeletionPoints, kill: killStoreInDeletion },
  { name: 'vertical merge', settings: VERTICAL, count: countMergePoints, kill: killStoreInMerge },
];

const chosen = matrices.filter(({ name }) => values.matrix?.includes(name) ?? true);
if (chosen.length === 0)
  throw new Error(`Unknown matrix in --matrix; known: ${matrices.map(({ name }) => name).join(', ')}`);

const noStrace = whyNoStrace();
if (noStrace !== null) {
  console.log(`skipped, because ${noStrace}`);
  process.exit(0);
}

const figures = [];
let hasFailed = false;
for (const [i, { name, settings, count, kill }] of chosen.entries()) {
  const shareMs = (endsAtMs - performance.now()) / (chosen.length - i);
  const untilMs = performance.now() + shareMs;
  const bench = await FaultBench.open();
  bench.visibleWithinMs = VISIBLE_WITHIN_MS;
  try {
    if (settings !== undefined) await bench.client.command(`ALTER TABLE events MODIFY SETTING ${settings}`);
    await bench.startSink();
    const all = await count(bench);
    const points = spreadEvenly(sampleEvenly(all, mostPoints)).slice(Number(values.skip));
    console.log(`${name}: ${all.length} points`);
    const outcomes = [];
    for (const point of points) {
      if (outcomes.length > 0 && performance.now() > untilMs) break;
      const outcome = await kill(bench, point);
      outcomes.push(outcome);
      const { faults } = outcome.audit;
      console.log(
        `${name}: ${outcome.point}, at ${outcome.hit || 'nothing: never reached'}: ${faults.length} faults`,
      );
      if (faults.length > 0) {
        hasFailed = true;
        console.error(faults.slice(0, 10).join('\n'));
      }
    }
    const numReached = outcomes.filter(({ hit }) => hit !== '').length;
    figures.push(
      { name: `${name}: points counted`, value: all.length },
      { name: `${name}: points taken`, value: outcomes.length },
      { name: `${name}: kills`, value: numReached },
      { name: `${name}: kinds of calls hit`, value: Object.keys(countHits(outcomes)).length },
      {
        name: `${name}: faults found`,
        value: outcomes.reduce((sum, { audit }) => sum + audit.faults.length, 0),
      },
      { name: `${name}: events at the end`, value: outcomes.at(-1)?.audit.numEvents ?? 0 },
    );
  } finally {
    await bench.close();
  }
}
if (process.env.RETRACE_RESULT_FILE) {
  const title = 'Kill -9 at the commit points of store and sink';
  writeFileSync(process.env.RETRACE_RESULT_FILE, JSON.stringify({ title, figures }));
}
process.exitCode = hasFailed ? 1 : 0;
