import { isDeepStrictEqual } from 'node:util';
import { type NotebookRevision, readNotebookRevision } from '@retrace/store';
import {
  type AnyEvent,
  newControlEvent,
  newControlEventId,
  type NotebookCell,
  type NotebookDeleted,
  type NotebookSaved,
} from '@retrace/trajectory';
import { type RecordFault, RecordingError } from '../recording-error.js';
import { requireControlEvent } from '../run/control-event.js';
import type { RedactingParts } from '../run/control-parts.js';
import { invalid, requireRequest } from '../wire/check-wire.js';
import {
  type CellRequest,
  CREATE_NOTEBOOK_REQUEST,
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

type Written =
  | { readonly kind: 'NotebookSaved'; readonly payload: NotebookSaved }
  | { readonly kind: 'NotebookDeleted'; readonly payload: NotebookDeleted };

const MAX_CELLS_LENGTH = 262_144;
/** In place of a title that rules of redaction leave nothing of. */
const NO_TITLE = 'Untitled';

/**
 * Writes notebooks. A writer names the revision that it had read, and is refused where that is not the newest; of two processes that write at once the
 * first in the log counts. Acknowledged once the store shows that it counts.
 */
export class NotebookRecorder {
  constructor(private readonly parts: RedactingParts) {}

  /**
   * Makes a notebook; does nothing where it was made with the same id and content, whatever was saved since.
   *
   * @param value a `CreateNotebookRequest`, checked here
   * @throws RecordingError `INVALID_RECORDS`, `NOTEBOOK_CONFLICT`, `LOG_UNAVAILABLE`, `STORE_BEHIND`
   */
  create(value: unknown): Promise<AcknowledgedNotebook> {
    const { id = newControlEventId(), ...content } = requireRequest(CREATE_NOTEBOOK_REQUEST, value);
    return this.write(this.saved(id, { ...content, revision: 0 }));
  }

  /**
   * Saves the whole content of a notebook; does nothing where that revision was followed by one with the same content.
   *
   * @param value a `SaveNotebookRequest`, checked here
   * @throws RecordingError as `create`; `NOTEBOOK_UNKNOWN`
   */
  save(notebookId: string, value: unknown): Promise<AcknowledgedNotebook> {
    return this.write(this.saved(notebookId, requireRequest(SAVE_NOTEBOOK_REQUEST, value)));
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
    const content = this.parts.redact({ title, cells: cells.map(toCell), source });
    const payload = { notebookId, revision: revision + 1, ...content, title: content.title || NO_TITLE };
    return { kind: 'NotebookSaved', payload };
  }

  private write(written: Written): Promise<AcknowledgedNotebook> {
    const { log, client, runs, nowUs } = this.parts;
    const { notebookId, revision } = written.payload;
    return runs.oneAfterTheOther(notebookId, async () => {
      const common = { logId: log.logId, runId: '', occurredAtUs: nowUs() };
      const event = newControlEvent({ ...written, ...common }) as AnyEvent;
      requireControlEvent(event);
      await runs.untilStored();
      const before = await readNotebookRevision(client, notebookId, revision);
      if (isSame(before, written)) return { notebookId, revision, isNew: false };
      const newest = await readNotebookRevision(client, notebookId);
      if (!isNewest(revision - 1, newest)) throw refusal(notebookId, revision - 1, newest);
      await runs.append(event);
      await runs.untilStored();
      const counted = await readNotebookRevision(client, notebookId, revision);
      const isNew = counted?.eventId === event.eventId;
      if (isNew || isSame(counted, written)) return { notebookId, revision, isNew };
      throw refusal(notebookId, revision - 1, await readNotebookRevision(client, notebookId));
    });
  }
}

function toCell({ kind, text, view = 'table', plot = null }: CellRequest): NotebookCell {
  return { kind, text, view, plot };
}

/** Whether a revision is what a request asks for: who asks, and when, makes no difference. */
function isSame(stored: NotebookRevision | null, { kind, payload }: Written): boolean {
  if (stored?.kind !== kind) return false;
  if (kind === 'NotebookDeleted') return true;
  return isDeepStrictEqual([stored.title, stored.cells], [payload.title, payload.cells]);
}

/** Whether a change may follow the revision that its writer had read; 0 for a notebook that is made. */
function isNewest(read: number, newest: NotebookRevision | null): boolean {
  return newest === null ? read === 0 : newest.kind === 'NotebookSaved' && newest.revision === read;
}

/** A `NOTEBOOK_UNKNOWN` or `NOTEBOOK_CONFLICT` for a change that may not follow the newest revision. */
function refusal(notebookId: string, read: number, newest: NotebookRevision | null): RecordingError {
  const isDeleted = newest?.kind === 'NotebookDeleted';
  if (read === 0) {
    const message = `Notebook ${notebookId} ${isDeleted ? 'was made and deleted' : 'exists, with other content'}; choose another id`;
    const rule = 'must be an id that no notebook has or had';
    return conflict(message, { field: 'id', value: notebookId, rule });
  }
  if (newest === null || isDeleted) {
    const why = newest === null ? 'not found' : `was deleted, as revision ${newest.revision}`;
    return new RecordingError('NOTEBOOK_UNKNOWN', `Notebook ${notebookId} ${why}`);
  }
  const message = `The newest revision of notebook ${notebookId} is ${newest.revision}, and this change is based on ${read}; read the notebook again, and make the change there`;
  const rule = `must be ${newest.revision}, the newest revision`;
  return conflict(message, { field: 'revision', value: read, rule });
}

function conflict(message: string, fault: Omit<RecordFault, 'index'>): RecordingError {
  return new RecordingError('NOTEBOOK_CONFLICT', message, { faults: [{ index: null, ...fault }] });
}
