import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import { plainToInstance, Transform } from 'class-transformer';
import {
  IsIn,
  IsInt,
  IsNotEmpty,
  IsOptional,
  IsString,
  Matches,
  Min,
  ValidateIf,
  validateSync,
} from 'class-validator';
import { ProcessError } from './process-error.js';

const mechanisms = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;
const compressions = ['none', 'gzip', 'zstd'] as const;
const toNumber = Transform(({ value }: { value: unknown }) =>
  value === undefined ? undefined : Number(value),
);
const toLowerCase = Transform(({ value }: { value: unknown }) =>
  typeof value === 'string' ? value.toLowerCase() : value,
);

/** The variables that name the event log. `RETRACE_KAFKA_BROKERS` decides: with it the log is on Kafka, else in a directory. */
class LogEnvironment {
  @ValidateIf(({ RETRACE_KAFKA_BROKERS: brokers }: LogEnvironment) => brokers === undefined)
  @IsString()
  @IsNotEmpty()
  RETRACE_LOG_DIRECTORY!: string;

  @IsOptional()
  @Matches(/^[^\s:,/]+:\d{1,5}(,[^\s:,/]+:\d{1,5})*$/, {
    message: 'must be host:port, or several with commas',
  })
  RETRACE_KAFKA_BROKERS?: string;

  @IsOptional()
  @Matches(/^[a-zA-Z0-9._-]{0,200}$/, { message: 'must be letters, digits, dots, dashes or underscores' })
  RETRACE_KAFKA_PREFIX?: string;

  @IsOptional() @toNumber @IsInt() @Min(1) RETRACE_MAX_EVENT_BYTES?: number;

  @IsOptional() @toNumber @IsInt() @Min(1) RETRACE_KAFKA_PARTITIONS?: number;
  @IsOptional() @toNumber @IsInt() @Min(1) RETRACE_KAFKA_REPLICATION_FACTOR?: number;
  @IsOptional() @toNumber @IsInt() @Min(1) RETRACE_KAFKA_MIN_INSYNC_REPLICAS?: number;
  @IsOptional() @toNumber @IsInt() @Min(-1) RETRACE_KAFKA_RETENTION_MS?: number;
  @IsOptional() @toNumber @IsInt() @Min(16_384) RETRACE_KAFKA_MAX_BATCH_BYTES?: number;
  @IsOptional() @toNumber @IsInt() @Min(1) RETRACE_KAFKA_DELIVERY_TIMEOUT_MS?: number;
  @IsOptional() @toLowerCase @IsIn(compressions) RETRACE_KAFKA_COMPRESSION?: (typeof compressions)[number];

  @IsOptional() @toLowerCase @IsIn(mechanisms) RETRACE_KAFKA_SASL_MECHANISM?: (typeof mechanisms)[number];

  @ValidateIf((variables: LogEnvironment) => variables.RETRACE_KAFKA_SASL_MECHANISM !== undefined)
  @IsString()
  @IsNotEmpty()
  RETRACE_KAFKA_USERNAME?: string;

  @ValidateIf((variables: LogEnvironment) => variables.RETRACE_KAFKA_SASL_MECHANISM !== undefined)
  @IsString()
  RETRACE_KAFKA_PASSWORD?: string;

  @IsOptional() @IsIn(['on', 'off']) RETRACE_KAFKA_TLS?: 'on' | 'off';
  @IsOptional() @IsString() RETRACE_KAFKA_CA_FILE?: string;
  @IsOptional() @IsString() RETRACE_KAFKA_CERT_FILE?: string;
  @IsOptional() @IsString() RETRACE_KAFKA_KEY_FILE?: string;
}

/** Where the event log is, as `openLog` of `@retrace/log` takes it. */
export type LogConfig =
  | { readonly kind: 'lmdb'; readonly path: string; readonly maxEventBytes?: number }
  | {
      readonly kind: 'kafka';
      readonly brokers: readonly string[];
      readonly prefix?: string;
      readonly numTrajectoryPartitions?: number;
      readonly replicationFactor?: number;
      readonly minInsyncReplicas?: number;
      readonly trajectoryRetentionMs?: number;
      readonly maxBatchBytes?: number;
      readonly deliveryTimeoutMs?: number;
      readonly maxEventBytes?: number;
      readonly compression?: (typeof compressions)[number];
      readonly sasl?: {
        readonly mechanism: (typeof mechanisms)[number];
        readonly username: string;
        readonly password: string;
      };
      readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string };
    };

const OTHER_VARIABLES: ReadonlySet<string> = new Set(['RETRACE_LOG_DIRECTORY', 'RETRACE_MAX_EVENT_BYTES']);

/** The log in a directory of this machine that is known already; what else the environment says of logs counts. */
export function logInDirectory(
  path: string,
  { RETRACE_MAX_EVENT_BYTES }: NodeJS.ProcessEnv,
): Extract<LogConfig, { kind: 'lmdb' }> {
  const config = readLogConfig({ RETRACE_LOG_DIRECTORY: path, RETRACE_MAX_EVENT_BYTES });
  return config as Extract<LogConfig, { kind: 'lmdb' }>;
}

/** Whether the environment names a log on Kafka. */
export function namesKafka(environment: NodeJS.ProcessEnv): boolean {
  return (environment.RETRACE_KAFKA_BROKERS ?? '') !== '';
}

/**
 * Reads which log a process works on, once, in main.
 *
 * @throws ProcessError `ENVIRONMENT_VARIABLE_INVALID` naming every variable that is wrong and the rule; a password's value is never printed
 */
export function readLogConfig(environment: NodeJS.ProcessEnv): LogConfig {
  const known = Object.entries(environment).filter(
    ([name, value]) =>
      value !== undefined && value !== '' && (name.startsWith('RETRACE_KAFKA_') || OTHER_VARIABLES.has(name)),
  );
  const variables = plainToInstance(LogEnvironment, Object.fromEntries(known));
  const problems = validateSync(variables, { whitelist: true, forbidNonWhitelisted: true }).flatMap(
    (error) => {
      const isSecret = error.property.endsWith('_PASSWORD');
      const shown = isSecret ? '(hidden)' : (JSON.stringify(error.value) ?? 'nothing');
      return Object.values(error.constraints ?? {}).map((rule) => `${error.property}: got ${shown}, ${rule}`);
    },
  );
  if (problems.length > 0) throw new ProcessError('ENVIRONMENT_VARIABLE_INVALID', problems.join('; '));
  const { RETRACE_KAFKA_BROKERS: brokers, RETRACE_MAX_EVENT_BYTES: maxEventBytes } = variables;
  if (brokers === undefined)
    return withoutUndefined({ kind: 'lmdb', path: variables.RETRACE_LOG_DIRECTORY, maxEventBytes });
  return withoutUndefined({
    kind: 'kafka' as const,
    brokers: brokers.split(','),
    prefix: variables.RETRACE_KAFKA_PREFIX,
    numTrajectoryPartitions: variables.RETRACE_KAFKA_PARTITIONS,
    replicationFactor: variables.RETRACE_KAFKA_REPLICATION_FACTOR,
    minInsyncReplicas: variables.RETRACE_KAFKA_MIN_INSYNC_REPLICAS,
    trajectoryRetentionMs: variables.RETRACE_KAFKA_RETENTION_MS,
    maxBatchBytes: variables.RETRACE_KAFKA_MAX_BATCH_BYTES,
    deliveryTimeoutMs: variables.RETRACE_KAFKA_DELIVERY_TIMEOUT_MS,
    maxEventBytes,
    compression: variables.RETRACE_KAFKA_COMPRESSION,
    sasl: saslOf(variables),
    tls: tlsOf(variables),
  });
}

function saslOf(variables: LogEnvironment): Extract<LogConfig, { kind: 'kafka' }>['sasl'] {
  const { RETRACE_KAFKA_SASL_MECHANISM: mechanism } = variables;
  if (mechanism === undefined) return undefined;
  const { RETRACE_KAFKA_USERNAME: username = '', RETRACE_KAFKA_PASSWORD: password = '' } = variables;
  return { mechanism, username, password };
}

/** A file with certificates asks for TLS, too. */
function tlsOf(variables: LogEnvironment): Extract<LogConfig, { kind: 'kafka' }>['tls'] {
  const ca = readPem('RETRACE_KAFKA_CA_FILE', variables);
  const cert = readPem('RETRACE_KAFKA_CERT_FILE', variables);
  const key = readPem('RETRACE_KAFKA_KEY_FILE', variables);
  const isWanted = variables.RETRACE_KAFKA_TLS ?? ((ca ?? cert ?? key) === undefined ? 'off' : 'on');
  return isWanted === 'on' ? withoutUndefined({ ca, cert, key }) : undefined;
}

function readPem(
  name: 'RETRACE_KAFKA_CA_FILE' | 'RETRACE_KAFKA_CERT_FILE' | 'RETRACE_KAFKA_KEY_FILE',
  variables: LogEnvironment,
): string | undefined {
  const path = variables[name];
  if (path === undefined) return undefined;
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new ProcessError(
      'ENVIRONMENT_VARIABLE_INVALID',
      `${name}: got ${JSON.stringify(path)}, can't be read (${reason})`,
      {
        cause,
      },
    );
  }
}

/** Options that were not given take their defaults where they are used. */
function withoutUndefined<T extends object>(options: T): T {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;
}
