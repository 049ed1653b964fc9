import { isJsonObject } from '@retrace/trajectory';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Observation, ResetOptions, StepResult } from '@retrace/environments';
import { EnvironmentSourceError } from '../errors.js';
import type { RemoteDescription, RemoteSession, ServerAdapter } from '../remote/adapter.js';
import { AgentGymClient } from './client.js';
import type { AgentGymFamily } from './families.js';
import { Instances, type ServerInstance } from './instances.js';

type Fields = Readonly<Record<string, unknown>>;

/** Reply of AgentGym's client where a text has several actions: the server is not asked, and the turn is lost. */
const ONE_ACTION_ONLY = "Error: Only one 'Action' is allowed per response. Please adjust your response.";
const SEARCH = 'search[<your query>]';
/** How long servers may take to close what is left at the end. */
const CLOSE_TIMEOUT_MS = 5_000;
const ACTION_LIST = /Available actions: (\[.*\])\s*$/s;

/** Speaks with servers of one of AgentGym's environments. */
export class AgentGymAdapter implements ServerAdapter {
  private readonly instances = new Map<string, Instances>();
  private readonly sessions = new Set<AgentGymSession>();

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
    const instances = this.instances.get(url) ?? new Instances();
    this.instances.set(url, instances);
    const { family, options, sessions } = this;
    const session = new AgentGymSession({
      ...{ client, family, options, instances },
      closed: () => sessions.delete(session),
    });
    sessions.add(session);
    return Promise.resolve(session);
  }

  /** Closes the instances of sessions that are still open, so that a server of others keeps none. */
  async close(): Promise<void> {
    const closing = Promise.allSettled([...this.sessions].map((session) => session.close()));
    await Promise.race([closing, sleep(CLOSE_TIMEOUT_MS, null, { ref: false })]);
  }
}

interface SessionOptions {
  readonly client: AgentGymClient;
  readonly family: AgentGymFamily;
  readonly options: Fields;
  readonly instances: Instances;
  /** Called once the session is closed. */
  readonly closed: () => void;
}

class AgentGymSession implements RemoteSession {
  private instance: ServerInstance | null = null;
  /** The request under way; after it nothing of this session touches the instance. */
  private pending: Promise<unknown> = Promise.resolve();
  private closing: Promise<void> | null = null;
  private score = 0;
  private taskFamily: string | null = null;
  private last: Observation = { text: '', anchor: null, legalActions: null };

  constructor(private readonly context: SessionOptions) {}

  reset(options: ResetOptions): Promise<Observation> {
    return this.alone(() => this.begin(options));
  }

  step(text: string): Promise<StepResult> {
    return this.alone(() => this.play(text));
  }

  /** Closes the instance, or keeps it for a later episode where the server can't close it. */
  close(): Promise<void> {
    return (this.closing ??= this.leave().finally(this.context.closed));
  }

  private get family(): AgentGymFamily {
    return this.context.family;
  }

  private alone<T>(request: () => Promise<T>): Promise<T> {
    const answer = request();
    this.pending = answer;
    return answer;
  }

  private async begin({ task, seed }: ResetOptions): Promise<Observation> {
    const { numTasks } = this.family;
    const { index = numTasks === 'seeded' ? seed : undefined } = task as { readonly index?: number };
    if (index === undefined)
      throw violation('the task has no index; the recipe must have environment.server.numTasks');
    const answer = await this.resetInstance(index);
    this.score = 0;
    this.taskFamily = this.family.familyOfReset?.(answer) ?? null;
    const observation = await this.observe(answer, false);
    const text = this.family.openingOfReset?.(answer, observation.text) ?? observation.text;
    this.last = { ...observation, text };
    return this.last;
  }

  private async play(text: string): Promise<StepResult> {
    const action = this.family.action(text);
    if (action === null) return this.invalid();
    const answer = await this.context.client.post('step', { ...this.named(), action });
    if (!isJsonObject(answer)) throw violation(`step answered ${JSON.stringify(answer)}, must be an object`);
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

  /**
   * Begins the task on the instance of the session, or on an idle one. A server refuses an instance that it does not know, as after a restart: then
   * one is made.
   */
  private async resetInstance(index: number): Promise<unknown> {
    const { instances } = this.context;
    if (this.instance !== null && !instances.isCurrent(this.instance)) this.instance = null;
    const used = (this.instance ??= instances.take());
    if (used === null) {
      this.instance = await this.create(index);
      return this.postReset(index);
    }
    try {
      return await this.postReset(index);
    } catch (refused) {
      if (!(refused instanceof EnvironmentSourceError) || refused.code !== 'SERVER_REFUSED') throw refused;
      this.instance = await this.create(index);
      try {
        const answer = await this.postReset(index);
        this.noticeRestart(used);
        return answer;
      } catch {
        // It is the task that is refused, not the instance.
        await this.release(used).catch(() => undefined);
        throw refused;
      }
    }
  }

  /** All instances from before the restart are forgotten: the server gives their numbers again. */
  private noticeRestart(refused: ServerInstance): void {
    const { instances } = this.context;
    if (instances.isCurrent(refused)) instances.forgetAll();
    const { instance } = this;
    if (instance !== null && !instances.isCurrent(instance)) this.instance = instances.add(instance.id);
  }

  private async create(index: number): Promise<ServerInstance> {
    const { createIndex, instance } = this.family;
    const body = createIndex === undefined ? {} : { [createIndex]: index };
    const answer = await this.context.client.post('create', body);
    const id = instance === 'env_idx' ? answer : isJsonObject(answer) ? answer.id : undefined;
    if (typeof id !== 'number')
      throw violation(`create answered ${JSON.stringify(answer)}, must name the instance`);
    return this.context.instances.add(id);
  }

  private postReset(index: number): Promise<unknown> {
    const { resetIndex, resetFields } = this.family;
    const { client, options } = this.context;
    return client.post('reset', { ...this.named(), ...resetFields, ...options, [resetIndex]: index });
  }

  /**
   * Without a `close`, the next episode may have the instance only once the server is done with this one; of an instance whose server did not answer
   * that is unknown.
   */
  private async leave(): Promise<void> {
    const { hasClose } = this.family;
    const isIdle = (this.instance !== null && hasClose) || (await hasAnswered(this.pending));
    if (this.instance === null) return;
    if (isIdle || hasClose) await this.release(this.instance);
    else this.context.instances.remove(this.instance);
  }

  private async release(instance: ServerInstance): Promise<void> {
    const { client, instances } = this.context;
    if (!instances.isCurrent(instance)) return;
    if (!this.family.hasClose) {
      instances.giveBack(instance);
      return;
    }
    instances.remove(instance);
    await client.post('close', { [this.family.instance]: instance.id });
  }

  private async observe(answer: unknown, isOver: boolean): Promise<Observation> {
    const observation = readObservation(answer);
    const { actionsRoute, instance } = this.family;
    if (actionsRoute === undefined || isOver) return observation;
    const told = await this.context.client.get(actionsRoute, { [instance]: `${this.instance?.id}` });
    return { ...observation, legalActions: shopActions(told) };
  }

  private named(): Fields {
    return { [this.family.instance]: this.instance?.id };
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

/** Whether the server answered a request, be it with a refusal. */
function hasAnswered(request: Promise<unknown>): Promise<boolean> {
  return request.then(
    () => true,
    (error: unknown) => error instanceof EnvironmentSourceError && error.code !== 'SERVER_UNREACHABLE',
  );
}

/** The text of an answer: a text itself, the first of a list, or a field by the name that the environment uses. */
function readObservation(answer: unknown): Observation {
  const value = Array.isArray(answer) ? (answer as unknown[])[0] : answer;
  const fields: Fields = isJsonObject(value) ? value : { observation: value };
  const text = fields.observation ?? fields.state;
  if (typeof text !== 'string') throw violation(`observation is ${JSON.stringify(text)}, must be a text`);
  return { text, anchor: null, legalActions: readActions(text, fields.available_actions) };
}

function readActions(text: string, listed: unknown): readonly string[] | null {
  if (Array.isArray(listed)) return listed.filter((action): action is string => typeof action === 'string');
  const list = ACTION_LIST.exec(text)?.[1];
  if (list === undefined) return null;
  const actions = [...list.matchAll(/'([^']*)'|"([^"]*)"/g)].map(([, single, double]) => single ?? double);
  return actions.length === 0 ? null : actions;
}

/** Actions of a shop's page, as verl-agent lists them. */
function shopActions(told: unknown): readonly string[] {
  const { has_search_bar: canSearch, clickables } = isJsonObject(told) ? told : ({} as Fields);
  if (typeof canSearch !== 'boolean' || !Array.isArray(clickables))
    throw violation(`available_actions answered ${JSON.stringify(told)}, must have has_search_bar and clickables`); // oxfmt-ignore
  const buttons = clickables.filter((button): button is string => typeof button === 'string');
  const clicks = buttons.filter((button) => button !== 'search').map((button) => `click[${button}]`);
  return canSearch ? [SEARCH, ...clicks] : clicks;
}

function violation(what: string): EnvironmentSourceError {
  return new EnvironmentSourceError('PROTOCOL_VIOLATION', `AgentGym: ${what}`);
}
