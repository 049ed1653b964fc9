import { type AnyEvent, findEventProblem } from '@retrace/trajectory';
import { invalid } from '../wire/check-wire.js';

/** @throws RecordingError `INVALID_RECORDS` when a request makes an event that breaks a rule */
export function requireControlEvent(event: AnyEvent): void {
  const problem = findEventProblem(event);
  if (problem === null) return;
  throw invalid({ ...problem, index: null, field: problem.field.replace(/^\w+\.(payload\.)?/, '') });
}
