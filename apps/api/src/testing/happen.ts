import { appendEvents } from '@retrace/log/testing';
import { catchUp, deleteRunRecords } from '@retrace/store';
import type { StoreFixture } from '@retrace/store-server/testing';
import type { AnyEvent } from '@retrace/trajectory';

/** Something that happens to a run: an event, that its rows are stored `again`, as by a repeated insert, or a deletion. */
export interface Happening {
  readonly kind: string;
  readonly event: AnyEvent | null;
  /** Whether the store has the event before the next question. */
  readonly isStored: boolean;
}

/** Makes it happen. @param runId of a run, which may not have started */
export async function happen(
  { log, client }: Pick<StoreFixture, 'log' | 'client'>,
  runId: string,
  { kind, event, isStored }: Happening,
): Promise<void> {
  if (event !== null) await appendEvents(log, [event]);
  if (kind === 'delete') await deleteRunRecords({ log, client, runId, detail: 'by request', force: true });
  if (kind === 'again')
    await client.command('INSERT INTO events SELECT * FROM events WHERE run_id = {runId:String}', {
      params: { runId },
    });
  if (isStored) await catchUp(log, client);
}
