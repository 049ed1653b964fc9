export type InstallStage =
  | 'waiting'
  | 'checking'
  | 'downloading'
  | 'unpacking'
  | 'compiling'
  | 'testing'
  | 'installed';

export interface InstallProgress {
  readonly stage: InstallStage;
  /** Completed part of the whole installation, 0 to 1; never decreases. */
  readonly fraction: number;
  /** The present work, for people. */
  readonly message: string;
}

export type OnInstallProgress = (progress: InstallProgress) => void;

/** The start of each stage on the scale of the whole, by the time that stages take on a usual connection. */
const BEGINS: Readonly<Record<InstallStage, number>> = {
  waiting: 0,
  checking: 0,
  downloading: 0.02,
  unpacking: 0.6,
  compiling: 0.75,
  testing: 0.97,
  installed: 1,
};
const ORDER = Object.keys(BEGINS) as InstallStage[];

/** Turns progress within a stage into progress of the whole. */
export class ProgressScale {
  private highest = 0;

  constructor(private readonly onProgress: OnInstallProgress = () => undefined) {}

  /** @param within completed part of the stage, 0 to 1 */
  report(stage: InstallStage, within: number, message: string): void {
    const start = BEGINS[stage];
    const end = BEGINS[ORDER[ORDER.indexOf(stage) + 1] ?? stage];
    this.highest = Math.max(this.highest, start + (end - start) * Math.min(Math.max(within, 0), 1));
    this.onProgress({ stage, fraction: this.highest, message });
  }

  /** Reports progress within one stage. */
  during(stage: InstallStage): (within: number, message: string) => void {
    return (within, message) => {
      this.report(stage, within, message);
    };
  }

  /** Reports that another process is installing. */
  readonly waitFor = (pid: number): void => {
    this.report('waiting', 0, `another process (${pid}) is installing`);
  };
}
