import type { Json } from '@retrace/trajectory';

/** A request to a route and its answer, in JSON; of a stream, the text of a message. `request` is left out where the route takes no body, `response` where it answers in bytes. */
interface Example {
  readonly request?: Json;
  readonly response?: Json;
}

/** Examples by method and path, as in `GET /api/runs/{runId}`. */
export type Examples = Readonly<Record<string, Example>>;
