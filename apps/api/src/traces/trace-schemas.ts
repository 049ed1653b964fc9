import type { OpenAPIObject } from '@nestjs/swagger';
import { TRACES_URL } from '../http/records-route.js';

const BINARY = { type: 'string', format: 'binary' } as const;

const REQUEST = {
  type: 'object',
  description: '`ExportTraceServiceRequest` of opentelemetry-proto, whose fields are not repeated here',
  properties: { resourceSpans: { type: 'array', items: { type: 'object' } } },
} as const;

const ANSWER = {
  type: 'object',
  description: '`ExportTraceServiceResponse`: empty when all spans were taken',
  properties: {
    partialSuccess: {
      type: 'object',
      properties: {
        rejectedSpans: { type: 'string', description: 'Spans that were not taken, a 64-bit integer' },
        errorMessage: { type: 'string', description: 'Why' },
      },
    },
  },
} as const;

/** Adds the bodies of the route that takes spans. */
export function addTraceSchemas(document: OpenAPIObject): OpenAPIObject {
  const route = document.paths[TRACES_URL].post;
  if (route === undefined) return document;
  route.parameters = [
    {
      name: 'x-retrace-run',
      in: 'header',
      required: false,
      description: 'Id or name of the run. Default: `service.name` of each resource',
      schema: { type: 'string', minLength: 1, maxLength: 256 },
    },
    {
      name: 'Content-Encoding',
      in: 'header',
      required: false,
      schema: { type: 'string', enum: ['gzip'] },
    },
  ];
  route.requestBody = {
    required: true,
    description: 'At most 16 MiB, also decompressed',
    content: {
      'application/json': { schema: REQUEST },
      'application/x-protobuf': { schema: BINARY },
    },
  };
  route.responses['200'] = {
    description: 'The spans are on disk',
    content: { 'application/json': { schema: ANSWER }, 'application/x-protobuf': { schema: BINARY } },
  };
  const failed = route.responses.default;
  if (failed !== undefined && 'content' in failed && failed.content !== undefined) {
    failed.content['application/x-protobuf'] = {
      schema: { ...BINARY, description: '`google.rpc.Status`, where the request was protobuf' },
    };
  }
  return document;
}
