import type { ReactNode } from 'react';
import type { EpisodeListItem, RunListItem } from '../api-types/schema';
import styles from './badge.module.css';
import { Explained } from './tooltip';

type Tone = 'neutral' | 'good' | 'warn' | 'bad' | 'accent';

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

interface StatusView {
  readonly label: string;
  readonly tone: Tone;
  readonly meaning: string;
}

const STATUS_VIEWS: Record<RunListItem['status'], StatusView> = {
  running: { label: 'Running', tone: 'accent', meaning: 'Receiving events' },
  idle: { label: 'Idle', tone: 'warn', meaning: 'Not ended, but no events for 30 s' },
  finished: { label: 'Finished', tone: 'good', meaning: 'All updates are done' },
  stopped: { label: 'Stopped', tone: 'neutral', meaning: 'Stopped on request' },
  failed: { label: 'Failed', tone: 'bad', meaning: 'Ended by an error' },
};

interface StatusBadgeProps extends Pick<RunListItem, 'status'> {
  /** Has the meaning as a tooltip. Each row of a table would be one more stop of the Tab key. */
  readonly isExplained?: boolean;
}

export function StatusBadge({ status, isExplained = false }: StatusBadgeProps) {
  const { label, tone, meaning } = STATUS_VIEWS[status];
  return (
    <Badge tone={tone} title={isExplained ? undefined : meaning}>
      <span className={status === 'running' ? styles.pulse : styles.dot} />
      <Explained by={isExplained ? meaning : undefined}>{label}</Explained>
    </Badge>
  );
}

/** Outcome of an episode: success or failure where the environment tells, otherwise why it ended. */
export function OutcomeBadge({
  sealed,
  success,
  endReason,
}: Pick<EpisodeListItem, 'sealed' | 'success' | 'endReason'>) {
  if (!sealed) return <Badge tone="accent">In progress</Badge>;
  if (endReason === 'abandoned') return <Badge tone="warn">Abandoned</Badge>;
  if (success === null) return <Badge>{endReason === 'truncated' ? 'Truncated' : 'Terminated'}</Badge>;
  return success ? <Badge tone="good">Success</Badge> : <Badge tone="bad">Failure</Badge>;
}
