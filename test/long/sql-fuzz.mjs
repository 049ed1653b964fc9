/**
 * Sends random statements over the functions that user SQL may call, as the read-only user, two at a time.
 *
 *   npm run test:long -- sql-fuzz [-- --minutes 60 --seed 1]
 *
 * The script fails when
 * - the store is lost, or its data change;
 * - a statement ends the process of user SQL by a fault of the engine, or takes more memory than the process may have;
 * - a statement holds the engine past its limit: it is neither ended at the limit nor killed with its process 2 s later, or it is
 *   killed again when it runs alone, after it has used more processor time than limit and grace together;
 * - fewer than 30 % of the statements give a result, or a function was never called.
 *
 * Only the engine's own clock and processor time are judged, never how long an answer was waited for, so a busy machine makes the
 * script slow but not wrong.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clearInterval, setInterval } from 'node:timers';
import { parseArgs } from 'node:util';
import { createStoreClient, migrate } from '@retrace/store';
import { checkUserSql } from '@retrace/store/user-sql';
import { SqlFuzzer } from '../support/sql-fuzzer.mjs';
import { STORE_USER, StoreChild } from '../support/store-child.mjs';

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '60' }, seed: { type: 'string', default: '1' } },
});
const LIMIT_SECONDS = 2;
/** The process is killed so long after the limit. */
const GRACE_SECONDS = 2;
/** The timer that kills runs in another process, which may wait for a processor. */
const CLOCK_SLACK_SECONDS = 3;
const MAX_PROCESS_MIB = 5 * 1024;
const MIN_ANSWERED_FRACTION = 0.3;
const MAX_RETRIED = 60;
const CLOCK_TICKS_PER_SECOND = 100;

const directory = mkdtempSync(join(tmpdir(), 'retrace-sql-fuzz-'));
const child = await StoreChild.start(directory, { environment: { UV_THREADPOOL_SIZE: '12' } });
const client = createStoreClient({ url: child.url, ...STORE_USER });
await migrate(client);
await fillTables();
const before = await state();

/** @typedef {'answered' | 'refused' | 'failed' | 'limited' | 'killed' | 'crashed' | 'bystander' | 'late'} Outcome */
/** @type {Record<Outcome, number>} */
const counts = {
  answered: 0,
  refused: 0,
  failed: 0,
  limited: 0,
  killed: 0,
  crashed: 0,
  bystander: 0,
  late: 0,
};
/** Statements whose process ended; they run again, alone, at the end. */
const suspects = [];
/** @type {string[]} */
const findings = [];
let numStatements = 0;
let largestMiB = 0;
let longestWaitMs = 0;
const watch = setInterval(() => (largestMiB = Math.max(largestMiB, peakMiB())), 500);

const fuzzer = new SqlFuzzer(await allowedFunctions(), Number(values.seed));
await fuzzer.begin(async (sql) => (await count(sql)).types);
const entries = [...fuzzer.entries.values()];
const numWithExample = entries.filter(({ shapes }) => shapes.size > 0).length;
console.log(`${entries.length} functions, ${numWithExample} with a call that works`);
const startMs = performance.now();
const untilMs = startMs + Number(values.minutes) * 60_000;
await Promise.all([fuzz(), fuzz()]);
const minutes = (performance.now() - startMs) / 60_000;
await judgeSuspects();
clearInterval(watch);

const isSound =
  child.child.exitCode === null &&
  child.child.signalCode === null &&
  JSON.stringify(await state()) === JSON.stringify(before) &&
  (await ask('SELECT 1')).status === 200;
await client.close();
await child.end('SIGTERM');
rmSync(directory, { recursive: true, force: true });
report();

async function fuzz() {
  while (performance.now() < untilMs) {
    const { sql, call } = fuzzer.next();
    const { types } = await count(sql);
    fuzzer.learn(call, types?.[0] ?? null);
  }
}

/** Sends a statement and counts its outcome. @param {string} sql */
async function count(sql) {
  numStatements++;
  const answer = await ask(sql);
  counts[answer.outcome]++;
  longestWaitMs = Math.max(longestWaitMs, answer.waitedMs);
  if (answer.outcome === 'late') find(`held for ${answer.elapsedSeconds} s: ${sql}`);
  if (answer.outcome === 'killed' || answer.outcome === 'crashed') {
    suspects.push({ sql, outcome: answer.outcome });
    console.log(`${answer.outcome}: ${sql} (${answer.text.slice(0, 200)})`);
  }
  return answer;
}

/** @param {string} sql */
async function ask(sql) {
  const settings = `max_execution_time=${LIMIT_SECONDS}&wait_end_of_query=1&default_format=TabSeparatedWithNamesAndTypes`;
  const sentMs = performance.now();
  const response = await fetch(`${child.url}/?${settings}`, {
    method: 'POST',
    headers: { 'X-ClickHouse-User': 'retrace_readonly', 'X-ClickHouse-Key': 'of a reader' },
    body: sql,
    signal: AbortSignal.timeout(600_000),
  });
  const text = await response.text().catch(() => '');
  const summary = JSON.parse(response.headers.get('X-ClickHouse-Summary') ?? '{}');
  const stopped = /elapsed ([\d.]+) ms/.exec(text)?.[1];
  const elapsedSeconds =
    response.status === 200 ? Number(summary.elapsed_ns ?? 0) / 1e9 : Number(stopped ?? 0) / 1000;
  return {
    status: response.status,
    text,
    elapsedSeconds,
    outcome: outcomeOf(
      response.status,
      response.headers.get('X-ClickHouse-Exception-Code'),
      text,
      elapsedSeconds,
    ),
    types: response.status === 200 ? (text.split('\n', 2)[1] ?? '').split('\t') : null,
    waitedMs: performance.now() - sentMs,
  };
}

/** @returns {Outcome} */
function outcomeOf(status, code, text, elapsedSeconds) {
  if (elapsedSeconds > LIMIT_SECONDS + GRACE_SECONDS + CLOCK_SLACK_SECONDS) return 'late';
  if (status === 200) return 'answered';
  if (text.includes('could not be cancelled')) return 'killed';
  if (code === '236') return text.includes('(it was stopped)') ? 'bystander' : 'crashed';
  if (['159', '241', '307', '396'].includes(code)) return 'limited';
  return code === '497' ? 'refused' : 'failed';
}

/** Runs again, alone, what ended its process: a busy machine or the other statement may have been the reason. */
async function judgeSuspects() {
  for (const { sql, outcome } of suspects.slice(0, MAX_RETRIED)) {
    await ask('SELECT 1');
    const startSeconds = processorSeconds();
    let usedSeconds = 0;
    const sample = setInterval(
      () => (usedSeconds = Math.max(usedSeconds, processorSeconds() - startSeconds)),
      50,
    );
    const again = await ask(sql);
    clearInterval(sample);
    if (again.outcome === 'crashed') find(`ends its engine: ${sql}`);
    else if (outcome === 'crashed') find(`its engine ended once, and not again: ${sql}`);
    else if (again.outcome === 'killed' && usedSeconds > LIMIT_SECONDS + GRACE_SECONDS - 0.5)
      find(`can not be stopped (${usedSeconds} s of processor time): ${sql}`);
  }
  if (suspects.length > MAX_RETRIED)
    find(`${suspects.length - MAX_RETRIED} more statements ended their process`);
}

/** @param {string} finding */
function find(finding) {
  findings.push(finding);
  console.log(`finding: ${finding}`);
}

/** The engine's functions that a statement may call. */
async function allowedFunctions() {
  const rows = await client.queryRows(
    `SELECT name, is_aggregate AS isAggregate, ifNull(higher_order, 0) AS isHigherOrder, alias_to AS aliasTo, examples
     FROM system.functions ORDER BY name`,
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

async function fillTables() {
  await client.command(
    `INSERT INTO events (run_id, episode_id, seq, log_id, log_stream, log_partition, log_offset, kind, occurred_at, observation, action,
       parsed_action, action_valid, reward, token_ids, action_mask, token_logprobs, generation_ms, payload)
     SELECT 'run', toString(number % 20), number, 'log', 'trajectories', 0, number, 'StepRecorded',
       toDateTime64('2026-01-01 00:00:00', 6, 'UTC') + number * 3607,
       ['the quick brown fox', '{"a":[1,2],"b":"x"}', '', 'Ä€😀 text', '12', '2026-01-02', 'a=1,b=2;c d', repeat('x', 500)][number % 8 + 1],
       ['left', 'right', 'up', 'down'][number % 4 + 1], if(number % 5 = 0, NULL, toString(number)), number % 3 = 0,
       if(number % 11 = 0, NULL, sin(number)), range(number % 20), arrayMap(x -> x % 2, range(number % 20)),
       arrayMap(x -> -x / 3, range(number % 20)), number / 10, concat('{"k":', toString(number), ',"l":["m"]}')
     FROM numbers(5000)`,
  );
  await client.command(
    `INSERT INTO events (run_id, log_id, log_stream, kind) VALUES ('run', 'log', 'control', 'RunStarted')`,
  );
}

/** The data, which must not change. */
async function state() {
  return client.queryRows('SELECT count() AS n, sum(cityHash64(*)) AS h FROM events');
}

/** Ids of the processes of user SQL. */
function processIds() {
  const command = `pgrep -P ${child.pid} -f user-sql-main || true`;
  return execFileSync('sh', ['-c', command], { encoding: 'utf8' }).split('\n').filter(Boolean);
}

/** The most memory that a process of user SQL has had, in MiB. */
function peakMiB() {
  return Math.max(
    0,
    ...processIds().map((pid) => Number(/VmHWM:\s+(\d+) kB/.exec(readProc(pid, 'status'))?.[1] ?? 0) / 1024),
  );
}

/** Processor time of the processes of user SQL that live now. */
function processorSeconds() {
  const ticks = processIds().map((pid) => {
    const fields = readProc(pid, 'stat')
      .replace(/^.*\) /s, '')
      .split(' ');
    return Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
  });
  return ticks.reduce((sum, one) => sum + one, 0) / CLOCK_TICKS_PER_SECOND;
}

/** @param {string} pid @param {string} file */
function readProc(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

function report() {
  const numCalled = entries.filter(({ numTries }) => numTries > 0).length;
  const silent = entries.filter(({ numResults }) => numResults === 0);
  console.log(`without a result: ${silent.map((entry) => entry.function.name).join(' ')}`);
  const answered = counts.answered / numStatements;
  const percent = (fraction) => Math.round(fraction * 1000) / 10;
  const figures = [
    { name: 'minutes', value: Math.round(minutes * 10) / 10 },
    { name: 'first seed', value: Number(values.seed) },
    { name: 'functions that user SQL may call', value: entries.length },
    { name: 'functions called', value: numCalled, aim: `${entries.length}` },
    { name: 'functions that gave a result', value: entries.length - silent.length },
    { name: 'random statements', value: numStatements },
    { name: 'answered with a result', value: counts.answered },
    {
      name: 'of all statements',
      value: percent(answered),
      unit: '%',
      aim: `≥ ${percent(MIN_ANSWERED_FRACTION)}`,
    },
    { name: 'refused by the check', value: counts.refused },
    { name: 'failed with an error of the engine', value: counts.failed },
    { name: 'ended by a limit of the engine', value: counts.limited },
    { name: 'ended with their process, 2 s after the limit', value: counts.killed },
    { name: 'failed because another ended the process', value: counts.bystander },
    { name: 'ended the process by a fault of the engine', value: counts.crashed, aim: '0' },
    { name: 'held past the limit and not killed', value: counts.late, aim: '0' },
    { name: 'findings', value: findings.length, aim: '0' },
    { name: 'longest wait for an answer', value: Math.round(longestWaitMs / 1000), unit: 's' },
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
  const passed =
    isSound &&
    findings.length === 0 &&
    largestMiB <= MAX_PROCESS_MIB &&
    answered >= MIN_ANSWERED_FRACTION &&
    numCalled === entries.length;
  process.exit(passed ? 0 : 1);
}
