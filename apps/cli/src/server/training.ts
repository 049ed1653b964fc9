import { setTimeout as sleep } from 'node:timers/promises';
import type { BackendChoice } from '@retrace/process';
import { resolveEngine } from '@retrace/config';
import { type ControlFold, RUN_FAILED, type RunState } from '@retrace/trajectory';
import { ControlTail, WarningLog } from '@retrace/log';
import { summarizeRun, type RunSummary } from '@retrace/runs';
import { hasBaselines, recordBaselines, type BegunRun } from '@retrace/runs/begin';
import { CliError } from '../cli-error.js';
import { announceRun } from '../run/announce-run.js';
import { followControlEvents } from '../run/follow-control-events.js';
import { startMetricsExport, type MetricsExport, type MetricsOptions } from '../run/metrics-export.js';
import { measureApart } from '../run/measure-apart.js';
import { runProcesses } from '../run/planned-processes.js';
import { RunProgress } from '../run/run-progress.js';
import type { RoleDefinition } from '../supervisor/role.js';
import { Supervisor } from '../supervisor/supervisor.js';
import type { OpenedRun, TrainingParts } from './open-run.js';
import { colocatedRole, collectorRole, trainerRole, validatorRole } from '../roles/role-definitions.js';

/** Longest time that work which can wait is held back for the first update of a run. */
const LONGEST_START_MS = 15_000;

/** How a run is trained; its recipe says what. */
export interface TrainingRequest {
  readonly backend?: BackendChoice;
  readonly numCollectors: number;
  /** Steps of priority that trainer and collectors are below API and store. */
  readonly niceness: number;
  /** Where metrics go beside the log. */
  readonly metrics: MetricsOptions;
}

/** The roles of one run: they start when this does, and end with the run, or when they are stopped, after which the run can be resumed. */
export class Training {
  readonly runId: string;
  private readonly ending = new AbortController();
  /** Aborts once the run has an update, or has ended. */
  private readonly updated = new AbortController();
  private readonly supervisor: Supervisor;
  private readonly begun: BegunRun;
  private readonly state: ControlFold;
  private measuring: Promise<void> | null = null;
  private warnings: WarningLog | null = null;
  private metricsExport: MetricsExport | null = null;
  private stopped: Promise<void> | null = null;

  constructor(
    private readonly parts: TrainingParts,
    private readonly opened: OpenedRun,
    private readonly request: TrainingRequest,
  ) {
    const { begun, state, lock } = opened;
    this.begun = begun;
    this.state = state;
    this.runId = begun.runId;
    this.supervisor = new Supervisor({
      log: parts.log,
      lockFileDescriptors: [parts.held.lock.fileDescriptor, lock.fileDescriptor],
    });
  }

  /** Whether the run hands its episodes over through the log, so that it needs no store. */
  get goesOnWithoutStore(): boolean {
    return !this.begun.recipe.data;
  }

  /** Whether the run was stopped, so that it can be resumed. */
  get isStopping(): boolean {
    return this.ending.signal.aborted;
  }

  /**
   * Starts the roles; resolves once the run and all of them have ended.
   *
   * @throws CliError `ROLE_FAILED` once one has failed permanently; the others are stopped then
   */
  async toEnd(): Promise<RunSummary> {
    try {
      this.recordWarnings();
      this.metricsExport = await this.exportMetrics();
      const failed = this.supervisor.failure.then((error) => Promise.reject(error));
      await Promise.race([this.work(), failed]);
      await this.metricsExport.end();
      if (!this.isStopping) await this.parts.storeSide?.followEndedRun();
      return summarizeRun(findRun(this.state, this.runId));
    } catch (error) {
      // What breaks while it is stopped is no failure of the run.
      if (!this.isStopping)
        this.warnings?.raise({
          ...{ source: 'system', severity: 'alarm', rule: RUN_FAILED },
          message: `the run failed: ${(error as Error).message}`,
        });
      throw error;
    } finally {
      await this.stop();
    }
  }

  /** Stops collectors, validator and trainer in this order, and lets others train the run. */
  stop(): Promise<void> {
    this.stopped ??= this.stopOnce();
    return this.stopped;
  }

  private async stopOnce(): Promise<void> {
    this.ending.abort();
    await this.supervisor.stop();
    await this.metricsExport?.end();
    await this.measuring;
    if (this.warnings !== null) this.parts.log.recordTo(null);
    await this.warnings?.flush();
    this.opened.release();
  }

  killAll(): void {
    this.supervisor.killAll();
  }

  private async work(): Promise<void> {
    const { begun, supervisor } = this;
    const ended = this.followRun();
    this.measuring = this.recordBaselinesLater();
    const roles: string[] = [];
    if (!this.isStopping) {
      this.say('run', announceRun(begun));
      const definitions = this.defineRoles();
      roles.push(...definitions.map(({ name }) => name));
      await Promise.all(
        definitions.map(async (definition) => {
          if (definition.name === 'validator' && !(await this.afterStart())) return;
          const { detail } = await supervisor.start(definition);
          if (detail !== undefined) this.say(definition.name, detail);
        }),
      ).catch((error: unknown) => {
        // Those that are stopped before they are ready.
        if (!this.isStopping) throw error;
      });
    }
    await ended;
    await Promise.all(roles.map((name) => supervisor.whenEnded(name)));
  }

  private defineRoles(): RoleDefinition[] {
    const { begun, runId, state, parts, request } = this;
    const { recipe } = begun;
    const { backend, numCollectors, niceness, metrics } = request;
    const role = {
      ...{ runId, backend, niceness, metricsPort: metrics.metricsPort },
      directory: parts.held.directory,
      storeUrl: parts.storeSide?.url ?? null,
      hasRunEnded: () => state.run(runId)?.ended !== null,
    };
    const engine = resolveEngine(recipe);
    const processes = runProcesses(recipe, numCollectors);
    const { isColocated, numCollectors: count, hasValidator } = processes;
    const shares = Array.from({ length: count }, (_, index) => ({ index, count }));
    return [
      ...(isColocated
        ? [colocatedRole({ ...role, engine, validates: processes.isValidatorColocated })]
        : [trainerRole({ ...role, engine }), ...shares.map((share) => collectorRole({ ...role, share }))]),
      ...(hasValidator ? [validatorRole({ ...role, numCollectors: count })] : []),
    ];
  }

  /** Logs the progress of the run; resolves when the run has ended, or is stopped. */
  private async followRun(): Promise<void> {
    const { state, runId } = this;
    const progress = new RunProgress(this.begun.recipe);
    for await (const { event, offset } of followControlEvents(
      this.parts.eventLog,
      state.nextOffset,
      this.ending.signal,
    )) {
      const { applied } = state.apply(event, offset);
      if (event.runId !== runId || !applied) continue;
      const run = findRun(state, runId);
      if (run.updates.lastUpdate !== null || run.ended !== null) this.updated.abort();
      const line = progress.describe(event, run);
      if (line !== null) this.say('run', line);
      if (run.ended !== null) return;
    }
  }

  private exportMetrics(): Promise<MetricsExport> {
    const { eventLog, log } = this.parts;
    const { runId, recipe } = this.begun;
    const onNotice = (message: string) => {
      log.write({ role: 'retrace', level: 'warn', message });
    };
    const { name } = recipe;
    return startMetricsExport(eventLog, { ...this.request.metrics, runId, name, onNotice });
  }

  /** Makes what the supervisor warns of from now on events of the run. */
  private recordWarnings(): void {
    const control = new ControlTail(this.parts.eventLog);
    this.warnings = new WarningLog({ control, runId: this.runId });
    this.parts.log.recordTo(this.warnings);
  }

  private async recordBaselinesLater(): Promise<void> {
    const { runId, recipe } = this.begun;
    if (!hasBaselines(recipe) || !(await this.afterStart())) return;
    const run = this.state.run(runId);
    if (run === undefined) return;
    const { eventLog, log } = this.parts;
    const onNotice = (message: string) => {
      log.write({ role: 'retrace', level: 'warn', message });
    };
    await recordBaselines({
      ...{ log: eventLog, run, recipe, signal: this.ending.signal, onNotice },
      measure: measureApart,
    });
  }

  /**
   * Waits for the first update of the run, for work that nobody waits for: until then every process wants a processor. Resolves to false where the run is
   * stopped first.
   */
  private async afterStart(): Promise<boolean> {
    const { signal } = this.ending;
    const hasUpdate = AbortSignal.any([signal, this.updated.signal]);
    await sleep(LONGEST_START_MS, undefined, { signal: hasUpdate }).catch(() => undefined);
    return !signal.aborted;
  }

  private say(role: string, message: string): void {
    this.parts.log.write({ role, level: 'info', message });
  }
}

function findRun(state: ControlFold, runId: string): RunState {
  const run = state.run(runId);
  if (!run) throw new CliError('RUN_UNKNOWN', `run "${runId}" not found in this log`);
  return run;
}
