import { EVENT_FIELDS, type EventKind, type EventFields, type PayloadOf } from '@retrace/trajectory';
import { payloadField } from './payload-field.js';
import type { RowField } from './row-field.js';
import { step, usageField } from './step-fields.js';
import { tokenColumnFields } from './token-column-fields.js';
import { updateTokensField } from './update-tokens-field.js';

/** Fields that rows have in another way than their declaration says. */
const OWN_FIELDS: Readonly<Partial<Record<EventKind, Readonly<Record<string, RowField<unknown>>>>>> = {
  StepRecorded: { step, usage: usageField, ...tokenColumnFields },
};

/** Kinds whose rows were always written in the order of the declaration, whatever the order of the payload. */
const IN_DECLARED_ORDER: ReadonlySet<string> = new Set<EventKind>(['EpisodeStarted']);

/** Maps the payload of each kind to the columns of a row and back. */
export const PAYLOAD_FIELDS = {
  ...Object.fromEntries(
    Object.entries<EventFields>(EVENT_FIELDS).map(([kind, fields]) => [
      kind,
      payloadField(fields, {
        own: OWN_FIELDS[kind as EventKind],
        isInDeclaredOrder: IN_DECLARED_ORDER.has(kind),
      }),
    ]),
  ),
  UpdateTokensTraced: updateTokensField,
} as { readonly [K in EventKind]: RowField<PayloadOf<K>> };
