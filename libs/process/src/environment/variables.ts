import {
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  IsUrl,
  IsUUID,
  Matches,
  Max,
  Min,
  Transform,
} from '@retrace/validation';

export const SASL_MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;
export const KAFKA_COMPRESSIONS = ['none', 'gzip', 'zstd'] as const;

/** The compute backends by name, as `openBackend` of `@retrace/compute` knows them. */
export const BACKEND_NAMES = [
  'tensorflow-cuda',
  'tfjs-node-gpu',
  'tensorflow',
  'tfjs-node',
  'webgpu',
  'wasm',
  'cpu',
] as const;

const SHARE = /^(\d{1,4})\/(\d{1,4})$/;
const SHARE_RULE = { message: 'must be <number>/<count>, such as 1/3 for the first of three' };
const ADDRESS_RULE = {
  message: 'must be an address that begins with http:// or https://, without a user name',
};
const URL_RULE = { message: 'must be http://host:port or https://host:port' };
const HTTP_URL = { require_tld: false, require_protocol: true, protocols: ['http', 'https'] };
const WITHOUT_USER = { ...HTTP_URL, disallow_auth: true };
const SWITCH = ['on', 'off'] as const;
type Switch = (typeof SWITCH)[number];

/** An optional integer. */
function WholeNumber({ min, max }: { readonly min: number; readonly max?: number }): PropertyDecorator {
  const rule = { message: `must be a whole number ≥ ${min}${max === undefined ? '' : ` and ≤ ${max}`}` };
  const decorators = [
    IsOptional(),
    Transform(({ value }: { value: unknown }) => (value === undefined ? undefined : Number(value))),
    IsInt(rule),
    Min(min, rule),
    ...(max === undefined ? [] : [Max(max, rule)]),
  ];
  return (target, name) => {
    for (const decorate of decorators) decorate(target, name);
  };
}

const ToLowerCase = Transform(({ value }: { value: unknown }) =>
  typeof value === 'string' ? value.toLowerCase() : value,
);

/**
 * The schema of all environment variables of Retrace. All are optional here: each process names those that it requires when it calls
 * `readVariables`. An empty variable counts as not set.
 */
export class EnvironmentVariables {
  /** Data directory of the command line. */
  @IsOptional() @IsString() RETRACE_DATA_DIR?: string;
  /** Fields of recipes that the commands which train override, as `--set` does: one assignment a line. */
  @IsOptional() @IsString() RETRACE_SET?: string;
  /** `1`: errors are printed with their stack. */
  @IsOptional() @IsString() RETRACE_VERBOSE?: string;
  /** A file that is written every second while the event loop runs, for health checks of containers. */
  @IsOptional() @IsString() RETRACE_HEARTBEAT_FILE?: string;
  /** `1` in the container image, for `retrace doctor`. */
  @IsOptional() @IsIn(['1']) RETRACE_IMAGE?: '1';

  // The event log: on Kafka where brokers are named, else in a directory.
  @IsOptional() @IsString() RETRACE_LOG_DIRECTORY?: string;
  @WholeNumber({ min: 1 }) RETRACE_MAX_EVENT_BYTES?: number;
  @IsOptional()
  @Matches(/^[^\s:,/]+:\d{1,5}(,[^\s:,/]+:\d{1,5})*$/, {
    message: 'must be host:port, or several of them separated by commas',
  })
  RETRACE_KAFKA_BROKERS?: string;
  @IsOptional()
  @Matches(/^[a-zA-Z0-9._-]{0,200}$/, { message: 'must be letters, digits, dots, dashes or underscores' })
  RETRACE_KAFKA_PREFIX?: string;
  @WholeNumber({ min: 1 }) RETRACE_KAFKA_PARTITIONS?: number;
  @WholeNumber({ min: 1 }) RETRACE_KAFKA_REPLICATION_FACTOR?: number;
  @WholeNumber({ min: 1 }) RETRACE_KAFKA_MIN_INSYNC_REPLICAS?: number;
  @WholeNumber({ min: -1 }) RETRACE_KAFKA_RETENTION_MS?: number;
  @WholeNumber({ min: 16_384 }) RETRACE_KAFKA_MAX_BATCH_BYTES?: number;
  @WholeNumber({ min: 1 }) RETRACE_KAFKA_DELIVERY_TIMEOUT_MS?: number;
  @IsOptional()
  @ToLowerCase
  @IsIn(KAFKA_COMPRESSIONS)
  RETRACE_KAFKA_COMPRESSION?: (typeof KAFKA_COMPRESSIONS)[number];
  @IsOptional()
  @ToLowerCase
  @IsIn(SASL_MECHANISMS)
  RETRACE_KAFKA_SASL_MECHANISM?: (typeof SASL_MECHANISMS)[number];
  @IsOptional() @IsString() RETRACE_KAFKA_USERNAME?: string;
  @IsOptional() @IsString() RETRACE_KAFKA_PASSWORD?: string;
  @IsOptional() @IsIn(SWITCH) RETRACE_KAFKA_TLS?: Switch;
  @IsOptional() @IsString() RETRACE_KAFKA_CA_FILE?: string;
  @IsOptional() @IsString() RETRACE_KAFKA_CERT_FILE?: string;
  @IsOptional() @IsString() RETRACE_KAFKA_KEY_FILE?: string;

  // The store.
  @IsOptional() @IsUrl(HTTP_URL, URL_RULE) RETRACE_STORE_URL?: string;
  @IsOptional() @IsString() RETRACE_STORE_USER?: string;
  @IsOptional() @IsString() RETRACE_STORE_PASSWORD?: string;
  /** The user, read-only and with limits, that runs the SQL of people. */
  @IsOptional() @IsString() RETRACE_STORE_READONLY_USER?: string;
  @IsOptional() @IsString() RETRACE_STORE_READONLY_PASSWORD?: string;
  /** Cluster across which the store's tables are distributed; not set for a single server. */
  @IsOptional() @IsString() RETRACE_STORE_CLUSTER?: string;
  /** Data directory of the embedded store, and the address on which it listens. */
  @IsOptional() @IsString() RETRACE_STORE_DIRECTORY?: string;
  @IsOptional() @IsString() RETRACE_STORE_HOST?: string;
  @WholeNumber({ min: 0, max: 65_535 }) RETRACE_STORE_PORT?: number;
  @IsOptional() @IsString() RETRACE_MIGRATIONS_DIRECTORY?: string;
  /** `on`: a sink writes into a store that has events of another log, too. */
  @IsOptional() @IsIn(SWITCH) RETRACE_ACCEPT_OTHER_LOG?: Switch;
  /** The part of the log's partitions that this sink copies to the store. */
  @IsOptional() @Matches(SHARE, SHARE_RULE) RETRACE_SINK_SHARE?: string;

  // Collector and trainer.
  @IsOptional() @IsUUID() RETRACE_RUN_ID?: string;
  @IsOptional() @IsString() RETRACE_CHECKPOINT_DIRECTORY?: string;
  /** Object storage of the checkpoints, `s3://bucket/prefix`; the directory's neighbour `…-cache` then has copies of a few. */
  @IsOptional()
  @Matches(/^s3:\/\/[a-z0-9][a-z0-9.-]+[a-z0-9](\/.*)?$/, {
    message: 'must be s3://bucket or s3://bucket/prefix',
  })
  RETRACE_CHECKPOINT_STORAGE?: string;
  /** URL of that storage's server, where it is not AWS. */
  @IsOptional() @IsUrl(HTTP_URL, URL_RULE) RETRACE_CHECKPOINT_ENDPOINT?: string;
  @IsOptional() @IsString() RETRACE_CHECKPOINT_REGION?: string;
  @IsOptional() @IsString() RETRACE_TOKENIZER_DIRECTORY?: string;
  @IsOptional() @IsIn(BACKEND_NAMES) RETRACE_BACKEND?: (typeof BACKEND_NAMES)[number];
  /** The section `engine` of a recipe as JSON, which the trainer takes instead of that of its run. */
  @IsOptional() @IsString() RETRACE_ENGINE?: string;
  /** `on`: the process that is trainer and collector of a run validates it, too. */
  @IsOptional() @IsIn(SWITCH) RETRACE_COLOCATE_VALIDATOR?: Switch;
  /** The part of a run's episodes that this collector plays. */
  @IsOptional() @Matches(SHARE, SHARE_RULE) RETRACE_COLLECTOR_SHARE?: string;
  /** Directory for the events of a collector while the log is unavailable; without it they are kept in memory. */
  @IsOptional() @IsString() RETRACE_SPOOL_DIRECTORY?: string;
  /** Largest size of the files of one collector in that directory (default 1 GiB). */
  @WholeNumber({ min: 0 }) RETRACE_SPOOL_MAX_BYTES?: number;
  /** Port at which this process serves its metrics to Prometheus, 0 for any free one; without it none are served. */
  @WholeNumber({ min: 0, max: 65_535 }) RETRACE_METRICS_PORT?: number;
  /** Address of that port (default 127.0.0.1). */
  @IsOptional() @IsString() RETRACE_METRICS_HOST?: string;

  // The API.
  @IsOptional() @IsString() RETRACE_API_HOST?: string;
  /** 0 selects any free port. */
  @WholeNumber({ min: 0, max: 65_535 }) RETRACE_API_PORT?: number;
  /** Host names that requests to the API may name, besides those of the loopback interface; separated by commas. */
  @IsOptional() @IsString() RETRACE_API_ALLOWED_HOSTS?: string;
  /** Directory of the API keys; without it there are none, and the API listens on the loopback interface only. */
  @IsOptional() @IsString() RETRACE_API_KEYS_DIRECTORY?: string;
  /** Key that a supervisor makes, with which its API and its proxy for agents ask each other. */
  @IsOptional() @IsString() RETRACE_AGENTS_KEY?: string;
  /** Where an API that needs a key and has none writes one that it makes. */
  @IsOptional() @IsString() RETRACE_API_FIRST_KEY_FILE?: string;
  /** Requests a second of one key, or of one address where no key is needed; 0 for no limit. */
  @WholeNumber({ min: 0 }) RETRACE_API_RATE_LIMIT?: number;
  /** File of rules that hide what may not be stored of records; without it nothing is hidden. */
  @IsOptional() @IsString() RETRACE_REDACTION_RULES?: string;
  /** Incoming webhook of Slack, or of a service that accepts the same body, which an API sends alarms to; a secret. */
  @IsOptional() @IsUrl(WITHOUT_USER, ADDRESS_RULE) RETRACE_ALARM_WEBHOOK?: string;
  /** Prometheus Alertmanager that an API sends alarms to. */
  @IsOptional() @IsUrl(WITHOUT_USER, ADDRESS_RULE) RETRACE_ALERTMANAGER_URL?: string;
  /** Where an API keeps which alarms it has sent; without it, it sends those that are raised while it runs. */
  @IsOptional() @IsString() RETRACE_ALARM_DIRECTORY?: string;
  /** Address at which people open the pages, for links in alarms. */
  @IsOptional() @IsUrl(WITHOUT_USER, ADDRESS_RULE) RETRACE_PAGE_URL?: string;
  /** Directory of traces that are still open, of one API; without it the API takes no spans. */
  @IsOptional() @IsString() RETRACE_TRACE_DIRECTORY?: string;
  /** Time without a new span after which a trace whose root has not ended is complete. */
  @WholeNumber({ min: 1 }) RETRACE_TRACE_IDLE_SECONDS?: number;
  /** Time between deletions of the episodes that runs no longer keep. */
  @WholeNumber({ min: 1, max: 1_000_000 }) RETRACE_RETENTION_SECONDS?: number;
  /** Script of the process that the API starts for a replay or a what-if; without it, or without checkpoints, the API takes none. */
  @IsOptional() @IsString() RETRACE_QUESTIONS_SCRIPT?: string;
  /** `on` where the API's supervisor starts and stops runs. */
  @IsOptional() @IsIn(SWITCH) RETRACE_RUN_CONTROL?: Switch;
  /** Directory of the built dashboard; without it the API serves no pages. */
  @IsOptional() @IsString() RETRACE_DASHBOARD_DIRECTORY?: string;
  /** Directory of the built documentation; without it `/docs` says that it is not there. */
  @IsOptional() @IsString() RETRACE_DOCUMENTATION_DIRECTORY?: string;
  /** `off` if the sink runs in its own process. */
  @IsOptional() @IsIn(SWITCH) RETRACE_SINK?: Switch;
}

export type VariableName = keyof EnvironmentVariables;
