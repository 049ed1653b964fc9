import {
  ProcessError,
  DataDirectory,
  namesKafka,
  readLogConfig,
  type Credentials,
  type LogConfig,
} from '@retrace/process';

/** The log and the store that the environment names, in place of those of a data directory. */
export interface Services {
  readonly log: LogConfig;
  readonly storeUrl: string;
  /** Null for one server. */
  readonly storeCluster: string | null;
  /** Where checkpoints and tokenizers lie, and who may enter the store. */
  readonly directory: DataDirectory;
}

/**
 * What the environment names: null unless it names a log on Kafka, with which everything works on services that are shared.
 *
 * @throws ProcessError `ENVIRONMENT_VARIABLE_INVALID`
 */
export function readServices(environment: NodeJS.ProcessEnv, dataDir: string): Services | null {
  if (!namesKafka(environment)) return null;
  const log = readLogConfig(environment);
  const storeUrl = environment.RETRACE_STORE_URL ?? '';
  if (!URL.canParse(storeUrl)) {
    const rule = 'must be http://host:port of the store, as RETRACE_KAFKA_BROKERS names a log that is shared';
    throw new ProcessError(
      'ENVIRONMENT_VARIABLE_INVALID',
      `RETRACE_STORE_URL: got ${JSON.stringify(storeUrl)}, ${rule}`,
    );
  }
  const storeCluster = environment.RETRACE_STORE_CLUSTER || null;
  return { log, storeUrl, storeCluster, directory: new ServiceDirectory(dataDir, environment) };
}

/** What of a data directory is left when log and store are elsewhere. */
class ServiceDirectory extends DataDirectory {
  constructor(
    dataDir: string,
    private readonly environment: NodeJS.ProcessEnv,
  ) {
    super(dataDir);
  }

  override get checkpoints(): string {
    return this.environment.RETRACE_CHECKPOINT_DIRECTORY ?? super.checkpoints;
  }

  override get tokenizers(): string {
    return this.environment.RETRACE_TOKENIZER_DIRECTORY ?? super.tokenizers;
  }

  override credentials(): Credentials {
    const { environment } = this;
    return {
      user: environment.RETRACE_STORE_USER ?? 'retrace',
      password: environment.RETRACE_STORE_PASSWORD ?? '',
      readonlyUser: environment.RETRACE_STORE_READONLY_USER ?? 'retrace_readonly',
      readonlyPassword: environment.RETRACE_STORE_READONLY_PASSWORD ?? '',
    };
  }
}
