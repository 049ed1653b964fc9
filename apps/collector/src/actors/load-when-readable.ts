import { setTimeout as sleep } from 'node:timers/promises';
import type { WarningLog } from '@retrace/log';
import { isUnreadable, type PolicySource } from '@retrace/policy';
import type { PolicyPublished } from '@retrace/trajectory';

const POLL_MS = 1000;
const PATIENCE_MS = 120_000;

interface LoadOptions {
  /** The process that loads (default `collector`). */
  readonly source?: 'collector' | 'validator';
  readonly warnings: Pick<WarningLog, 'raise'>;
  readonly signal: AbortSignal;
}

/**
 * Loads a policy's weights. While their file is missing or damaged it waits for a trainer to make it again, for two minutes.
 *
 * @throws PolicyError `CHECKPOINT_MISSING`, `CHECKPOINT_CORRUPT` after that time, and as `PolicySource.load`
 */
export async function loadWhenReadable(
  policies: PolicySource,
  policy: PolicyPublished,
  { source = 'collector', warnings, signal }: LoadOptions,
): ReturnType<PolicySource['load']> {
  for (let waitedMs = 0; ; waitedMs += POLL_MS) {
    try {
      return await policies.load(policy);
    } catch (error) {
      if (!isUnreadable(error) || waitedMs >= PATIENCE_MS || signal.aborted) throw error;
      const message = `${error.message}; waiting for the trainer to make it again`;
      if (waitedMs === 0) warnings.raise({ source, message });
      await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}
