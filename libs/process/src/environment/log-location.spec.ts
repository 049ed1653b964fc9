import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readLogLocation } from './log-location.js';
import { namesKafka, readVariables } from './read-variables.js';

const read = (environment: NodeJS.ProcessEnv) =>
  readLogLocation(readVariables(environment, { opensLog: true }));

describe('readLogLocation', () => {
  it('names the directory when no broker is set', () => {
    expect(read({ RETRACE_LOG_DIRECTORY: 'data/log', RETRACE_KAFKA_BROKERS: '' })).toEqual({
      kind: 'lmdb',
      path: 'data/log',
    });
  });

  it('names Kafka when brokers are set, with the options that are set and no others', () => {
    const brokers = { RETRACE_LOG_DIRECTORY: 'data/log', RETRACE_KAFKA_BROKERS: 'a:9092,b.example:9093' };
    expect(namesKafka(brokers)).toBe(true);
    expect(read(brokers)).toEqual({ kind: 'kafka', brokers: ['a:9092', 'b.example:9093'] });
    expect(
      read({
        ...brokers,
        RETRACE_KAFKA_PREFIX: 'team.',
        RETRACE_KAFKA_PARTITIONS: '12',
        RETRACE_KAFKA_RETENTION_MS: '-1',
        RETRACE_KAFKA_COMPRESSION: 'ZSTD',
        RETRACE_KAFKA_SASL_MECHANISM: 'SCRAM-SHA-512',
        RETRACE_KAFKA_USERNAME: 'retrace',
        RETRACE_KAFKA_PASSWORD: 'secret',
        RETRACE_KAFKA_TLS: 'on',
      }),
    ).toEqual({
      kind: 'kafka',
      brokers: ['a:9092', 'b.example:9093'],
      prefix: 'team.',
      numTrajectoryPartitions: 12,
      trajectoryRetentionMs: -1,
      compression: 'zstd',
      sasl: { mechanism: 'scram-sha-512', username: 'retrace', password: 'secret' },
      tls: {},
    });
  });

  it('reads certificates from files, and turns TLS on', () => {
    const directory = mkdtempSync(join(tmpdir(), 'retrace-log-config-'));
    const file = join(directory, 'ca.pem');
    writeFileSync(file, 'PEM');
    const config = read({ RETRACE_KAFKA_BROKERS: 'a:1', RETRACE_KAFKA_CA_FILE: file });
    expect(config).toMatchObject({ tls: { ca: 'PEM' } });
    rmSync(directory, { recursive: true });
    expect(() => read({ RETRACE_KAFKA_BROKERS: 'a:1', RETRACE_KAFKA_CA_FILE: file })).toThrow(
      /RETRACE_KAFKA_CA_FILE: got ".*ca\.pem", can't be read \(ENOENT\)/,
    );
  });

  it('names every wrong, unknown and missing variable in the error, and no password', () => {
    const bad = {
      RETRACE_KAFKA_BROKERS: 'somewhere',
      RETRACE_KAFKA_PARTITIONS: 'many',
      RETRACE_KAFKA_SASL_MECHANISM: 'plain',
      RETRACE_KAFKA_PASSWORD: 'hush',
      RETRACE_KAFKA_PREFX: 'typo',
    };
    expect(() => read(bad)).toThrow(
      /RETRACE_KAFKA_BROKERS: got "somewhere", must be host:port.*RETRACE_KAFKA_PARTITIONS.*RETRACE_KAFKA_USERNAME/s,
    );
    expect(() => read(bad)).toThrow(/RETRACE_KAFKA_PREFX/);
    expect(() => read(bad)).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('hush') as string }) as Error,
    );
    expect(() => read({})).toThrow(/RETRACE_LOG_DIRECTORY/);
  });
});
