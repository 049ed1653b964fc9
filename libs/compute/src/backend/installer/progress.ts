export type InstallStage =
  'waiting' | 'checking' | 'downloading' | 'unpacking' | 'compiling' | 'testing' | 'installed';

export interface InstallProgress {
  readonly stage: InstallStage;
  /** Of the whole installation, 0 to 1; never falls. */
  readonly fraction: number;
  /** What happens now, for a person. */
  readonly message: string;
}

export type OnInstallProgress = (progress: InstallProgress) => void;

/** Where each stage begins on the scale of the whole, after the time it takes on a usual connection. */
const BEGINS: Readonly<Record<InstallStage, number>> = {
  waiting: 0,
  checking: 0,
  downloading: 0.02,
  unpacking: 0.6,
  compiling: 0.75,
  testing: 0.97,
  installed: 1,
};
const ORDER: readonly InstallStage[] = [
  'checking',
  'downloading',
  'unpacking',
  'compiling',
  'testing',
  'installed',
];

/** Turns progress within a stage into progress of the whole. */
export class ProgressScale {
  private highest = 0;

  constructor(private readonly onProgress: OnInstallProgress) {}

  /** @param within how much of the stage is over, 0 to 1 */
  report(stage: InstallStage, within: number, message: string): void {
    const start = BEGINS[stage];
    const next = ORDER[ORDER.indexOf(stage) + 1];
    const end = stage === 'waiting' || next === undefined ? start : BEGINS[next];
    this.highest = Math.max(this.highest, start + (end - start) * Math.min(Math.max(within, 0), 1));
    this.onProgress({ stage, fraction: this.highest, message });
  }
}
