import { brokerMethods } from './kafkajs-broker.fixture.js';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { newPrefix, noBroker, onBroker, OpenLogs, sharedBroker } from './broker.fixture.js';
import { holdExclusively, type ExclusiveRole, type Share } from './exclusive-role.js';

describe.skipIf(noBroker)(onBroker('holdExclusively'), () => {
  const logs = new OpenLogs();
  const prefix = newPrefix();
  beforeAll(() => logs.open({ prefix }));
  afterEach(() => {
    vi.restoreAllMocks();
  });
  afterAll(() => logs.close());

  const hold = (role: string, waitMs: number, share?: Share): Promise<ExclusiveRole> =>
    holdExclusively({ brokers: [sharedBroker().plaintext], prefix, createdBy: 'test' }, role, {
      waitMs,
      share,
    });

  it('gives a role to one process at a time, refuses others, and gives it to the next after its release', async () => {
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
  });

  it('gives each share to one process, and refuses other numbers of shares meanwhile', async () => {
    const [first, second] = await Promise.all([
      hold('collector-c', 10_000, { index: 0, count: 2 }),
      hold('collector-c', 10_000, { index: 1, count: 2 }),
    ]);
    const refusals = [
      { index: 1, count: 2 },
      { index: 2, count: 3 },
      { index: 0, count: 1 },
    ].map((share) =>
      hold('collector-c', 3_000, share).then(
        () => 'held',
        (error: unknown) => error,
      ),
    );
    for (const refusal of await Promise.all(refusals))
      expect(refusal).toMatchObject({ code: 'LOG_ROLE_TAKEN' });
    expect([first.lost.aborted, second.lost.aborted]).toEqual([false, false]);
    await second.release();
    const again = await hold('collector-c', 20_000, { index: 1, count: 2 });
    expect(first.lost.aborted).toBe(false);
    await Promise.all([first.release(), again.release()]);
  });

  it('keeps a role through errors after which kafkajs does not join the group again', async () => {
    const role = await hold('collector-d', 10_000);
    // The errors that follow a restart: the coordinator has forgotten the member, and can't be found for a while.
    const find = vi
      .spyOn(brokerMethods, 'findGroupCoordinator')
      .mockRejectedValueOnce(new Error('connection lost'))
      .mockRejectedValueOnce(new Error('connection lost'));
    const unknownMember = Object.assign(new Error('unknown member'), { type: 'UNKNOWN_MEMBER_ID' });
    const heartbeat = vi.spyOn(brokerMethods, 'heartbeat').mockRejectedValueOnce(unknownMember);
    await vi.waitUntil(() => find.mock.calls.length > 2 && heartbeat.mock.calls.length > 1, {
      timeout: 120_000,
    });
    expect(role.lost.aborted).toBe(false);
    await expect(hold('collector-d', 3_000)).rejects.toMatchObject({ code: 'LOG_ROLE_TAKEN' });
    await role.release();
  });
});
