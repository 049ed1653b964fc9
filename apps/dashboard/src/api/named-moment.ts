import { awaitAnswer, apiOfNow } from './client';

/** Header of an answer with the time that it is as of. */
const TIME_HEADER = 'retrace-as-of';

/**
 * Finds the time of an event, or of the commit of an update, as the API takes them.
 *
 * @throws ApiProblem with the API's own words where it names none
 */
export async function timeOfMoment(named: string): Promise<string> {
  const query = { asOf: named, limit: 1 };
  const { response } = await awaitAnswer(apiOfNow.GET('/api/runs', { params: { query } }));
  return response.headers.get(TIME_HEADER) ?? named;
}
