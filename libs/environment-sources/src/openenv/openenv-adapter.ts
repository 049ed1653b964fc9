import { isJsonObject } from '@retrace/trajectory';
import type { Observation, ResetOptions, StepResult } from '@retrace/environments';
import { EnvironmentSourceError } from '../errors.js';
import type { RemoteDescription, RemoteSession, ServerAdapter } from '../remote/adapter.js';
import { ActionSchema } from './action-schema.js';
import { OpenEnvConnection } from './openenv-connection.js';

type Fields = Readonly<Record<string, unknown>>;

/** Fields of an observation that are told otherwise. */
const COMMON: readonly string[] = ['done', 'reward', 'metadata'];

/**
 * Speaks with OpenEnv servers, over `/ws`: over HTTP each call gets a fresh environment, so that a step would not see its reset.
 * An episode is a session of its own.
 */
export class OpenEnvAdapter implements ServerAdapter {
  private readonly schemas = new Map<string, Promise<ActionSchema>>();

  constructor(private readonly options: Fields = {}) {}

  async check(url: string, signal: AbortSignal): Promise<void> {
    const response = await fetch(makeAddress(url, 'health'), { signal });
    if (!response.ok) throw new Error(`GET /health answered ${response.status}`);
  }

  async describe(url: string): Promise<RemoteDescription> {
    const told = (await getJson(url, 'metadata')) as { readonly description?: unknown };
    const { all } = await this.schemaOf(url);
    const description = typeof told.description === 'string' ? told.description : 'An environment of OpenEnv';
    return { description, maxSteps: null, numTasks: null, families: [], offersAnchors: false, actions: all };
  }

  async open(url: string): Promise<RemoteSession> {
    const [schema, connection] = await Promise.all([this.schemaOf(url), OpenEnvConnection.open(url)]);
    return new OpenEnvSession(connection, schema, this.options);
  }

  close(): void {
    this.schemas.clear();
  }

  private schemaOf(url: string): Promise<ActionSchema> {
    const known = this.schemas.get(url);
    if (known) return known;
    const asked = getJson(url, 'schema').then(
      (told) => new ActionSchema((told as { readonly action?: unknown }).action),
    );
    this.schemas.set(url, asked);
    asked.catch(() => this.schemas.delete(url));
    return asked;
  }
}

class OpenEnvSession implements RemoteSession {
  private last: Observation = { text: '', anchor: null, legalActions: null };

  constructor(
    private readonly connection: OpenEnvConnection,
    private readonly schema: ActionSchema,
    private readonly options: Fields,
  ) {}

  async reset({ seed }: ResetOptions): Promise<Observation> {
    const answer = await this.connection.ask('reset', { ...this.options, seed });
    this.last = this.observe(answer);
    return this.last;
  }

  async step(text: string): Promise<StepResult> {
    const action = this.schema.parse(text);
    if (action === null) return this.invalid();
    const answer = await this.connection.ask('step', action);
    this.last = this.observe(answer);
    const reward = readReward(answer.reward);
    const terminated = answer.done === true;
    const told = isJsonObject(answer.observation) ? answer.observation.success : undefined;
    return {
      observation: this.last,
      reward,
      rewardNames: reward === null ? [] : ['environment'],
      rewardValues: reward === null ? [] : [reward],
      terminated,
      truncated: false,
      parsedAction: JSON.stringify(action),
      actionValid: true,
      success: terminated && typeof told === 'boolean' ? told : null,
      info: null,
    };
  }

  close(): Promise<void> {
    this.connection.close();
    return Promise.resolve();
  }

  private observe(answer: Fields): Observation {
    return { text: readText(answer.observation), anchor: null, legalActions: this.schema.all };
  }

  /** An action that does not fit the schema is not sent: the turn is lost, and the agent is told. */
  private invalid(): StepResult {
    const text = 'The action could not be read: it must be a JSON object that fits the schema of actions.';
    return {
      observation: { ...this.last, text },
      reward: null,
      rewardNames: [],
      rewardValues: [],
      ...{
        terminated: false,
        truncated: false,
        parsedAction: null,
        actionValid: false,
        success: null,
        info: null,
      },
    };
  }
}

/** The only text of an observation, or all of it as JSON. */
function readText(observation: unknown): string {
  if (!isJsonObject(observation))
    throw violation(`observation is ${JSON.stringify(observation)}, must be an object`);
  const fields = Object.entries(observation).filter(([name]) => !COMMON.includes(name));
  const texts = fields.flatMap(([, value]) => (typeof value === 'string' ? [value] : []));
  return texts.length === 1 && fields.length === 1 ? texts[0] : JSON.stringify(Object.fromEntries(fields));
}

/** A reward may be null, a truth value or a number. */
function readReward(told: unknown): number | null {
  if (told === null || told === undefined) return null;
  const reward = typeof told === 'boolean' ? Number(told) : told;
  if (typeof reward === 'number' && Number.isFinite(reward)) return reward;
  throw violation(`reward is ${JSON.stringify(told)}, must be null, a truth value or a finite number`);
}

async function getJson(url: string, path: string): Promise<unknown> {
  try {
    const response = await fetch(makeAddress(url, path));
    if (response.ok) return await response.json();
    throw new Error(`answered ${response.status}`);
  } catch (cause) {
    const reason = (cause as Error).cause ?? cause;
    const message = `GET ${makeAddress(url, path)}: ${(reason as Error).message}`;
    throw new EnvironmentSourceError('SERVER_UNREACHABLE', message, { cause });
  }
}

function makeAddress(url: string, path: string): string {
  return `${url.replace(/\/$/, '')}/${path}`;
}

function violation(what: string): EnvironmentSourceError {
  return new EnvironmentSourceError('PROTOCOL_VIOLATION', `OpenEnv: ${what}`);
}
