import { isJsonObject } from '@retrace/trajectory';
import { AgentGymClient, agentGymAction, EnvironmentSourceError } from '@retrace/environment-sources';
import { looseNumber } from '../fields.js';
import type { ReplayedEpisode, ReplayedStep, ReplayEnvironment, ReplayStart } from './replay.js';

/** Newer servers list the actions after each observation; older data lacks the list. */
const ACTION_LIST = /\n\s*Available actions: \[.*\]\s*$/s;

/** The server said that it can't do what it was asked for. */
export class ReplayServerError extends Error {}

/**
 * Replays episodes on a server of AgentGym that takes texts and an `id` in JSON: `babyai` and `textcraft`. The number in an item's id is
 * the index of its task there. Babyai's follows from the number alone; textcraft's follows from the order of files on the server's disk,
 * so that the first observation usually differs.
 */
export class AgentGymReplay implements ReplayEnvironment {
  private id: number | null = null;

  private readonly client: AgentGymClient;

  constructor(
    readonly name: string,
    url: string,
  ) {
    this.client = new AgentGymClient(url);
  }

  comparable(observation: string): string {
    return observation.replace(ACTION_LIST, '').trim();
  }

  begin({ itemId }: ReplayStart): Promise<readonly (() => Promise<ReplayedEpisode>)[]> {
    const index = itemId === undefined ? undefined : /_(\d+)$/.exec(itemId)?.[1];
    return Promise.resolve(index === undefined ? [] : [() => this.play(Number(index))]);
  }

  async close(): Promise<void> {
    if (this.id !== null) await this.post('close', { id: this.id }).catch(() => undefined);
  }

  private async play(dataIndex: number): Promise<ReplayedEpisode> {
    this.id ??= Number((await this.post('create', {})).id);
    const id = this.id;
    const first = await this.post('reset', { id, data_idx: dataIndex });
    return {
      observation: readText(first.observation),
      anchor: null,
      step: async (text): Promise<ReplayedStep> => {
        const action = agentGymAction(text);
        if (action === null) return ONE_ACTION_ONLY;
        const answer = await this.post('step', { id, action });
        // Babyai's own reward of a step is in `score`, which its client takes.
        const reward = looseNumber(answer.score ?? answer.reward) ?? null;
        return {
          observation: readText(answer.observation),
          reward,
          rewards: {},
          terminated: answer.done === true,
          truncated: false,
          parsedAction: action,
          actionValid: undefined,
          anchor: null,
          success: answer.done === true ? reward !== null && reward > 0 : null,
        };
      },
    };
  }

  private async post(verb: string, body: object): Promise<Readonly<Record<string, unknown>>> {
    try {
      const answer = await this.client.post(verb, body);
      return isJsonObject(answer) ? answer : {};
    } catch (error) {
      // A connection that fails ends the import; a refusal concerns the episode.
      const isRefusal = error instanceof EnvironmentSourceError && error.code === 'SERVER_REFUSED';
      throw isRefusal ? new ReplayServerError(error.message) : error;
    }
  }
}

/** The answer of AgentGym's client where a text has several actions; its server is not asked. */
const ONE_ACTION_ONLY: ReplayedStep = {
  observation: "Error: Only one 'Action' is allowed per response. Please adjust your response.",
  reward: 0,
  rewards: {},
  terminated: false,
  truncated: false,
  parsedAction: null,
  actionValid: false,
  anchor: null,
  success: null,
};

function readText(observation: unknown): string {
  if (typeof observation === 'string') return observation;
  return isJsonObject(observation) ? readText(observation.observation) : '';
}
