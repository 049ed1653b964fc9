import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, getSchemaPath, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import { AppModule } from '../app.module.js';
import { ApiConfig } from '../config/api-config.js';
import { ProblemBody } from '../problems/problem.js';
import { BEARER_SCHEME, COOKIE_SCHEME } from '../keys/access.js';
import { SESSION_COOKIE } from '../keys/session-cookie.js';
import { addRecordSchemas } from '../ingest/ingest-schemas.js';
import { addTraceSchemas } from '../traces/trace-schemas.js';
import { LIVE_DATA } from '../live/live-message.dto.js';
import { addExamples } from './examples/examples.js';
import { toOpenApi31 } from './openapi-3-1.js';
import { VERSION } from '../version.js';

/** Serves the OpenAPI document at `/api/openapi.json`; it is made when first asked for. */
export function registerOpenApi(app: NestFastifyApplication): void {
  SwaggerModule.setup('api/openapi', app, () => makeDocument(app), {
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
  return makeDocument(app);
}

function makeDocument(app: NestFastifyApplication): OpenAPIObject {
  const description = new DocumentBuilder()
    .setTitle('Retrace')
    .setDescription(
      'Runs, episodes, updates and metrics of language-model agents, SQL over them, and recording of any agent. ' +
        'Every error is RFC 9457 `application/problem+json` (schema ProblemBody). Lists take `limit` and `cursor`. ' +
        'JSON of 1 kB and more is compressed for clients whose `Accept-Encoding` has `br` or `gzip`.',
    )
    .setVersion(VERSION)
    .addSecurity(BEARER_SCHEME, {
      type: 'http',
      scheme: 'bearer',
      description: 'An API key, as of `retrace keys create`; `x-scope` of a route is the scope that it needs',
    })
    .addSecurity(COOKIE_SCHEME, {
      type: 'apiKey',
      in: 'cookie',
      name: SESSION_COOKIE,
      description: 'The cookie of `POST /api/session`',
    })
    .addGlobalResponse({
      status: 'default',
      description: 'An error',
      content: { 'application/problem+json': { schema: { $ref: getSchemaPath(ProblemBody) } } },
    })
    .build();
  const document = SwaggerModule.createDocument(app, description, {
    extraModels: [ProblemBody, ...LIVE_DATA],
  });
  closeRequests(document);
  return addExamples(toOpenApi31(addTraceSchemas(addRecordSchemas(document))));
}

/** Says of each body that it has no other fields: the validation pipe refuses them. */
function closeRequests({ paths, components }: OpenAPIObject): void {
  const bodies = Object.values(paths).flatMap(({ post, patch }) => [post?.requestBody, patch?.requestBody]);
  for (const body of bodies) {
    const schema =
      body !== undefined && 'content' in body ? body.content['application/json']?.schema : undefined;
    if (schema === undefined || !('$ref' in schema)) continue;
    const named = components?.schemas?.[schema.$ref.split('/').at(-1) ?? ''];
    if (named !== undefined && !('$ref' in named)) named.additionalProperties = false;
  }
}
