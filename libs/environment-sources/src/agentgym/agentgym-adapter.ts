import type { Observation, ResetOptions, StepResult } from '@retrace/environments';
import { EnvironmentSourceError } from '../errors.js';
import type { RemoteDescription, RemoteSession, ServerAdapter } from '../remote/adapter.js';
import { AgentGymClient } from './client.js';
import type { AgentGymFamily } from './families.js';

type Fields = Readonly<Record<string, unknown>>;

/** Reply of AgentGym's client where a text has several actions: the server is not asked, and the turn is lost. */
const ONE_ACTION_ONLY = "Error: Only one 'Action' is allowed per response. Please adjust your response.";
const SEARCH = 'search[<your query>]';
const ACTION_LIST = /Available actions: (\[.*\])\s*$/s;

/** Speaks with servers of one of AgentGym's environments. */
export class AgentGymAdapter implements ServerAdapter {
  constructor(
    private readonly family: AgentGymFamily,
    private readonly options: Fields = {},
  ) {}

  async check(url: string, signal: AbortSignal): Promise<void> {
    const response = await fetch(new URL(this.family.path ?? '', `${url}/`), { signal });
    // Only some have a page at their root; whatever answers, answers.
    if (response.status >= 500) throw new Error(`GET / answered ${response.status}`);
  }

  describe(): Promise<RemoteDescription> {
    const { description, numTasks, familyByIndex } = this.family;
    return Promise.resolve({
      ...(familyByIndex && { familyByIndex }),
      ...{ description, maxSteps: null, families: [], offersAnchors: false, actions: null },
      numTasks: typeof numTasks === 'number' ? numTasks : null,
    });
  }

  open(url: string): Promise<RemoteSession> {
    const client = new AgentGymClient(new URL(this.family.path ?? '', `${url}/`).href);
    return Promise.resolve(new AgentGymSession(client, this.family, this.options));
  }

  close(): void {
    // Its connections are those of single requests.
  }
}

class AgentGymSession implements RemoteSession {
  private instance: number | null = null;
  private score = 0;
  private taskFamily: string | null = null;
  private last: Observation = { text: '', anchor: null, legalActions: null };

  constructor(
    private readonly client: AgentGymClient,
    private readonly family: AgentGymFamily,
    private readonly options: Fields,
  ) {}

  async reset({ task, seed }: ResetOptions): Promise<Observation> {
    const { resetIndex, resetFields, numTasks } = this.family;
    const index = numTasks === 'seeded' ? seed : (task as { readonly index?: number }).index;
    if (index === undefined)
      throw violation('the task has no index; the recipe must have environment.server.numTasks');
    await this.create(index);
    const body = { ...this.named(), ...resetFields, ...this.options, [resetIndex]: index };
    const answer = await this.client.post('reset', body);
    this.score = 0;
    this.taskFamily = this.family.familyOfReset?.(answer) ?? null;
    this.last = await this.observe(answer, false);
    return this.last;
  }

  async step(text: string): Promise<StepResult> {
    const action = this.family.action(text);
    if (action === null) return this.invalid();
    const answer = await this.client.post('step', { ...this.named(), action });
    if (!isFields(answer)) throw violation(`step answered ${JSON.stringify(answer)}, must be an object`);
    const told = answer[this.family.reward];
    if (typeof told !== 'number' || !Number.isFinite(told)) {
      throw violation(`step: ${this.family.reward} is ${JSON.stringify(told)}, must be a finite number`);
    }
    const reward = this.family.reward === 'score' ? told - this.score : told;
    this.score = told;
    const terminated = answer.done === true;
    this.last = await this.observe(answer, terminated);
    return {
      observation: this.last,
      reward,
      rewardNames: ['environment'],
      rewardValues: [reward],
      terminated,
      truncated: false,
      parsedAction: action,
      actionValid: true,
      success: terminated ? told >= this.family.successFrom : null,
      // What else a server tells may hold the solution, as that of sqlgym does.
      info: this.taskFamily === null ? null : { taskFamily: this.taskFamily },
    };
  }

  async close(): Promise<void> {
    if (this.instance !== null && this.family.hasClose) await this.client.post('close', this.named());
  }

  /** An instance is made once, unless its task is decided when it is made. */
  private async create(index: number): Promise<void> {
    const { createIndex, instance } = this.family;
    if (this.instance !== null && createIndex === undefined) return;
    if (this.instance !== null) await this.close();
    const answer = await this.client.post(
      'create',
      createIndex === undefined ? {} : { [createIndex]: index },
    );
    const id = instance === 'env_idx' ? answer : isFields(answer) ? answer.id : undefined;
    if (typeof id !== 'number')
      throw violation(`create answered ${JSON.stringify(answer)}, must name the instance`);
    this.instance = id;
  }

  private async observe(answer: unknown, isOver: boolean): Promise<Observation> {
    const observation = observationOf(answer);
    const { actionsRoute, instance } = this.family;
    if (actionsRoute === undefined || isOver) return observation;
    const told = await this.client.get(actionsRoute, { [instance]: `${this.instance}` });
    return { ...observation, legalActions: shopActions(told) };
  }

  private named(): Fields {
    return { [this.family.instance]: this.instance };
  }

  private invalid(): StepResult {
    return {
      observation: { ...this.last, text: ONE_ACTION_ONLY },
      reward: 0,
      rewardNames: ['environment'],
      rewardValues: [0],
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

/** The text of an answer: a text itself, the first of a list, or a field by the name that the environment uses. */
function observationOf(answer: unknown): Observation {
  const value = Array.isArray(answer) ? (answer as unknown[])[0] : answer;
  const fields = isFields(value) ? value : { observation: value };
  const text = fields.observation ?? fields.state;
  if (typeof text !== 'string') throw violation(`observation is ${JSON.stringify(text)}, must be a text`);
  return { text, anchor: null, legalActions: actionsOf(text, fields.available_actions) };
}

function actionsOf(text: string, listed: unknown): readonly string[] | null {
  if (Array.isArray(listed)) return listed.filter((action): action is string => typeof action === 'string');
  const list = ACTION_LIST.exec(text)?.[1];
  if (list === undefined) return null;
  const actions = [...list.matchAll(/'([^']*)'|"([^"]*)"/g)].map(([, single, double]) => single ?? double);
  return actions.length === 0 ? null : actions;
}

/** Actions of a shop's page, as verl-agent lists them. */
function shopActions(told: unknown): readonly string[] {
  const { has_search_bar: canSearch, clickables } = isFields(told) ? told : ({} as Fields);
  if (typeof canSearch !== 'boolean' || !Array.isArray(clickables))
    throw violation(`available_actions answered ${JSON.stringify(told)}, must have has_search_bar and clickables`); // prettier-ignore
  const buttons = clickables.filter((button): button is string => typeof button === 'string');
  const clicks = buttons.filter((button) => button !== 'search').map((button) => `click[${button}]`);
  return canSearch ? [SEARCH, ...clicks] : clicks;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function violation(what: string): EnvironmentSourceError {
  return new EnvironmentSourceError('PROTOCOL_VIOLATION', `AgentGym: ${what}`);
}
