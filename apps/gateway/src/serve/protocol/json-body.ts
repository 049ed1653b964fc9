import { parsedObject } from '@retrace/chat';
import { parseJson, type Dict } from '@retrace/jinja';
import { RequestError } from '../../http/request-error.js';
import { RequestFields } from './request-fields.js';

/** Reads the fields of a request's body. @throws RequestError for one that is no JSON object */
export function readJsonBody(bytes: Buffer): RequestFields {
  const text = bytes.toString();
  const body = parsedObject(text);
  if (body !== null) return new RequestFields(body, { written: () => written(text) });
  throw new RequestError('The body is not a JSON object', { code: 'invalid_json' });
}

/** The same fields with their numbers and the order of their keys. */
function written(text: string): Dict {
  try {
    return parseJson(text) as Dict;
  } catch (error) {
    throw new RequestError((error as Error).message, { code: 'invalid_json' });
  }
}
