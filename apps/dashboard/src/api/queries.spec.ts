import { QueryClient } from '@tanstack/react-query';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import createClient from 'openapi-fetch';
import { expect, it } from 'vitest';
import { ApiProblem } from './api-problem';
import { awaitData } from './client';
import { createQueryClient, unlessRefused } from './queries';
import type { paths } from '../api-types/schema';

const problem = (status: number) => new ApiProblem(status, 'X', 'x', 'x');

it.each([
  [400, 1],
  [404, 1],
  [409, 1],
  [422, 1],
  [408, 4],
  [429, 4],
  [503, 4],
])('createQueryClient: a request that is answered %d is made %d times', async (status, numTimes) => {
  let numAsked = 0;
  const server = createServer((_, response) => {
    numAsked++;
    response.writeHead(status).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const api = createClient<paths>({ baseUrl: `http://127.0.0.1:${port}` });
  const { retry } = createQueryClient().getDefaultOptions().queries ?? {};
  const asked = new QueryClient().fetchQuery({
    queryKey: ['run'],
    queryFn: () => awaitData(api.GET('/api/runs/{runId}', { params: { path: { runId: 'x' } } })),
    retry,
    retryDelay: 1,
  });
  await expect(asked).rejects.toMatchObject({ status });
  expect(numAsked).toBe(numTimes);
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

it('unlessRefused: asks again in intervals until a request is refused, also behind failures that may pass', () => {
  const intervalAfter = (error: Error | null) =>
    unlessRefused(3_000)({ queryKey: ['runs'], state: { error } });
  expect(intervalAfter(null)).toBe(3_000);
  expect([0, 408, 429, 500, 503].map((status) => intervalAfter(problem(status)))).toEqual(
    Array(5).fill(3_000),
  );
  expect([400, 401, 403, 409, 422].map((status) => intervalAfter(problem(status)))).toEqual(
    Array(5).fill(false),
  );
  // It may not be stored yet.
  expect(intervalAfter(problem(404))).toBe(10_000);
});
