import type { UseQueryResult } from '@tanstack/react-query';

/** Several queries as one: what is read so far, in their order. A function of its own, so that equal results stay the same object. */
export function combineQueries<Item>(results: readonly UseQueryResult<Item>[]) {
  return {
    items: results.flatMap(({ data }) => data ?? []),
    isPending: results.some(({ isPending }) => isPending),
    error: results.find(({ error }) => error !== null)?.error ?? null,
    refetch: () => {
      for (const result of results) void result.refetch();
    },
  };
}
