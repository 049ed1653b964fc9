import type { ControlTail } from '@retrace/log';
import type { PlayedAttempt, StartedPlay, UnfinishedRun } from '@retrace/store';
import type { Json } from '@retrace/trajectory';
import type { PlayRequest } from './play-request.js';

/** Options that decide what is played and how it is reported, as they are stored for a resume. */
export type PlayCommand = Omit<PlayRequest, 'dataDir' | 'json' | 'verbose' | 'backend'>;

/** The options of a play as they are stored. */
export function describeCommand({ dataDir, json, verbose, backend, ...command }: PlayRequest): Json {
  void [dataDir, json, verbose, backend];
  return JSON.parse(JSON.stringify(command)) as Json;
}

/** Attempts that earlier runs of a play have ended. */
export class StartedAttempts {
  private readonly runs: readonly UnfinishedRun[];
  private readonly keys = new Map<string, Set<string>>();

  constructor(play: StartedPlay | null) {
    this.runs = play?.runs ?? [];
    for (const { policy, environment, ended } of this.runs) {
      const pair = makePair(policy, environment);
      const keys = this.keys.get(pair) ?? new Set();
      for (const attempt of ended) keys.add(makeKey(attempt));
      this.keys.set(pair, keys);
    }
  }

  /** Attempts of a policy in an environment, each counted once. */
  numEnded(policy: string, environment: string): number {
    return this.keys.get(makePair(policy, environment))?.size ?? 0;
  }

  hasEnded(policy: string, environment: string, attempt: PlayedAttempt): boolean {
    return this.keys.get(makePair(policy, environment))?.has(makeKey(attempt)) ?? false;
  }

  /**
   * The stored policy that a name such as `latest` meant when the play began; null where it was none, or has not played.
   *
   * @param environment where it played; anywhere, if not given
   */
  samePolicy(policy: string, environment?: string): string | null {
    const run = this.runs.find(
      (one) => one.policy === policy && (environment === undefined || one.environment === environment),
    );
    return run?.description.startsWith('run:') === true ? run.description : null;
  }
}

/** Records the end of runs whose process was killed before it could. */
export async function endRuns(control: ControlTail, play: StartedPlay): Promise<void> {
  for (const { runId } of play.runs) {
    if (control.run(runId).ended !== null) continue;
    const payload = {
      reason: 'stopped' as const,
      detail: 'its process ended; the play was resumed',
      numUpdates: 0,
    };
    await control.append(runId, { kind: 'RunEnded', payload });
  }
}

function makePair(policy: string, environment: string): string {
  return `${policy}\n${environment}`;
}

function makeKey({ split, seed, task, attempt }: PlayedAttempt): string {
  return `${split}/${seed}/${task}/${attempt}`;
}
