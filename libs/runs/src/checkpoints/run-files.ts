import type { EventLog } from '@retrace/log';
import type { Recipe } from '@retrace/config';
import type { CheckpointFile, Json } from '@retrace/trajectory';
import { decodeEvent } from '@retrace/trajectory/codec';

/** The weights that teach in a run, as its recipe names them; null without a stored teacher. */
function findTeacher(recipe: Json): CheckpointFile | null {
  const { distillation } = (recipe ?? {}) as Partial<Pick<Recipe, 'distillation'>>;
  return distillation?.teacher.policy?.source ?? null;
}

/** Lists the checkpoint files that the events of each run name, with those that teach in it: run id → SHA-256 → file. */
export async function listCheckpointFiles(log: EventLog): Promise<Map<string, Map<string, CheckpointFile>>> {
  const files = new Map<string, Map<string, CheckpointFile>>();
  const add = (runId: string, ref: CheckpointFile) => {
    // A trainer outside keeps its files itself.
    if (ref.sha256 === '') return;
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
      if (event.kind === 'RunStarted') {
        const teacher = findTeacher(event.payload.recipe);
        if (teacher) add(event.runId, { sha256: teacher.sha256, sizeBytes: teacher.sizeBytes });
      }
      if (event.kind === 'PolicyPublished') add(event.runId, event.payload.weights);
      if (event.kind === 'UpdateApplied') {
        add(event.runId, event.payload.weights);
        add(event.runId, event.payload.optimizer);
      }
    }
  }
}
