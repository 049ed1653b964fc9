import { EVENT_FIELDS, type UpdateTokensTraced } from '@retrace/trajectory';
import { payloadField } from './payload-field.js';
import type { RowField } from './row-field.js';

/** In the order in which `update_token_places` and `update_token_figures` have them, each M entries, as view `update_tokens` reads them. */
const PLACES = ['optimizerSteps', 'episodes', 'steps', 'positions', 'clipped'] as const;
const FIGURES = ['ratios', 'advantages', 'values', 'kls', 'entropies'] as const;
/** After the others, where an event has it. */
const TEACHER = 'teacherLogprobs';

type Place = (typeof PLACES)[number];
type Figure = (typeof FIGURES)[number];

const IN_ARRAYS: ReadonlySet<string> = new Set([...PLACES, ...FIGURES, TEACHER]);

const others = payloadField(withoutArrays(EVENT_FIELDS.UpdateTokensTraced));

function withoutArrays<T>(values: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(values).filter(([name]) => !IN_ARRAYS.has(name)));
}

/**
 * The tokens of an update in two columns, one array after the other: a column of its own for each array would cost every insert and merge of
 * the table, which most runs never fill.
 */
export const updateTokensField: RowField<UpdateTokensTraced> = {
  write(columns, row, payload) {
    const { length } = payload.optimizerSteps;
    const places = new Int32Array(PLACES.length * length);
    PLACES.forEach((name, i) => places.set(payload[name], i * length));
    const teacher = payload[TEACHER];
    const figures = new Float32Array((FIGURES.length + (teacher ? 1 : 0)) * length);
    FIGURES.forEach((name, i) => figures.set(payload[name], i * length));
    if (teacher) figures.set(teacher, FIGURES.length * length);
    columns.update_token_places.set(row, places);
    columns.update_token_figures.set(row, figures);
    others.write(columns, row, withoutArrays(payload));
  },
  read(row) {
    const places = row.int32s('update_token_places');
    const figures = row.float32s('update_token_figures');
    const length = places.length / PLACES.length;
    const part = <T extends Int32Array | Float32Array>(values: T, i: number) =>
      values.slice(i * length, (i + 1) * length) as T;
    const columns = {
      ...(Object.fromEntries(PLACES.map((name, i) => [name, part(places, i)])) as Record<Place, Int32Array>),
      ...(Object.fromEntries(FIGURES.map((name, i) => [name, part(figures, i)])) as Record<
        Figure,
        Float32Array
      >),
    };
    const hasTeacher = figures.length > FIGURES.length * length;
    return {
      ...(others.read(row) as Omit<UpdateTokensTraced, Place | Figure | typeof TEACHER>),
      ...columns,
      clipped: Uint8Array.from(columns.clipped),
      teacherLogprobs: hasTeacher ? part(figures, FIGURES.length) : null,
    };
  },
};
