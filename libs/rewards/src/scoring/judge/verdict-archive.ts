import type { StoreClient } from '@retrace/store';
import { JUDGE_SOURCE, listVerdicts } from './verdict-log.js';
import type { JudgeVerdict } from './verdict.js';

/** Where verdicts on the same question are found, whatever episode or run they were asked for. */
export interface VerdictSource {
  /** @param promptHash SHA-256, hex, of the question */
  find(promptHash: string): Promise<JudgeVerdict | null>;
}

interface Row {
  readonly value: number | null;
  readonly rationale: string;
}

/**
 * The verdicts of all runs in the store, by the content of the question; the earliest counts. Questions that come at once are looked
 * up together.
 */
export class VerdictArchive implements VerdictSource {
  private next: {
    readonly hashes: Set<string>;
    readonly found: Promise<ReadonlyMap<string, JudgeVerdict>>;
  } | null = null;

  constructor(private readonly client: StoreClient) {}

  async find(promptHash: string): Promise<JudgeVerdict | null> {
    const batch = (this.next ??= this.openBatch());
    batch.hashes.add(promptHash);
    return (await batch.found).get(promptHash) ?? null;
  }

  private openBatch() {
    const hashes = new Set<string>();
    const found = new Promise<ReadonlyMap<string, JudgeVerdict>>((resolve, reject) => {
      setImmediate(() => {
        this.next = null;
        this.read([...hashes]).then(resolve, reject);
      });
    });
    return { hashes, found };
  }

  private async read(hashes: readonly string[]): Promise<ReadonlyMap<string, JudgeVerdict>> {
    const rows = await this.client.queryRows<Row>(
      `SELECT value, rationale FROM (
         SELECT JSONExtractString(payload, 'rationale') AS rationale, JSONExtractString(rationale, 'promptHash') AS question,
           reward AS value, occurred_at, log_offset
         FROM events
         WHERE kind = 'RewardAssigned' AND source = {source:String}
           AND question IN (${hashes.map((hash) => `'${hash.replace(/[^0-9a-f]/g, '')}'`).join(', ')})
       )
       ORDER BY question, occurred_at, log_offset LIMIT 1 BY question`,
      { params: { source: JUDGE_SOURCE } },
    );
    const verdicts = listVerdicts(rows.map((row) => ({ source: JUDGE_SOURCE, ...row })));
    return new Map(verdicts.map((verdict) => [verdict.promptHash, verdict]));
  }
}
