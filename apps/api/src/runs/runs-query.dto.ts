import { PageQuery } from '../paging/page.js';
import { OptionalUuid, QueryBoolean, QueryText, QueryWord } from '../http/query-decorators.js';
import { ORDERS, type Order } from '../paging/order.js';
import { RUN_KINDS, RUN_STATUSES, type RunKind, type RunStatus } from './runs.dto.js';

const ARCHIVED = ['none', 'only', 'all'] as const;
const SORTS = ['started', 'name', 'metric'] as const;

export class RunsQuery extends PageQuery {
  @QueryText(
    200,
    'Only runs of which the name, the environment, a tag or the id has each of these words, whatever their case',
  )
  readonly search?: string;

  @QueryWord(RUN_STATUSES, 'Only runs with this status')
  readonly status?: RunStatus;

  @QueryWord(RUN_KINDS, 'Only runs of this kind')
  readonly kind?: RunKind;

  @QueryText(256, 'Only runs with this tag')
  readonly tag?: string;

  @QueryBoolean('Only runs with a star (true), or without one')
  readonly starred?: boolean;

  @OptionalUuid(
    'Only trained runs with the name of this run whose recipes differ from its own only by seed, engine and processes; the run itself is one of them',
  )
  readonly seedsOf?: string;

  @OptionalUuid('Only trained runs that started from a policy of this run')
  readonly startedFrom?: string;

  @QueryWord(ARCHIVED, 'Whether archived runs are among them: none, only those, or all', 'none')
  readonly archived: (typeof ARCHIVED)[number] = 'none';

  @QueryWord(SORTS, 'What to sort by: the start, the name, or the newest value of `metric`', 'started')
  readonly sort: (typeof SORTS)[number] = 'started';

  @QueryText(200, 'Name of the metric to sort by; runs without a finite value come last')
  readonly metric?: string;

  @QueryWord(ORDERS, 'Order of the sort', 'descending')
  readonly order: Order = 'descending';
}
