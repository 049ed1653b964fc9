import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { VERSION } from '../version.js';
import { ProblemBody } from './problem.js';

/** Serves the OpenAPI document at `/api/openapi.json`; it is made when first asked for. */
export function registerOpenApi(app: NestFastifyApplication): void {
  const description = new DocumentBuilder()
    .setTitle('Retrace')
    .setDescription(
      'Runs, episodes, updates and metrics of language-model agents, and SQL over them. ' +
        'Errors are RFC 9457 `application/problem+json` (schema ProblemBody). Lists take `limit` and `cursor`.',
    )
    .setVersion(VERSION)
    .build();
  SwaggerModule.setup(
    'api/openapi',
    app,
    () => SwaggerModule.createDocument(app, description, { extraModels: [ProblemBody] }),
    {
      ui: false,
      raw: ['json'],
      jsonDocumentUrl: 'api/openapi.json',
    },
  );
}
