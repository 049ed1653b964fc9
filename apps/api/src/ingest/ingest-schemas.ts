import {
  ACKNOWLEDGE_ALARM_REQUEST,
  ANNOTATE_RUN_REQUEST,
  CREATE_NOTEBOOK_REQUEST,
  END_RUN_REQUEST,
  PUBLISH_POLICY_REQUEST,
  RECORD_SCHEMAS,
  RECORD_UPDATE_REQUEST,
  SAVE_NOTEBOOK_REQUEST,
  type Schema,
  SILENCE_ALARMS_REQUEST,
  START_RUN_REQUEST,
  type WireType,
} from '@retrace/recording';
import type { OpenAPIObject } from '@nestjs/swagger';

const NAMES: Readonly<Record<WireType, string>> = {
  episode: 'EpisodeRecord',
  step: 'StepRecord',
  end: 'EndRecord',
  reward: 'RewardRecord',
  annotation: 'AnnotationRecord',
};

const refTo = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** Requests about a run or a notebook as a whole, or about alarms. */
const REQUESTS = {
  StartRunRequest: START_RUN_REQUEST,
  EndRunRequest: END_RUN_REQUEST,
  AnnotateRunRequest: ANNOTATE_RUN_REQUEST,
  RecordUpdateRequest: RECORD_UPDATE_REQUEST,
  PublishPolicyRequest: PUBLISH_POLICY_REQUEST,
  CreateNotebookRequest: CREATE_NOTEBOOK_REQUEST,
  SaveNotebookRequest: SAVE_NOTEBOOK_REQUEST,
  AcknowledgeAlarmRequest: ACKNOWLEDGE_ALARM_REQUEST,
  SilenceAlarmsRequest: SILENCE_ALARMS_REQUEST,
};

/** A reference to the schema of a request. */
export const schemaOf = (name: keyof typeof REQUESTS) => refTo(name);

const entries = Object.entries(NAMES) as [WireType, string][];

const WIRE_RECORD = {
  description: 'A record, told apart by `type`',
  oneOf: entries.map(([, name]) => refTo(name)),
  discriminator: {
    propertyName: 'type',
    mapping: Object.fromEntries(entries.map(([type, name]) => [type, refTo(name).$ref])),
  },
};

type Schemas = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>;

/** Adds the schemas by which records are checked, and the bodies of the route that takes them. */
export function addRecordSchemas(document: OpenAPIObject): OpenAPIObject {
  const records: Readonly<Record<string, Schema>> = {
    ...REQUESTS,
    ...Object.fromEntries(entries.map(([type, name]) => [name, RECORD_SCHEMAS[type]])),
  };
  document.components ??= {};
  document.components.schemas = {
    ...document.components.schemas,
    ...(records as Schemas),
    WireRecord: WIRE_RECORD,
  };
  const append = document.paths['/api/runs/{runId}/records'].post;
  if (append === undefined) return document;
  append.parameters?.push({
    name: 'Content-Encoding',
    in: 'header',
    required: false,
    schema: { type: 'string', enum: ['gzip'] },
  });
  append.requestBody = {
    required: true,
    description: 'At most 16 MiB, also decompressed, and 10,000 records',
    content: {
      'application/json': {
        schema: {
          oneOf: [refTo('WireRecord'), { type: 'array', maxItems: 10_000, items: refTo('WireRecord') }],
        },
      },
      'application/x-ndjson': {
        schema: { type: 'string', description: 'A `WireRecord` on each line' },
      },
      'application/vnd.apache.arrow.stream': {
        schema: {
          type: 'string',
          format: 'binary',
          description:
            'An Arrow stream with columns named like the fields of the records, in snake case; type `step` where a column `type` is missing',
        },
      },
    },
  };
  return document;
}
