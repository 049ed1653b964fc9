/**
 * The fault matrix at every commit point: the store is killed at each call of an insert and of a merge (parts of one file, of a file a
 * column, and merged column by column), and the sink at each call of its cursor and its requests.
 *
 *   npm run test:long -- faults [-- --points N]
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { FaultBench } from '../support/fault-bench.mjs';
import {
  countHits,
  countInsertPoints,
  countMergePoints,
  countSinkPoints,
  killSink,
  killStoreInInsert,
  killStoreInMerge,
} from '../support/kill-points.mjs';
import { whyNoStrace } from '../support/strace.mjs';

const WIDE = 'min_bytes_for_wide_part = 0';
const VERTICAL = `${WIDE}, vertical_merge_algorithm_min_rows_to_activate = 1, vertical_merge_algorithm_min_columns_to_activate = 1`;
/** A part with a file a column has hundreds of points, alike but for their names: so many of each matrix, evenly spread. */
const { values } = parseArgs({ options: { points: { type: 'string', default: '60' } } });
const mostPoints = Number(values.points);

const matrices = [
  { name: 'insert', count: countInsertPoints, kill: killStoreInInsert },
  { name: 'merge', count: countMergePoints, kill: killStoreInMerge },
  { name: 'sink', count: countSinkPoints, kill: killSink },
  { name: 'insert of wide parts', settings: WIDE, count: countInsertPoints, kill: killStoreInInsert },
  { name: 'merge of wide parts', settings: WIDE, count: countMergePoints, kill: killStoreInMerge },
  { name: 'vertical merge', settings: VERTICAL, count: countMergePoints, kill: killStoreInMerge },
];

const noStrace = whyNoStrace();
if (noStrace !== null) {
  console.log(`skipped, because ${noStrace}`);
  process.exit(0);
}

const figures = [];
let hasFailed = false;
for (const { name, settings, count, kill } of matrices) {
  const bench = await FaultBench.open();
  try {
    if (settings !== undefined) await bench.client.command(`ALTER TABLE events MODIFY SETTING ${settings}`);
    await bench.startSink();
    const all = await count(bench);
    const points = all.filter((_, i) => i % Math.ceil(all.length / mostPoints) === 0);
    const outcomes = [];
    for (const point of points) {
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
