import { AnswerFault } from '@retrace/chat';
import { EndpointError } from '../endpoint-error.js';

/** @throws EndpointError `MALFORMED_ANSWER` */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new EndpointError('MALFORMED_ANSWER', `the answer is not JSON: ${text.slice(0, 80)}`, { cause });
  }
}

/** Reads an answer that is JSON. @throws EndpointError `MALFORMED_ANSWER`, also for what `read` throws as AnswerFault */
export function readAnswer<Answer>(text: string, read: (answer: unknown) => Answer): Answer {
  const answer = readJson(text);
  try {
    return read(answer);
  } catch (error) {
    if (!(error instanceof AnswerFault)) throw error;
    throw new EndpointError(error.code, error.message, { cause: error });
  }
}

/** One field of an answer that is a JSON object; undefined where it lacks it. @throws EndpointError `MALFORMED_ANSWER` */
export function readField(text: string, field: string): unknown {
  const answer = readJson(text);
  if (typeof answer === 'object' && answer !== null)
    return (answer as Readonly<Record<string, unknown>>)[field];
  throw new EndpointError('MALFORMED_ANSWER', `the answer is no object: ${text.slice(0, 80)}`);
}
