import { EVENT_FIELDS, type UpdateTokensTraced } from '@retrace/trajectory';
import { payloadField } from './payload-field.js';
import type { RowField } from './row-field.js';

/** In the order in which `update_token_places` and `update_token_figures` have them, each M entries, as view `update_tokens` reads them. */
const PLACES = ['optimizerSteps', 'episodes', 'steps', 'positions', 'clipped'] as const;
const FIGURES = ['ratios', 'advantages', 'values', 'kls', 'entropies'] as const;
/** After the figures, where an event has it. */
const TEACHER = 'teacherLogprobs';
/** After the places and after those figures, where an event has them: M·k entries each. Whoever has them has a teacher, so M is how many more figures there are. */
const TOP_IDS = 'teacherTopIds';
const TOP_LOGPROBS = 'teacherTopLogprobs';

type Place = (typeof PLACES)[number];
type Figure = (typeof FIGURES)[number];

const IN_ARRAYS: ReadonlySet<string> = new Set([...PLACES, ...FIGURES, ...[TEACHER, TOP_IDS, TOP_LOGPROBS]]);

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
    const { teacherLogprobs: teacher, teacherTopIds: ids, teacherTopLogprobs: logprobs } = payload;
    const places = new Int32Array(PLACES.length * length + (ids?.length ?? 0));
    PLACES.forEach((name, i) => places.set(payload[name], i * length));
    if (ids) places.set(ids, PLACES.length * length);
    const numFigures = FIGURES.length + (teacher ? 1 : 0);
    const figures = new Float32Array(numFigures * length + (logprobs?.length ?? 0));
    FIGURES.forEach((name, i) => figures.set(payload[name], i * length));
    if (teacher) figures.set(teacher, FIGURES.length * length);
    if (logprobs) figures.set(logprobs, numFigures * length);
    columns.update_token_places.set(row, places);
    columns.update_token_figures.set(row, figures);
    others.write(columns, row, withoutArrays(payload));
  },
  read(row) {
    const places = row.int32s('update_token_places');
    const figures = row.float32s('update_token_figures');
    const hasTeacher = figures.length > places.length;
    const length = hasTeacher ? figures.length - places.length : places.length / PLACES.length;
    const hasTop = places.length > PLACES.length * length;
    const part = <T extends Int32Array | Float32Array>(values: T, i: number) =>
      values.slice(i * length, (i + 1) * length) as T;
    const columns = {
      ...(Object.fromEntries(PLACES.map((name, i) => [name, part(places, i)])) as Record<Place, Int32Array>),
      ...(Object.fromEntries(FIGURES.map((name, i) => [name, part(figures, i)])) as Record<
        Figure,
        Float32Array
      >),
    };
    return {
      ...(others.read(row) as Omit<
        UpdateTokensTraced,
        Place | Figure | typeof TEACHER | typeof TOP_IDS | typeof TOP_LOGPROBS
      >),
      ...columns,
      clipped: Uint8Array.from(columns.clipped),
      teacherLogprobs: hasTeacher ? part(figures, FIGURES.length) : null,
      teacherTopIds: hasTop ? places.slice(PLACES.length * length) : null,
      teacherTopLogprobs: hasTop ? figures.slice((FIGURES.length + 1) * length) : null,
    };
  },
};
