import type { OpenAPIObject } from '@nestjs/swagger';
import type { Json } from '@retrace/trajectory';
import type { Examples } from './example.js';
import { AGENTS_EXAMPLES } from './agents.js';
import { ALARM_EXAMPLES } from './alarms.js';
import { EPISODES_EXAMPLES } from './episodes.js';
import { NOTEBOOK_EXAMPLES } from './notebooks.js';
import { QUEUE_EXAMPLES } from './queue.js';
import { RECORDING_EXAMPLES } from './recording.js';
import { REWARDS_EXAMPLES } from './rewards.js';
import { RUNS_EXAMPLES } from './runs.js';
import { SERVER_EXAMPLES } from './server.js';
import { TRAINING_EXAMPLES } from './training.js';
import { UPDATE_QUESTION_EXAMPLES } from './update-questions.js';

/** Examples of every route, which `e2e/examples.spec.ts` holds against the schemas and sends. */
export const EXAMPLES: Examples = {
  ...RUNS_EXAMPLES,
  ...EPISODES_EXAMPLES,
  ...TRAINING_EXAMPLES,
  ...REWARDS_EXAMPLES,
  ...UPDATE_QUESTION_EXAMPLES,
  ...QUEUE_EXAMPLES,
  ...AGENTS_EXAMPLES,
  ...NOTEBOOK_EXAMPLES,
  ...ALARM_EXAMPLES,
  ...SERVER_EXAMPLES,
  ...RECORDING_EXAMPLES,
};

const PROBLEM: Json = {
  type: 'urn:retrace:problem:invalid-request',
  title: 'Invalid request',
  status: 400,
  code: 'INVALID_REQUEST',
  detail: 'limit must be an integer from 1 to 500, got 0',
  instance: '/api/runs',
  errors: [{ field: 'limit', value: 0, rule: 'limit must be an integer from 1 to 500, got 0' }],
};

interface Content {
  readonly content?: Readonly<Record<string, { example?: unknown } | undefined>>;
}

/** Adds the examples to the bodies of a document. */
export function addExamples(document: OpenAPIObject): OpenAPIObject {
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(item as Record<string, unknown>)) {
      const { requestBody, responses } = operation as {
        readonly requestBody?: Content;
        readonly responses: Readonly<Record<string, Content>>;
      };
      const { request, response } = EXAMPLES[`${method.toUpperCase()} ${path}`] ?? {};
      setExample(requestBody, 'application/json', request);
      setExample(requestBody, 'application/x-ndjson', findLines(request));
      for (const [status, answer] of Object.entries(responses)) {
        if (status === 'default') setExample(answer, 'application/problem+json', PROBLEM);
        else for (const type of ['application/json', 'text/event-stream']) setExample(answer, type, response);
      }
    }
  }
  return document;
}

/** The same records, each on a line. */
function findLines(request: Json | undefined): Json | undefined {
  return Array.isArray(request) ? request.map((record) => `${JSON.stringify(record)}\n`).join('') : undefined;
}

function setExample(body: Content | undefined, mediaType: string, example: Json | undefined): void {
  const content = body?.content?.[mediaType];
  if (content !== undefined && example !== undefined) content.example = example;
}
