import createClient from 'openapi-fetch';
import { shownMoment } from '../as-of/shown-moment';
import { takesMoment } from '../as-of/takes-moment';
import { ApiProblem, toApiProblem } from './api-problem';
import type { paths } from '../api-types/schema';

/** Typed calls to the REST API that serves this page. What they read is as of the moment that the page shows. */
export const api = createClient<paths>();
api.use({
  onRequest({ request, schemaPath }) {
    const moment = shownMoment();
    if (moment === null || request.method !== 'GET' || !takesMoment(schemaPath)) return undefined;
    const address = new URL(request.url);
    address.searchParams.set('asOf', moment);
    return new Request(address, request);
  },
});

/** The same, which read what is known now. */
export const apiOfNow = createClient<paths>();

/** Result of a call of the client, which resolves for failed responses too. */
interface CallResult<Data> {
  readonly data?: Data;
  readonly error?: unknown;
  readonly response: Response;
}

/**
 * Waits for a call and returns its data.
 *
 * @throws ApiProblem when the response is an error or not JSON, or when the server is unreachable; an aborted call rejects with
 * the reason of its signal
 */
export async function awaitData<Data>(call: Promise<CallResult<Data>>): Promise<Data> {
  return (await awaitAnswer(call)).data;
}

/** The same with the response. @throws as `awaitData` */
export async function awaitAnswer<Data>(
  call: Promise<CallResult<Data>>,
): Promise<{ readonly data: Data; readonly response: Response }> {
  const { data, error, response } = await call.catch((cause: unknown) => {
    throw toFailure(cause);
  });
  if (data !== undefined) return { data, response };
  throw toApiProblem(response.status, error);
}

/** `fetch` rejects with a TypeError when it gets no response; a body that isn't JSON gives a SyntaxError. */
function toFailure(cause: unknown): unknown {
  if (cause instanceof TypeError) {
    return new ApiProblem(
      0,
      'UNREACHABLE',
      'Server unavailable',
      'Retrace is not running, or it is restarting.',
    );
  }
  if (cause instanceof SyntaxError) {
    return new ApiProblem(
      200,
      'NOT_JSON',
      'Unexpected response',
      'The response is not JSON; check that this address belongs to Retrace.',
    );
  }
  return cause;
}
