/** A question that is often asked of an update. */
interface Preset {
  readonly label: string;
  /** Fields of the recipe that are other, one a line. */
  readonly set: string;
}

/** Whether one fits the recipe of a run, the server says. */
export const PRESETS: readonly Preset[] = [
  { label: 'GRPO', set: 'advantage.estimator=grpo\nadvantage.options={}' },
  { label: 'RLOO', set: 'advantage.estimator=rloo\nadvantage.options={}' },
  { label: 'Tighter clip', set: 'loss.clipLow=0.1\nloss.clipHigh=0.1' },
  { label: 'Higher clip above (DAPO)', set: 'loss.clipHigh=0.28' },
  { label: 'No KL', set: 'loss.klCoefficient=0' },
  { label: 'No entropy bonus', set: 'loss.entropyCoefficient=0' },
  { label: 'One epoch', set: 'optimizer.epochs=1' },
  { label: 'Shuffled advantages (control)', set: 'advantage.shuffle=true' },
];
