import type { ControlEventKind, EpisodeEventKind, EventKind, Json, PayloadOf } from '@retrace/trajectory';
import type { EventColumns } from './event-columns.js';
import type { EventRowReader } from './event-row-reader.js';

/**
 * Maps the payload of one kind to the columns of a row and back. `read` returns exactly what `write` was given, so that `verifyStore` can
 * compare the store with the log.
 */
export interface PayloadFields<K extends EventKind> {
  write(columns: EventColumns, row: number, payload: PayloadOf<K>): void;
  read(row: EventRowReader): PayloadOf<K>;
}

export type PayloadFieldsOf<Kind extends EventKind> = { readonly [K in Kind]: PayloadFields<K> };
export type EpisodeFields = PayloadFieldsOf<EpisodeEventKind>;
export type ControlFields = PayloadFieldsOf<ControlEventKind>;

/** Writes the fields without a typed column as JSON text. */
export function writeRest(columns: EventColumns, row: number, rest: Json): void {
  columns.payload.set(row, JSON.stringify(rest));
}
