import { readFile } from 'node:fs/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { readAll, texts } from '../contract/records.contract.js';
import { noBroker, onBroker, OpenLogs, sharedBroker } from './broker.fixture.js';

describe.skipIf(noBroker)(onBroker('who may open a log on Kafka'), () => {
  const logs = new OpenLogs();
  afterEach(() => logs.close());

  const mechanisms = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;

  it.each(mechanisms)('a user with SASL %s, on plain and on TLS listeners', async (mechanism) => {
    const { sasl, saslTls, username, password, caFile } = sharedBroker();
    const tls = { ca: await readFile(caFile, 'utf8') };
    for (const access of [{ brokers: [sasl] }, { brokers: [saslTls], tls }]) {
      const log = await logs.open({ ...access, sasl: { mechanism, username, password } });
      await log.append('trajectories', 0, texts('secret'));
      expect(await readAll(log)).toEqual([[0, 'secret']]);
      for await (const records of log.follow('trajectories', 0, 0)) {
        expect(records).toHaveLength(1);
        break;
      }
    }
  });

  it.each(mechanisms)(
    'nobody with a wrong password by %s; the password is not in the error',
    async (mechanism) => {
      const { sasl, username } = sharedBroker();
      const opening = logs.open({ brokers: [sasl], sasl: { mechanism, username, password: 'gu3ss' } });
      await expect(opening).rejects.toMatchObject({
        code: 'LOG_UNAUTHORIZED',
        retriable: false,
        message: expect.not.stringContaining('gu3ss') as string,
      });
    },
  );

  it('a TLS client that trusts the certificate authority, and no other', async () => {
    const { tls, caFile } = sharedBroker();
    const log = await logs.open({ brokers: [tls], tls: { ca: await readFile(caFile, 'utf8') } });
    expect(await log.append('trajectories', 0, texts('a'))).toEqual({ firstOffset: 0 });
    await expect(logs.open({ brokers: [tls], tls: {}, requestDeadlineMs: 500 })).rejects.toMatchObject({
      code: 'LOG_UNREACHABLE',
      message: expect.stringContaining('self-signed certificate') as string,
    });
  });

  it('fails within the deadline when no broker answers', async () => {
    const started = performance.now();
    await expect(logs.open({ brokers: ['127.0.0.1:9'], requestDeadlineMs: 500 })).rejects.toMatchObject({
      code: 'LOG_UNREACHABLE',
      retriable: true,
      message: expect.stringContaining('127.0.0.1:9') as string,
    });
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});
