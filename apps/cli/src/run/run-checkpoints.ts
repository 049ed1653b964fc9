import type { EventLog } from '@retrace/log';
import type { CheckpointFile } from '@retrace/trajectory';
import { decodeEvent } from '@retrace/trajectory/codec';

/** Lists the checkpoint files that the events of each run name: run id → SHA-256 → file. */
export async function checkpointFilesOf(log: EventLog): Promise<Map<string, Map<string, CheckpointFile>>> {
  const files = new Map<string, Map<string, CheckpointFile>>();
  const add = (runId: string, ref: CheckpointFile) => {
    const ofRun = files.get(runId) ?? new Map<string, CheckpointFile>();
    files.set(runId, ofRun.set(ref.sha256, ref));
  };
  let next = 0;
  for (;;) {
    const records = await log.read('control', 0, next);
    if (records.length === 0) return files;
    next = records[records.length - 1].offset + 1;
    for (const { bytes } of records) {
      const decoded = decodeEvent(bytes);
      if (!decoded.ok) continue;
      const { event } = decoded;
      if (event.kind === 'PolicyPublished') add(event.runId, event.payload.weights);
      if (event.kind === 'UpdateApplied') {
        add(event.runId, event.payload.weights);
        add(event.runId, event.payload.optimizer);
      }
    }
  }
}
