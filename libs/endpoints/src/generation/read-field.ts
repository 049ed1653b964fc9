import { EndpointError } from '../endpoint-error.js';
import { readJson } from './read-answer.js';

/** One field of an answer that is a JSON object; undefined where it lacks it. @throws EndpointError `MALFORMED_ANSWER` */
export function readField(text: string, field: string): unknown {
  const answer = readJson(text);
  if (typeof answer === 'object' && answer !== null)
    return (answer as Readonly<Record<string, unknown>>)[field];
  throw new EndpointError('MALFORMED_ANSWER', `the answer is no object: ${text.slice(0, 80)}`);
}
