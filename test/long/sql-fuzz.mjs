/**
 * Sends random statements over the functions that user SQL may call, as the read-only user, two at a time.
 *
 *   npm run test:long -- sql-fuzz [-- --minutes 60 --seed 1]
 *
 * The script fails when the store is lost, its data change, an answer comes later than the limit allows, or a process of user SQL takes more
 * memory than its limit. It counts, and prints, the statements that their engine did not survive or did not stop in time: they cost a user
 * the process, and nobody else anything.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { clearInterval, setInterval } from 'node:timers';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { checkUserSql } from '@retrace/store/user-sql';
import { openStoreFixture } from '@retrace/store-server/testing';
import { randomStatement } from '../support/random-sql.mjs';

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '60' }, seed: { type: 'string', default: '1' } },
});
const LIMIT_SECONDS = 2;
/** The limit, the time until the process is killed, and a busy machine that starts the next one. */
const LATE_MS = 45_000;
const MAX_PROCESS_MIB = 5 * 1024;

const store = await openStoreFixture();
await store.client.command(
  `INSERT INTO events (run_id, episode_id, seq, log_id, log_stream, log_partition, log_offset, kind, reward, token_ids, observation)
   SELECT 'run', toString(number % 20), number, 'log', 'trajectories', 0, number, 'StepRecorded', number / 7, [number, 2, 3], toString(number)
   FROM numbers(5000)
   UNION ALL SELECT 'run', '', 0, 'log', 'control', 0, 0, 'RunStarted', NULL, [], ''`,
);
const before = await state();
const functions = await allowedFunctions();
console.log(`${functions.length} functions`);
const counts = { answered: 0, refused: 0, failed: 0, limited: 0, killed: 0, lost: 0, late: 0 };
/** @type {string[]} */
const findings = [];
let numStatements = 0;
let largestMiB = 0;
const startMs = performance.now();
const untilMs = startMs + Number(values.minutes) * 60_000;
const watch = setInterval(() => (largestMiB = Math.max(largestMiB, peakMiB())), 500);
await Promise.all([fuzz(), fuzz()]);
clearInterval(watch);
// The other lane's statement may have been lost with the process; a fresh one answers.
await sleep(1_000);
const isSound =
  JSON.stringify(await state()) === JSON.stringify(before) && (await ask('SELECT 1')).text === '1\n';
await store.close();
report();

async function fuzz() {
  while (performance.now() < untilMs) {
    const sql = randomStatement(functions, Number(values.seed) * 1e6 + numStatements++);
    const sentMs = performance.now();
    const { status, code, text } = await ask(sql);
    const outcome =
      performance.now() - sentMs > LATE_MS
        ? 'late'
        : status === 200
          ? 'answered'
          : code === '236'
            ? 'lost'
            : text.includes('could not be cancelled')
              ? 'killed'
              : ['159', '241', '307', '396'].includes(code)
                ? 'limited'
                : code === '497'
                  ? 'refused'
                  : 'failed';
    counts[outcome]++;
    if (['late', 'lost', 'killed'].includes(outcome)) {
      findings.push(`${outcome}: ${sql}`);
      console.log(findings.at(-1));
    }
  }
}

/** @param {string} sql */
async function ask(sql) {
  const response = await fetch(`${store.url}/?max_execution_time=${LIMIT_SECONDS}&wait_end_of_query=1`, {
    method: 'POST',
    headers: { 'X-ClickHouse-User': 'reader', 'X-ClickHouse-Key': 'fixture' },
    body: sql,
  });
  const text = await response.text().catch(() => '');
  return { status: response.status, code: response.headers.get('X-ClickHouse-Exception-Code') ?? '', text };
}

/** The names of the engine's functions that a statement may call. */
async function allowedFunctions() {
  const rows = await store.client.queryRows(
    'SELECT name, is_aggregate AS isAggregate, higher_order AS isHigherOrder FROM system.functions ORDER BY name',
  );
  const allowed = [];
  for (const row of rows) if (await isAllowed(row.name)) allowed.push(row);
  return allowed;
}

/** Asks the check itself, since a statement for each of the engine's functions takes minutes. */
async function isAllowed(name) {
  const nodes = [
    'SelectWithUnionQuery',
    'ExpressionList',
    'SelectQuery',
    'ExpressionList',
    `Function ${name}`,
  ];
  const tree = nodes.map((node, depth) => `${' '.repeat(depth)}${node} (children 1)`).join('\n');
  return checkUserSql('SELECT 1', { tables: [], explainAst: () => Promise.resolve(tree) }).then(
    () => true,
    () => false,
  );
}

/** The data, which must not change. */
async function state() {
  return store.client.queryRows('SELECT count() AS n, sum(cityHash64(*)) AS h FROM events');
}

/** The most memory that a process of user SQL has had, in MiB. */
function peakMiB() {
  const command = `pgrep -P ${process.pid} -f user-sql-main || true`;
  const pids = execFileSync('sh', ['-c', command], { encoding: 'utf8' }).split('\n').filter(Boolean);
  return Math.max(
    0,
    ...pids.map((pid) => {
      try {
        return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
      } catch {
        return 0;
      }
    }),
  );
}

function report() {
  const figures = [
    { name: 'minutes', value: Math.round((performance.now() - startMs) / 6000) / 10 },
    { name: 'first seed', value: Number(values.seed) },
    { name: 'functions that user SQL may call', value: functions.length },
    { name: 'random statements', value: numStatements },
    { name: 'answered with a result', value: counts.answered },
    { name: 'refused by the check', value: counts.refused },
    { name: 'failed with an error of the engine', value: counts.failed },
    { name: 'ended by a limit of the engine', value: counts.limited },
    { name: 'ended with their process, 2 s after the limit', value: counts.killed },
    { name: 'failed because the process was lost', value: counts.lost },
    { name: 'answered late', value: counts.late, aim: '0' },
    {
      name: 'most memory of a process of user SQL',
      value: Math.round(largestMiB),
      unit: 'MiB',
      aim: `≤ ${MAX_PROCESS_MIB}`,
    },
    { name: 'the store answers and its data are the same', value: isSound ? 'yes' : 'no' },
  ];
  for (const { name, value, unit = '' } of figures) console.log(`${name}: ${value} ${unit}`);
  if (process.env.RETRACE_RESULT_FILE)
    writeFileSync(
      process.env.RETRACE_RESULT_FILE,
      JSON.stringify({ title: 'Random statements over the functions of user SQL', figures }),
    );
  process.exit(isSound && counts.late === 0 && largestMiB <= MAX_PROCESS_MIB ? 0 : 1);
}
