import { useMutation, useQuery } from '@tanstack/react-query';
import { shownMoment } from '../as-of/shown-moment';
import { api, awaitData } from './client';
import type { ExplainRequest, SqlRequest, SqlResult } from '../api-types/schema';

export function useSqlSchema() {
  return useQuery({
    queryKey: ['sql', 'schema'],
    queryFn: async ({ signal }) => (await awaitData(api.GET('/api/sql/schema', { signal }))).tables,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** Asks what a query will read, and how it is answered. */
export function useExplain() {
  return useMutation({
    mutationFn: (body: ExplainRequest) =>
      awaitData(api.POST('/api/sql/explain', { body, params: atShownMoment() })),
  });
}

export function useSql() {
  return useMutation({ mutationFn: (request: SqlRequest) => askSql(request) });
}

/** Runs a query as of the moment that the page shows. @throws ApiProblem with the database's words for one that fails */
export function askSql(body: SqlRequest, signal?: AbortSignal): Promise<SqlResult> {
  return awaitData(api.POST('/api/sql', { body, params: atShownMoment(), signal }));
}

function atShownMoment() {
  return { query: { asOf: shownMoment() ?? undefined } };
}
