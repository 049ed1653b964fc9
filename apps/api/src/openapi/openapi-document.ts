import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, getSchemaPath, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import { AppModule } from '../app.module.js';
import { ApiConfig } from '../config/api-config.js';
import { ProblemBody } from '../problems/problem.js';
import { LIVE_DATA } from '../live/live-message.dto.js';
import { VERSION } from '../version.js';

/** Serves the OpenAPI document at `/api/openapi.json`; it is made when first asked for. */
export function registerOpenApi(app: NestFastifyApplication): void {
  SwaggerModule.setup('api/openapi', app, () => documentOf(app), {
    ui: false,
    raw: ['json'],
    jsonDocumentUrl: 'api/openapi.json',
  });
}

/** Makes the OpenAPI document without a log, a store or a server: nothing is instantiated. */
export async function createOpenApiDocument(): Promise<OpenAPIObject> {
  const app = await NestFactory.create<NestFastifyApplication>(
    AppModule.with(new ApiConfig()),
    new FastifyAdapter(),
    { preview: true, logger: false, abortOnError: false },
  );
  return documentOf(app);
}

function documentOf(app: NestFastifyApplication): OpenAPIObject {
  const description = new DocumentBuilder()
    .setTitle('Retrace')
    .setDescription(
      'Runs, episodes, updates and metrics of language-model agents, and SQL over them. ' +
        'Every error is RFC 9457 `application/problem+json` (schema ProblemBody). Lists take `limit` and `cursor`.',
    )
    .setVersion(VERSION)
    .addGlobalResponse({
      status: 'default',
      description: 'An error',
      content: { 'application/problem+json': { schema: { $ref: getSchemaPath(ProblemBody) } } },
    })
    .build();
  return SwaggerModule.createDocument(app, description, { extraModels: [ProblemBody, ...LIVE_DATA] });
}
