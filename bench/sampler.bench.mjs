/**
 * Prioritized draws of 512 groups from a million stored ones: time of a draw with the changes of weights that an update brings, time
 * to begin, and memory a group.
 *
 *   npm run bench -- sampler
 */
import { FigureTable } from './figure-table.mjs';
import { median, percentile } from './timing.mjs';
import { Pcg32 } from '../libs/random/dist/index.js';
import { RowRecord } from '../libs/trajectory/dist/index.js';
import { StoredGroups } from '../apps/trainer/dist/plan/stored-groups.js';
import { StoredSampler } from '../apps/trainer/dist/plan/stored-sampler.js';

const NUM_GROUPS = 1_000_000;
const DRAWN = 512;
const NUM_DRAWS = 200;

/** @param {number} n */
const idOf = (n) => `01920000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`;

function heldBytes() {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

const before = heldBytes();
const record = new RowRecord();
/** @returns {StoredGroups} */
function makeGroups() {
  const ids = Array.from({ length: NUM_GROUPS }, (_, n) => idOf(n));
  return new StoredGroups({
    runIds: new Array(NUM_GROUPS).fill(idOf(0)),
    groupIds: ids,
    episodeIds: ids,
    numSteps: new Int32Array(NUM_GROUPS).fill(6),
    successes: new Int8Array(NUM_GROUPS),
    families: new Float64Array(NUM_GROUPS),
    priorities: null,
  });
}
const groups = makeGroups();
const sampler = new StoredSampler({ source: 0, groups, record, sampler: { rule: 'prioritized' } });
const random = new Pcg32(1);
const nextFloat = () => random.nextFloat();

const began = process.cpuUsage();
sampler.draw(DRAWN, nextFloat);
const begun = process.cpuUsage(began);
record.prioritize(NUM_GROUPS - 1, 1);
const bytesPerGroup = (heldBytes() - before) / NUM_GROUPS;

const times = [];
for (let i = 0; i < NUM_DRAWS; i++) {
  const started = process.cpuUsage();
  const drawn = sampler.draw(DRAWN, nextFloat);
  const rows = drawn.map(({ row }) => row);
  for (const row of rows) {
    record.sample(row);
    record.prioritize(row, random.nextFloat());
  }
  sampler.planned(rows);
  const { user, system } = process.cpuUsage(started);
  times.push((user + system) / 1000);
}
const table = new FigureTable(`Prioritized draws from ${NUM_GROUPS.toLocaleString('en')} stored groups`);
table.add('first draw, processor time', (begun.user + begun.system) / 1000, 'ms');
table.add(`a draw of ${DRAWN} with its changes, processor time, median`, median(times), 'ms', {
  most: 50,
});
table.add('… 95 %', percentile(times, 0.95), 'ms', { most: 50 });
table.add('memory', bytesPerGroup, 'bytes/group');
table.save();
