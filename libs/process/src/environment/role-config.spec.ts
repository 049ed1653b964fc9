import { describe, expect, it } from 'vitest';
import {
  readCollectorConfig,
  readSinkConfig,
  readStoreServerConfig,
  readTrainerConfig,
} from './role-config.js';
import { checkpointStorageVariables } from './checkpoint-storage.js';
import { roleEnvironment } from './role-environment.js';

const RUN_ID = '01890000-0000-7000-8000-000000000001';
const STORE = {
  RETRACE_STORE_URL: 'http://127.0.0.1:8123',
  RETRACE_STORE_USER: 'retrace',
  RETRACE_STORE_PASSWORD: 'a secret',
};
const ENVIRONMENT = {
  ...STORE,
  RETRACE_LOG_DIRECTORY: 'data/log',
  RETRACE_RUN_ID: RUN_ID,
  RETRACE_CHECKPOINT_DIRECTORY: 'data/checkpoints',
  RETRACE_TOKENIZER_DIRECTORY: 'data/tokenizers',
};

describe('configuration of roles', () => {
  it('readTrainerConfig: reads what roleEnvironment writes', () => {
    const { RETRACE_LOG_DIRECTORY: path, ...others } = ENVIRONMENT;
    const written = roleEnvironment({ kind: 'lmdb', path }, { ...others, RETRACE_BACKEND: 'wasm' });
    expect(readTrainerConfig(written)).toEqual({
      log: { kind: 'lmdb', path: 'data/log' },
      store: { url: 'http://127.0.0.1:8123', username: 'retrace', password: 'a secret', cluster: null },
      runId: RUN_ID,
      checkpoints: { directory: 'data/checkpoints', storage: null },
      tokenizerDirectory: 'data/tokenizers',
      backend: 'wasm',
      metricsAddress: null,
      engine: null,
    });
    expect(readTrainerConfig({ ...written, RETRACE_STORE_URL: '' }).store).toBe(null);
    expect(() => readTrainerConfig({ ...written, RETRACE_STORE_USER: '' })).toThrow(
      'RETRACE_STORE_USER: required',
    );
    const engine = '{"kind":"torch"}';
    expect(readTrainerConfig({ ...written, RETRACE_ENGINE: engine }).engine).toBe(engine);
  });

  it('roleEnvironment: hides a broker that the parent inherited from the child', () => {
    const inherited = { RETRACE_KAFKA_BROKERS: 'a:9092' };
    const written = roleEnvironment({ kind: 'lmdb', path: 'data/log', maxEventBytes: 4096 }, {});
    expect({ ...inherited, ...written }).toEqual({
      RETRACE_LOG_DIRECTORY: 'data/log',
      RETRACE_MAX_EVENT_BYTES: '4096',
      RETRACE_KAFKA_BROKERS: '',
    });
  });

  it('readCollectorConfig: defaults to a spool of 1 GiB and to the whole of the run', () => {
    const collector = readCollectorConfig({ ...ENVIRONMENT, RETRACE_SPOOL_DIRECTORY: 'data/spool' });
    expect(collector.spool).toEqual({ directory: 'data/spool', maxBytes: 2 ** 30 });
    expect(collector.share).toEqual({ index: 0, count: 1 });
    expect(readCollectorConfig({ ...ENVIRONMENT, RETRACE_COLLECTOR_SHARE: '2/3' }).share).toEqual({
      index: 1,
      count: 3,
    });
  });

  it('readTrainerConfig: serves metrics on the loopback interface where a port is set, or at the address that is named', () => {
    const port = { ...ENVIRONMENT, RETRACE_METRICS_PORT: '9464' };
    expect(readTrainerConfig(port).metricsAddress).toEqual({ host: '127.0.0.1', port: 9464 });
    const everywhere = readTrainerConfig({ ...port, RETRACE_METRICS_HOST: '0.0.0.0' });
    expect(everywhere.metricsAddress).toEqual({ host: '0.0.0.0', port: 9464 });
    expect(() => readTrainerConfig({ ...port, RETRACE_METRICS_PORT: '70000' })).toThrow(
      'RETRACE_METRICS_PORT: got "70000", must be a whole number ≥ 0 and ≤ 65535',
    );
  });

  it('readTrainerConfig: reads the object storage of checkpoints that checkpointStorageVariables writes', () => {
    const storage = { url: 's3://runs/mine', endpoint: 'http://127.0.0.1:9000' };
    const written = roleEnvironment({ kind: 'lmdb', path: 'data/log' }, checkpointStorageVariables(storage));
    expect(readTrainerConfig({ ...ENVIRONMENT, ...written }).checkpoints.storage).toEqual(storage);
    expect(() =>
      readTrainerConfig({ ...ENVIRONMENT, RETRACE_CHECKPOINT_STORAGE: '/mnt/checkpoints' }),
    ).toThrow(
      'RETRACE_CHECKPOINT_STORAGE: got "/mnt/checkpoints", must be s3://bucket or s3://bucket/prefix',
    );
  });

  it('readSinkConfig: requires no run id', () => {
    const sink = readSinkConfig({
      ...STORE,
      RETRACE_LOG_DIRECTORY: 'data/log',
      RETRACE_MIGRATIONS_DIRECTORY: 'migrations',
      RETRACE_SINK_SHARE: '1/2',
    });
    expect(sink).toMatchObject({ migrationsDirectory: 'migrations', share: { index: 0, count: 2 } });
  });

  it('readStoreServerConfig: names every missing variable', () => {
    expect(() => readStoreServerConfig(STORE)).toThrow(
      /RETRACE_STORE_DIRECTORY: required.*RETRACE_STORE_HOST: required.*RETRACE_STORE_READONLY_PASSWORD: required/s,
    );
  });

  it('readTrainerConfig: names every missing or wrong variable, with its value and the rule', () => {
    const wrong = {
      ...ENVIRONMENT,
      RETRACE_LOG_DIRECTORY: '',
      RETRACE_BACKEND: 'abacus',
    };
    expect(() => readTrainerConfig(wrong)).toThrow(
      /RETRACE_BACKEND: got "abacus", must be one of.*RETRACE_LOG_DIRECTORY: required/s,
    );
    expect(() => readTrainerConfig({ ...ENVIRONMENT, RETRACE_STORE_URL: 'nowhere' })).toThrow(
      'RETRACE_STORE_URL: got "nowhere", must be http',
    );
  });

  it('readTrainerConfig: ignores a wrong variable that it does not read', () => {
    expect(() => readTrainerConfig({ ...ENVIRONMENT, RETRACE_API_PORT: 'many' })).not.toThrow();
  });

  it('readTrainerConfig: never prints a password', () => {
    expect(() => readTrainerConfig({ RETRACE_STORE_PASSWORD: 'a secret' })).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('a secret') as string }) as Error,
    );
  });
});
