import { isDeepStrictEqual } from 'node:util';
import type { EventLog } from '@retrace/log';
import { type NotebookRevision, readNotebookRevision, type StoreClient } from '@retrace/store';
import {
  type AnyEvent,
  newControlEvent,
  newControlEventId,
  type NotebookCell,
  type NotebookDeleted,
  type NotebookSaved,
} from '@retrace/trajectory';
import { RecordingError } from '../recording-error.js';
import { requireControlEvent } from '../run/control-event.js';
import type { RunBook } from '../run/run-book.js';
import { invalid, requireRequest } from '../wire/check-wire.js';
import {
  type CellRequest,
  CREATE_NOTEBOOK_REQUEST,
  type CreateNotebookRequest,
  SAVE_NOTEBOOK_REQUEST,
  type SaveNotebookRequest,
} from './notebook-requests.js';

/** A revision of a notebook that counts. */
export interface AcknowledgedNotebook {
  readonly notebookId: string;
  readonly revision: number;
  /** False where it was saved before, with the same content. */
  readonly isNew: boolean;
}

interface NotebookRecorderParts {
  readonly log: EventLog;
  readonly client: StoreClient;
  readonly runs: RunBook;
  readonly redact: <T extends object>(value: T) => T;
  readonly nowUs: () => number;
}

type Written =
  | { readonly kind: 'NotebookSaved'; readonly payload: NotebookSaved }
  | { readonly kind: 'NotebookDeleted'; readonly payload: NotebookDeleted };

const MAX_CELLS_LENGTH = 262_144;

/**
 * Writes notebooks. A writer names the revision that it had read, and is refused where that is not the newest; of two processes that write at once the
 * first in the log counts. Acknowledged once the store shows that it counts.
 */
export class NotebookRecorder {
  constructor(private readonly parts: NotebookRecorderParts) {}

  /**
   * Makes a notebook; does nothing where it was made with the same id and content.
   *
   * @param value a `CreateNotebookRequest`, checked here
   * @throws RecordingError `INVALID_RECORDS`, `NOTEBOOK_CONFLICT`, `LOG_UNAVAILABLE`, `STORE_BEHIND`
   */
  create(value: unknown): Promise<AcknowledgedNotebook> {
    const { id = newControlEventId(), ...content } = requireRequest<CreateNotebookRequest>(
      CREATE_NOTEBOOK_REQUEST,
      value,
    );
    return this.write(this.saved(id, { ...content, revision: 0 }));
  }

  /**
   * Saves the whole content of a notebook; does nothing where the last one to save that revision saved the same.
   *
   * @param value a `SaveNotebookRequest`, checked here
   * @throws RecordingError as `create`; `NOTEBOOK_UNKNOWN`
   */
  save(notebookId: string, value: unknown): Promise<AcknowledgedNotebook> {
    return this.write(
      this.saved(notebookId, requireRequest<SaveNotebookRequest>(SAVE_NOTEBOOK_REQUEST, value)),
    );
  }

  /**
   * Deletes a notebook, whose revisions stay in the log.
   *
   * @param revision the one that the caller had read
   * @throws RecordingError as `save`
   */
  delete(notebookId: string, revision: number, source: string): Promise<AcknowledgedNotebook> {
    return this.write({
      kind: 'NotebookDeleted',
      payload: { notebookId, revision: revision + 1, source },
    });
  }

  private saved(
    notebookId: string,
    { revision, title, cells, source = 'caller' }: SaveNotebookRequest,
  ): Written {
    const { length } = JSON.stringify(cells);
    if (length > MAX_CELLS_LENGTH) {
      const rule = `must have at most ${MAX_CELLS_LENGTH} characters as JSON`;
      throw invalid({ index: null, field: 'cells', value: `${length} characters`, rule });
    }
    // What the page reads to show the cells holds no text of a person.
    const whole = this.parts.redact({ title, cells: cells.map(cellOf), source });
    return { kind: 'NotebookSaved', payload: { notebookId, revision: revision + 1, ...whole } };
  }

  private write(written: Written): Promise<AcknowledgedNotebook> {
    const { log, client, runs, nowUs } = this.parts;
    const { notebookId, revision } = written.payload;
    return runs.oneAfterTheOther(notebookId, async () => {
      const common = { logId: log.logId, runId: '', occurredAtUs: nowUs() };
      const event = newControlEvent({ ...written, ...common }) as AnyEvent;
      requireControlEvent(event);
      await runs.untilStored();
      const newest = await readNotebookRevision(client, notebookId);
      if (newest !== null && isSame(newest, written)) return { notebookId, revision, isNew: false };
      requireNewest(notebookId, revision - 1, newest);
      await runs.append(event);
      await runs.untilStored();
      const counted = await readNotebookRevision(client, notebookId, revision);
      if (counted?.eventId !== event.eventId)
        throw conflict(notebookId, revision - 1, counted?.revision ?? revision);
      return { notebookId, revision, isNew: true };
    });
  }
}

function cellOf({ kind, text, view = 'table', plot = null }: CellRequest): NotebookCell {
  return { kind, text, view, plot };
}

/** Whether a request that comes again has been answered: who asks, and when, makes no difference. */
function isSame(newest: NotebookRevision, { kind, payload }: Written): boolean {
  if (newest.kind !== kind || newest.revision !== payload.revision) return false;
  if (kind === 'NotebookDeleted') return true;
  return isDeepStrictEqual([newest.title, newest.cells], [payload.title, payload.cells]);
}

/** @throws RecordingError `NOTEBOOK_UNKNOWN`, `NOTEBOOK_CONFLICT` */
function requireNewest(notebookId: string, read: number, newest: NotebookRevision | null): void {
  if (newest === null && read === 0) return;
  if (newest === null || (newest.kind === 'NotebookDeleted' && read > 0)) {
    const why = newest === null ? 'not found' : `was deleted, as revision ${newest.revision}`;
    throw new RecordingError('NOTEBOOK_UNKNOWN', `Notebook ${notebookId} ${why}`);
  }
  if (newest.revision !== read) throw conflict(notebookId, read, newest.revision);
}

function conflict(notebookId: string, read: number, newest: number): RecordingError {
  const rule = `must be ${newest}, the newest revision`;
  const message = `Notebook ${notebookId} has revision ${newest}, and this change was made of revision ${read}; read it again, and change that`;
  return new RecordingError('NOTEBOOK_CONFLICT', message, {
    faults: [{ index: null, field: 'revision', value: read, rule }],
  });
}
