import { runRetrace } from './cli.mjs';

/** Largest allowed relative difference between a recorded loss and that of its replay. */
const REPLAY_TOLERANCE = 1e-5;

/**
 * @typedef {object} AsynchronousAudit
 * @property {readonly string[]} faults One sentence each; empty when the run is sound.
 * @property {number} numRecords Records that `verify` compared.
 * @property {number} numReplayed Updates whose replay gave the recorded loss.
 * @property {number} largestLossDifference Of all replays.
 * @property {number} maxStaleness Versions between the oldest token of an update's batch and the policy it started from.
 */

/**
 * Audits a finished run with `collection.maxStaleness` above 0, however it was disturbed; its recipe must keep every checkpoint
 * (`checkpoint.keepEvery=1`). Bits can't be compared with another run's, because timing decides which policy plays which episode.
 * The run is sound when `retrace verify` finds no fault; every update is committed once, on groups that no other update trained on and
 * on tokens no staler than allowed, according to the store's rows; and every update, re-run from its manifest, gives the recorded loss.
 *
 * @param {string} dataDir
 * @param {{ numUpdates: number, maxStaleness: number }} expected
 * @returns {Promise<AsynchronousAudit>}
 */
export async function auditAsynchronousRun(dataDir, { numUpdates, maxStaleness }) {
  const faults = [];
  const verified = await retrace(['verify', '--json'], dataDir);
  const report = JSON.parse(verified.stdout);
  if (verified.code !== 0) faults.push(`verify: ${report.lines?.join('; ') ?? verified.stderr}`);
  const updates = await sql(
    dataDir,
    `SELECT update_number, count() AS n FROM updates WHERE applied_at IS NOT NULL GROUP BY update_number ORDER BY update_number`,
  );
  const numbers = updates.map((row) => Number(row.update_number));
  const wanted = Array.from({ length: numUpdates }, (_, i) => i + 1);
  if (numbers.join() !== wanted.join())
    faults.push(`updates ${numbers.join()} are committed, not 1 … ${numUpdates}`);
  if (updates.some(({ n }) => Number(n) !== 1)) faults.push('an update is committed more than once');
  const [{ repeated }] = await sql(
    dataDir,
    `SELECT count() - uniqExact(group_id) AS repeated FROM (SELECT arrayJoin(group_ids) AS group_id FROM updates WHERE applied_at IS NOT NULL)`,
  );
  if (Number(repeated) !== 0) faults.push(`${repeated} groups were trained on more than once`);
  const [oldest] = await sql(dataDir, STALENESS);
  if (oldest.stalest > maxStaleness)
    faults.push(
      `an update trained on tokens ${oldest.stalest} versions old; must be at most ${maxStaleness}`,
    );
  if (oldest.freshest < 0) faults.push('an update trained on tokens of a policy that came after it');
  let numReplayed = 0;
  let largestLossDifference = 0;
  for (const updateNumber of numbers) {
    const args = ['replay', '--update', String(updateNumber), '--json'];
    const { code, stdout, stderr } = await retrace(args, dataDir);
    const difference = stdout === '' ? Number.NaN : Number(JSON.parse(stdout).lossDifference);
    if (code !== 0 || !(difference <= REPLAY_TOLERANCE))
      faults.push(`update ${updateNumber}: its replay differs by ${difference} in the loss ${stderr}`);
    else {
      numReplayed += 1;
      largestLossDifference = Math.max(largestLossDifference, difference);
    }
  }
  const { numRecords } = report;
  return { faults, numRecords, numReplayed, largestLossDifference, maxStaleness: Number(oldest.stalest) };
}

/** Uses only the manifests and the token columns, and nothing that the trainer reports about itself. */
const STALENESS = `
  SELECT toInt64(max(policy_version_in - sampled_by.1)) AS stalest, toInt64(min(policy_version_in - sampled_by.2)) AS freshest
  FROM (
    SELECT u.policy_version_in AS policy_version_in,
      arrayFilter((version, sampled) -> sampled = 1, s.token_policy_versions, s.action_mask) AS versions,
      (arrayMin(versions), arrayMax(versions)) AS sampled_by
    FROM (SELECT policy_version_in, arrayJoin(episode_ids) AS episode_id FROM updates WHERE applied_at IS NOT NULL) AS u
    INNER JOIN steps AS s ON s.episode_id = u.episode_id
    WHERE notEmpty(versions)
  )`;

async function sql(dataDir, query) {
  const { code, stdout, stderr } = await retrace(['sql', query, '--json'], dataDir);
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

function retrace(args, dataDir) {
  return runRetrace([...args, '--data-dir', dataDir]);
}
