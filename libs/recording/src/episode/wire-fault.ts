import type { Problem } from '@retrace/trajectory';
import type { RecordingError } from '../recording-error.js';
import { invalid } from '../wire/check-wire.js';
import { TOKEN_FIELDS } from '../wire/token-fields.js';

/** Fields of events that records name otherwise. */
const WIRE_NAMES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(TOKEN_FIELDS.map(({ name, field }) => [name, `tokens.${field}`])),
  keptPrefixTokens: 'tokens.keptPrefix',
  rewardNames: 'rewards',
  rewardValues: 'rewards',
  endDetail: 'detail',
  finalTokenIds: 'finalTokens.ids',
  finalKeptPrefixTokens: 'finalTokens.keptPrefix',
  parentEpisodeId: 'parentEpisode',
};

/** The problem of an event as a fault of the record that it was made from. */
export function wireFault({ field, value, rule }: Problem, index: number): RecordingError {
  const path = field.replace(/^\w+\.(payload\.)?/, '');
  const head = /^\w*/.exec(path)?.[0] ?? '';
  const name = Object.hasOwn(WIRE_NAMES, head) ? WIRE_NAMES[head] : head;
  return invalid({ index, field: `${name}${path.slice(head.length)}`, value, rule });
}
