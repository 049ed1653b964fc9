import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newPrefix, noBroker, onBroker, OpenLogs, sharedBroker } from './broker.fixture.js';
import { holdExclusively, type ExclusiveRole } from './exclusive-role.js';

describe.skipIf(noBroker)(onBroker('holdExclusively'), () => {
  const logs = new OpenLogs();
  const prefix = newPrefix();
  beforeAll(() => logs.open({ prefix }));
  afterAll(() => logs.close());

  const hold = (role: string, waitMs: number): Promise<ExclusiveRole> =>
    holdExclusively({ brokers: [sharedBroker().plaintext], prefix, createdBy: 'test' }, role, { waitMs });

  it('gives a role to one process at a time, whoever asks beside it, and to the next after its release', async () => {
    const first = await hold('collector-a', 10_000);
    await expect(hold('collector-a', 2_500)).rejects.toMatchObject({
      code: 'LOG_ROLE_TAKEN',
      message: 'role collector-a is held by another process; stop that one, or wait until it is gone',
    });
    expect(first.lost.aborted).toBe(false);
    const other = await hold('collector-b', 10_000);
    const next = hold('collector-a', 20_000);
    await first.release();
    await (await next).release();
    await other.release();
  }, 40_000);
});
