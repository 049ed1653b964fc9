import 'reflect-metadata';
import { Module, type DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { StoreAccess } from '@retrace/process';
import { ApiError } from './api-error.js';
import { ApiConfig } from './config/api-config.js';
import { EpisodesModule } from './episodes/episodes.module.js';
import { MetricsModule } from './metrics/metrics.module.js';
import { ProblemFilter } from './http/problem-filter.js';
import { createValidationPipe } from './problems/validation-pipe.js';
import { RunsModule } from './runs/runs.module.js';
import { SamplingModule } from './sampling/sampling.module.js';
import { StoreModule } from './store/store.module.js';
import { StoreService } from './store/store.service.js';
import { UpdatesModule } from './updates/updates.module.js';
import { ValidationsModule } from './validations/validations.module.js';
import { WarningsModule } from './warnings/warnings.module.js';

interface ApiReaderOptions {
  /** A store that has the schema of this code. */
  readonly store: StoreAccess;
  /** Null: tokens have no texts. */
  readonly tokenizerDirectory: string | null;
}

/** The answers of the routes that read a run, in the process that asks: nothing listens. */
export interface ApiReader {
  /**
   * Returns the answer to `GET path`.
   *
   * @param path with its query; parts of ids and `asOf` are not understood
   * @throws ApiError with the detail of the problem: `NOT_FOUND` for status 404, else `NOT_ANSWERED`
   */
  get<Answer>(path: string): Promise<Answer>;
  close(): Promise<void>;
}

/** Only what reads runs: no route of it writes, and nothing works in the background. */
@Module({})
class ReadingModule {
  static with(config: ApiConfig): DynamicModule {
    return {
      module: ReadingModule,
      global: true,
      providers: [{ provide: ApiConfig, useValue: config }],
      exports: [ApiConfig],
      imports: [
        ...[StoreModule, RunsModule, MetricsModule, EpisodesModule],
        ...[UpdatesModule, WarningsModule, SamplingModule, ValidationsModule],
      ],
    };
  }
}

/** Opens the routes that read runs, for this process only. */
export async function openApiReader({ store, tokenizerDirectory }: ApiReaderOptions): Promise<ApiReader> {
  const config = Object.assign(new ApiConfig(), { store, tokenizerDirectory });
  const app = await NestFactory.create<NestFastifyApplication>(
    ReadingModule.with(config),
    new FastifyAdapter(),
    { logger: ['error'], abortOnError: false },
  );
  app.useGlobalPipes(createValidationPipe());
  app.useGlobalFilters(new ProblemFilter());
  await app.init();
  app.get(StoreService).takeAsReady();
  return {
    get: async <Answer>(path: string) => {
      const { statusCode, body } = await app.inject({ method: 'GET', url: path });
      if (statusCode === 200) return JSON.parse(body) as Answer;
      const { detail } = JSON.parse(body) as { readonly detail?: string };
      const code = statusCode === 404 ? 'NOT_FOUND' : 'NOT_ANSWERED';
      throw new ApiError(code, `GET ${path} is answered ${statusCode}: ${detail ?? body}`);
    },
    close: () => app.close(),
  };
}
