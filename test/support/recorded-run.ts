import { Retrace, type Run, type RunOptions } from '@retrace/client';
import { ApiFixture } from '../../apps/api/src/testing/api-fixture.js';

/** A chat message as SQL shows it. */
export interface StoredMessage {
  readonly role: string;
  readonly content: unknown;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
  readonly tool_call_id?: string;
}

export interface StoredStep {
  readonly model: string;
  readonly engine: string;
  readonly input: readonly StoredMessage[];
  readonly output: StoredMessage | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly generationMs: number | null;
  readonly environmentMs: number | null;
  readonly temperature: number | null;
  readonly untrainable: string;
  readonly info: {
    readonly tools?: readonly Readonly<Record<string, unknown>>[];
    readonly toolDefinitions?: readonly unknown[];
    readonly finishReason?: string;
  } | null;
}

export interface StoredEpisode {
  readonly id: string;
  readonly agent: string;
  readonly parent: string | null;
  readonly externalId: string;
  readonly endReason: string | null;
  readonly endDetail: string;
  readonly finalObservation: string;
  readonly steps: readonly StoredStep[];
}

/** The API over a real log and store, and a client of it. */
export class RecordedRuns {
  private constructor(
    readonly api: ApiFixture,
    readonly retrace: Retrace,
    readonly errors: Error[],
  ) {}

  static async open(): Promise<RecordedRuns> {
    const api = await ApiFixture.start();
    const errors: Error[] = [];
    const retrace = new Retrace({ url: api.api.url, lingerMs: 20, onError: (error) => errors.push(error) });
    return new RecordedRuns(api, retrace, errors);
  }

  start(options: RunOptions): Promise<Run> {
    return this.retrace.startRun(options);
  }

  /** Every episode of a run with its steps, as SQL through the API shows them, in the order in which they began. */
  async stored(run: Run): Promise<readonly StoredEpisode[]> {
    if (!(await this.retrace.flush())) throw new Error('the client could not send everything');
    await this.api.storeHasCaughtUp();
    const where = `WHERE run_id = '${run.id}'`;
    const steps = await this.retrace.rows(
      'SELECT episode_id, model, engine, messages, input_tokens, output_tokens, generation_ms, environment_ms, ' +
        `temperature, untrainable, info FROM steps ${where} ORDER BY episode_id, step`,
    );
    const episodes = await this.retrace.rows(
      'SELECT episode_id, agent, parent_episode_id, external_id, end_reason, end_detail, final_observation ' +
        `FROM episodes ${where} ORDER BY started_at, episode_id`,
    );
    return episodes.map((episode) => ({
      id: episode.episode_id as string,
      agent: episode.agent as string,
      parent: episode.parent_episode_id as string | null,
      externalId: episode.external_id as string,
      endReason: episode.end_reason as string | null,
      endDetail: episode.end_detail as string,
      finalObservation: episode.final_observation as string,
      steps: steps.filter(({ episode_id }) => episode_id === episode.episode_id).map(storedStep),
    }));
  }

  async close(): Promise<void> {
    await this.retrace.close();
    await this.api.close();
  }
}

function storedStep(row: Readonly<Record<string, unknown>>): StoredStep {
  const { input, output } = JSON.parse(row.messages as string) as Pick<StoredStep, 'input' | 'output'>;
  return {
    model: row.model as string,
    engine: row.engine as string,
    input,
    output,
    inputTokens: row.input_tokens as number | null,
    outputTokens: row.output_tokens as number | null,
    generationMs: row.generation_ms as number | null,
    environmentMs: row.environment_ms as number | null,
    temperature: row.temperature as number | null,
    untrainable: row.untrainable as string,
    info: JSON.parse(row.info as string) as StoredStep['info'],
  };
}
