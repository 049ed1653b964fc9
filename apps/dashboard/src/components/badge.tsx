import type { ReactNode } from 'react';
import type { RunStatus } from '../api/types';
import styles from './badge.module.css';

export type Tone = 'neutral' | 'good' | 'warn' | 'bad' | 'accent';

export function Badge({
  tone = 'neutral',
  title,
  children,
}: {
  readonly tone?: Tone;
  readonly title?: string;
  readonly children: ReactNode;
}) {
  return (
    <span className={styles.badge} data-tone={tone} title={title}>
      {children}
    </span>
  );
}

const TONE_OF_STATUS: Record<RunStatus, Tone> = {
  running: 'accent',
  idle: 'warn',
  finished: 'good',
  stopped: 'neutral',
  failed: 'bad',
};

const MEANING_OF_STATUS: Record<RunStatus, string> = {
  running: 'Events arrive',
  idle: 'Not ended, but no events for a while: stopped, waiting or killed',
  finished: 'All updates were made',
  stopped: 'Ended on request',
  failed: 'Ended by an error',
};

export function StatusBadge({ status }: { readonly status: RunStatus }) {
  return (
    <Badge tone={TONE_OF_STATUS[status]} title={MEANING_OF_STATUS[status]}>
      <span className={status === 'running' ? styles.pulse : styles.dot} />
      {status}
    </Badge>
  );
}

/** How an episode came out. */
export function OutcomeBadge({
  sealed,
  success,
  endReason,
}: {
  readonly sealed: boolean;
  readonly success: boolean | null;
  readonly endReason: string | null;
}) {
  if (!sealed) return <Badge tone="accent">in progress</Badge>;
  if (endReason === 'abandoned') return <Badge tone="warn">abandoned</Badge>;
  if (success === null) return <Badge>{endReason ?? 'ended'}</Badge>;
  return success ? <Badge tone="good">success</Badge> : <Badge tone="bad">failure</Badge>;
}
