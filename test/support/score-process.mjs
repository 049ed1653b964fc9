/**
 * Scores a run with a judge in its own process: `node score-process.mjs '{ "storeUrl", "logPath", "runId", "endpoint",
 * "instructions" }'`. Prints the totals by episode, and the judge's usage.
 */
import { RewardScorer, scoreRun, VerdictStore } from '@retrace/rewards/scoring';
import { createStoreClient, TrajectoryReader } from '@retrace/store';
import { openLmdbLog } from '@retrace/log/lmdb';

/** @type {{ storeUrl: string, logPath: string, runId: string, endpoint: string, instructions: string }} */
const { storeUrl, logPath, runId, endpoint, instructions } = JSON.parse(process.argv[2]);
const client = createStoreClient({ url: storeUrl, username: 'retrace', password: 'fixture' });
const log = await openLmdbLog({ path: logPath, createdBy: 'test' });
const scorer = new RewardScorer(
  {
    components: [{ reward: 'judge', options: { model: 'grader', endpoint, instructions, concurrency: 64 } }],
    allocation: 'perStep',
    allocationGamma: 1,
  },
  { verdicts: new VerdictStore({ log, reader: new TrajectoryReader(client), runId }) },
);
await scoreRun({ client, runId, scorer, name: instructions });
const rows = await client.queryRows(
  `SELECT total FROM scores WHERE run_id = {runId:String} AND reward_version = {version:String} ORDER BY episode_id`,
  { params: { runId, version: scorer.version } },
);
console.log(JSON.stringify({ totals: rows.map(({ total }) => total), usage: scorer.judgeUsage }));
await client.close();
await log.close();
