import type { EventFields } from './field.js';

/** `runless`: events of the kind may belong to no run. `remark`: by which people say something of a run, whenever that is: no activity of it. */
type KindMark = 'runless' | 'remark';

const MARKS = new WeakMap<EventFields, readonly KindMark[]>();

/** The fields of a kind, with what is true of its events as a whole. */
export function marked<F extends EventFields>(marks: readonly KindMark[], fields: F): F {
  MARKS.set(fields, marks);
  return fields;
}

/** Lists the kinds whose fields have the mark. */
export function kindsMarked<Kind extends string>(
  kinds: Readonly<Record<Kind, EventFields>>,
  mark: KindMark,
): readonly Kind[] {
  return (Object.keys(kinds) as Kind[]).filter((kind) => MARKS.get(kinds[kind])?.includes(mark));
}
