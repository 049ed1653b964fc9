import { type AnyEvent, findEventProblem } from '@retrace/trajectory';
import { invalid } from '../wire/check-wire.js';

/**
 * @param fieldNames names of fields in the request, by those that the event has for them, where they differ
 * @throws RecordingError `INVALID_RECORDS` when a request makes an event that breaks a rule
 */
export function requireControlEvent(
  event: AnyEvent,
  fieldNames: Readonly<Record<string, string>> = {},
): void {
  const problem = findEventProblem(event);
  if (problem === null) return;
  const path = problem.field.replace(/^\w+\.(payload\.)?/, '');
  const field = path.replace(/^\w+/, (name) => fieldNames[name] ?? name);
  throw invalid({ ...problem, index: null, field });
}
