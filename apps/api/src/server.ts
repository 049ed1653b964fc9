import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { ControlTail, type EventLog, WarningLog } from '@retrace/log';
import type { FastifyInstance } from 'fastify';
import type { AddressInfo } from 'node:net';
import { ApiError } from './api-error.js';
import { AppModule } from './app.module.js';
import type { ApiConfig } from './config/api-config.js';
import { registerAsOf } from './http/as-of.js';
import { registerAllowedMethods } from './http/allowed-methods.js';
import { registerBodyBounds } from './http/body-bounds.js';
import { registerCompression } from './http/compression.js';
import { registerDashboard } from './http/dashboard.js';
import { registerDocumentation } from './http/documentation.js';
import { registerPageGuard } from './http/page-guard.js';
import { AccessControl } from './keys/access-control.js';
import { registerAccess } from './keys/register-access.js';
import { requireKey } from './keys/require-key.js';
import { registerRecordsBody } from './ingest/records-body.js';
import { EVENT_LOG } from './log/log.module.js';
import { registerOpenApi } from './openapi/openapi-document.js';
import { ProblemFilter } from './http/problem-filter.js';
import { registerShortIds, ShortIds } from './http/short-ids.js';
import { registerSecurityHeaders } from './http/security-headers.js';
import { createValidationPipe } from './problems/validation-pipe.js';
import { RoleLogger } from './logging.js';
import type { RunControl } from './run-queue/run-control.js';
import { PrometheusService } from './prometheus/prometheus.service.js';
import { PageQuery } from './paging/page.js';
import { RunsAhead } from './runs/runs-ahead.js';
import { AlarmListService } from './warnings/alarm-list.service.js';
import { SinkService } from './sink/sink.service.js';
import { StoreService } from './store/store.service.js';

const MAX_BODY_BYTES = 1024 * 1024;

interface ApiServerOptions {
  /** Whether what it warns of becomes events (default false: its supervisor does that). */
  readonly recordsWarnings?: boolean;
  /** Who starts and stops runs (default: nobody does). */
  readonly runControl?: RunControl;
}

export interface ApiServer {
  readonly url: string;
  readonly servesDashboard: boolean;
  /** Resolves when the store is migrated and the sink runs; rejects when the store can never be used. */
  readonly storeReady: Promise<void>;
  /** Ends streams, waits a limited time until the sink has copied the log into the store, closes log and store connections. */
  close(): Promise<void>;
}

/**
 * Starts the API. It listens at once, before the store is there: pages load, and `/api/health` says what is missing.
 *
 * @throws ApiError `ADDRESS_UNUSABLE` when the port is in use, `API_KEY_MISSING` when others could reach the API and no key is needed
 *   for it; LogError when the log can't be opened
 */
export async function startApiServer(
  config: ApiConfig,
  { recordsWarnings = false, runControl }: ApiServerOptions = {},
): Promise<ApiServer> {
  const logger = new RoleLogger();
  await requireKey(config, (sentence) => {
    logger.log(sentence);
  });
  const adapter = new FastifyAdapter({
    bodyLimit: MAX_BODY_BYTES,
    forceCloseConnections: true,
    routerOptions: { ignoreTrailingSlash: true },
  });
  const app = await NestFactory.create<NestFastifyApplication>(AppModule.with(config, runControl), adapter, {
    logger,
    abortOnError: false,
  });
  if (recordsWarnings) {
    const control = new ControlTail(app.get<EventLog>(EVENT_LOG));
    logger.recordTo(new WarningLog({ control, runId: '' }));
  }
  try {
    const servesDashboard = await configure(app, config);
    await listen(app, config);
    return {
      url: readUrl(app),
      servesDashboard,
      storeReady: connectStore(app),
      close: () => app.close(),
    };
  } catch (error) {
    await app.close();
    throw error;
  }
}

async function configure(app: NestFastifyApplication, config: ApiConfig): Promise<boolean> {
  const server = app.getHttpAdapter().getInstance() as unknown as FastifyInstance;
  await registerSecurityHeaders(server);
  await registerCompression(server);
  registerAllowedMethods(server);
  registerPageGuard(server, config);
  await registerAccess(server, { control: app.get(AccessControl), rateLimit: config.rateLimit });
  registerRecordsBody(server);
  registerBodyBounds(server);
  registerAsOf(server, { store: () => app.get(StoreService).now, ids: app.get(ShortIds) });
  registerShortIds(server, app.get(ShortIds));
  const prometheus = app.get(PrometheusService);
  server.addHook('onResponse', (request, reply, done) => {
    prometheus.observeRequest(request, reply);
    done();
  });
  app.useGlobalPipes(createValidationPipe());
  app.useGlobalFilters(new ProblemFilter());
  registerOpenApi(app);
  const servesDashboard = await registerDashboard(server, config.dashboardDirectory);
  await registerDocumentation(server, config.documentationDirectory);
  return servesDashboard;
}

async function listen(app: NestFastifyApplication, { host, port }: ApiConfig): Promise<void> {
  try {
    await app.listen(port, host);
  } catch (cause) {
    throw listenError(cause as NodeJS.ErrnoException, host, port);
  }
}

function listenError(cause: NodeJS.ErrnoException, host: string, port: number): Error {
  if (cause.code !== 'EADDRINUSE' && cause.code !== 'EACCES') return cause;
  const reason =
    cause.code === 'EADDRINUSE' ? 'is in use by another program' : 'can not be used by this user';
  return new ApiError('ADDRESS_UNUSABLE', `port ${port} on ${host} ${reason}; choose another with --port`, {
    cause,
  });
}

async function connectStore(app: NestFastifyApplication): Promise<void> {
  await app.get(StoreService).becomeReady();
  app.get(SinkService).start();
  // So that the first page does not wait for it. A failure is that of the first question, which reads again.
  app.get(RunsAhead).follow();
  void Promise.allSettled([app.get(AlarmListService).list(new PageQuery())]);
}

function readUrl(app: NestFastifyApplication): string {
  const { address, port, family } = app.getHttpServer().address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
