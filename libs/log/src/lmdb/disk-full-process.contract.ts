import { TrajectoryError } from '@retrace/trajectory';
import type { EventLog } from '../event-log.js';
import { openLmdbLog } from './open-lmdb-log.js';

export interface DiskFullReport {
  readonly numAcknowledged: number;
  readonly failures: readonly Pick<TrajectoryError, 'name' | 'code' | 'retriable' | 'message'>[];
}

const RECORD_BYTES = 64 * 1024;

/** Appends until it fails five times, as it must on a full disk, and says how; a small record finds room. */
async function fillUp(log: EventLog): Promise<DiskFullReport> {
  const failures: DiskFullReport['failures'][number][] = [];
  let numAcknowledged = 0;
  while (failures.length < 5) {
    try {
      await log.append('trajectories', 0, [new Uint8Array(RECORD_BYTES).fill(numAcknowledged)]);
      numAcknowledged += 1;
    } catch (error) {
      if (!(error instanceof TrajectoryError)) throw error;
      const { name, code, retriable, message } = error;
      failures.push({ name, code, retriable, message });
    }
  }
  await log.append('trajectories', 0, [new Uint8Array(1)]);
  return { numAcknowledged, failures };
}

const log = await openLmdbLog({ path: process.argv[2], createdBy: 'disk-full test' });
process.stdout.write(JSON.stringify(await fillUp(log)));
await log.close();
