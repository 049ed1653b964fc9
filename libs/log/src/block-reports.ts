import type { SamplingBlocked } from '@retrace/trajectory';
import type { ControlTail } from './control-tail.js';

interface BlockReportsOptions {
  readonly runId: string;
  readonly control: Pick<ControlTail, 'append'>;
}

/** Records why the limiter of samples and inserts makes a side wait: one event for each reason, however often the side looks again. */
export class BlockReports {
  private last = '';

  constructor(private readonly options: BlockReportsOptions) {}

  /** @param block null where the limiter is not the reason to wait */
  async report(block: SamplingBlocked | null): Promise<void> {
    if (block === null || block.reason === this.last) return;
    this.last = block.reason;
    await this.options.control.append(this.options.runId, { kind: 'SamplingBlocked', payload: block });
  }
}
