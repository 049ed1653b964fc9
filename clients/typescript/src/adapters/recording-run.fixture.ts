import type { Run } from '../run.js';

type Fields = Readonly<Record<string, unknown>>;

/** A run that keeps what is recorded. */
export function recordingRun() {
  const steps: Fields[] = [];
  const ends: Fields[] = [];
  const episode = {
    id: '01920000-0000-7000-8000-000000000001',
    step: (fields: Fields) => steps.push(fields),
    end: (fields: Fields) => ends.push(fields),
  };
  return { run: { episode: () => episode } as unknown as Run, steps, ends };
}
