import { episodeLimits } from '@retrace/config';
import { validatorCursor, type ControlEntry } from '@retrace/log';
import type { RunState, Split } from '@retrace/trajectory';
import { maxAnswerCharacters } from '../environment/environment-answer.js';
import { FailureStreak } from '../episode/failure-streak.js';
import { playRound, type PlayedRound } from '../round/play-round.js';
import { PolicyActors } from '../round/policy-actors.js';
import { planRound } from '../round/round-plan.js';
import { playInOrder, type Rollouts } from '../rollouts.js';
import { nextValidation, type ValidatorTask } from './next-validation.js';
import { targetMetrics, validationMetrics, validationRows } from './validation-figures.js';

const DEFAULT_TARGETS = [0.5, 0.9];

/** A policy version to measure, and on which tasks. */
export type Evaluation = Extract<ValidatorTask, { kind: 'evaluate' }>;

export interface ValidatorOptions extends Rollouts {
  /** Called before the first episode of a version, once its weights are loaded. */
  readonly onStarted?: (evaluation: Evaluation) => void;
  /** Called for every version whose figures are in the log. */
  readonly onValidated?: (validated: ValidatedPolicy) => void;
}

/** A policy that was validated or tested, and how long its episodes took. */
export interface ValidatedPolicy {
  readonly split: Split;
  readonly seconds: number;
}

/**
 * Measures the published policies of a run, beside training, and ends the run after the last of them. Every decision follows from the
 * control stream (`nextValidation`); episodes, figures and metrics of a version are in the log after one append, so a validator that is killed
 * measures each version exactly once.
 */
export class Validator {
  private readonly policies: PolicyActors;
  private readonly failures: FailureStreak;

  constructor(private readonly options: ValidatorOptions) {
    const { recipe, warnings, environment } = options;
    // A server of the recipe has the newest weights, which are seldom the ones to validate.
    this.policies = new PolicyActors({ ...options, source: 'validator', endpoint: null });
    this.failures = new FailureStreak({
      environment: environment.name,
      source: 'validator',
      ...episodeLimits(recipe),
      warnings,
    });
  }

  /** Resolves when the run has ended or the signal aborts. */
  run(): Promise<void> {
    return playInOrder(this.options, 'validator', () => this.work());
  }

  private async work(): Promise<void> {
    const { control, signal, recipe, runId } = this.options;
    while (!signal.aborted) {
      await control.catchUp();
      const task = nextValidation(this.view, recipe);
      switch (task.kind) {
        case 'finished':
          return;
        case 'wait':
          await control.changed(signal);
          break;
        case 'evaluate':
          await this.evaluate(task);
          break;
        case 'endRun': {
          const { numUpdates } = this.view.updates;
          const payload = { reason: 'finished', detail: task.detail, numUpdates } as const;
          await control.append(runId, { kind: 'RunEnded', payload });
        }
      }
    }
  }

  private get view(): RunState {
    return this.options.control.run(this.options.runId);
  }

  private async evaluate(task: Evaluation): Promise<void> {
    const { split } = task;
    const startedMs = performance.now();
    let seconds = 0;
    const played = await this.play(task, (episodes) => {
      seconds = (performance.now() - startedMs) / 1000;
      return this.figures(task, { episodes, seconds });
    });
    if (played !== null) this.options.onValidated?.({ split, seconds });
  }

  /** The events of a version's figures. */
  private async figures(
    { split, policy }: Evaluation,
    { episodes, seconds }: Pick<PlayedRound, 'episodes'> & { readonly seconds: number },
  ): Promise<readonly ControlEntry[]> {
    const { recipe, environment, control } = this.options;
    const { policyVersion, updateNumber } = policy;
    const rows = validationRows(episodes, environment);
    const entries = validationMetrics(rows, { split, seconds });
    if (split === 'validation') {
      await control.catchUp();
      const { targets = DEFAULT_TARGETS } = recipe.evaluation;
      const success = rows[0].successRate ?? Number.NaN;
      entries.push(...targetMetrics(this.view, { policyVersion, success, targets }));
      const behind = (this.view.policies.latest ?? policy).updateNumber - updateNumber;
      entries.push(['validation/updatesBehind', behind]);
    }
    const names = entries.map(([name]) => name);
    const values = Float64Array.from(entries, ([, value]) => value);
    return [
      { kind: 'PolicyValidated', payload: { policyVersion, updateNumber, split, seconds, rows } },
      { kind: 'MetricsLogged', payload: { source: 'evaluation', step: policyVersion, names, values } },
    ];
  }

  /** Plays each task greedily, sampled, or both; null when interrupted. */
  private async play(
    task: Evaluation,
    told: (episodes: PlayedRound['episodes']) => Promise<readonly ControlEntry[]>,
  ): Promise<PlayedRound | null> {
    const { split, numTasks, policy } = task;
    const { recipe, environment, runId, log, control, writer, text, loops, engine, signal } = this.options;
    const { greedy = true, samplesPerTask = 0, temperature } = recipe.evaluation;
    const { policyVersion } = policy;
    const episodes = planRound({
      ...{ runId, seed: recipe.seed, spec: environment, split, agent: 'policy', trainable: false },
      round: policyVersion,
      numGroups: numTasks,
      groupSize: samplesPerTask,
      greedyBaseline: greedy,
      firstTask: 0,
      isEvaluation: true,
      firstOrdinal: Math.max(this.view.nextEvaluationOrdinal, this.view.rounds.nextOrdinal),
      maxCharacters: maxAnswerCharacters(log.maxEventBytes),
    }).map((episode) => {
      const decoding = episode.isGreedyBaseline ? 'greedy' : 'sampled';
      return { ...episode, metadata: { validation: { policyVersion, decoding } } };
    });
    const actor = await this.policies.open(policy, {
      greedy: samplesPerTask === 0,
      temperature: temperature ?? recipe.collection.temperature,
    });
    this.options.onStarted?.(task);
    return playRound(
      {
        ...{ runId, log, control, writer, text, engine, signal },
        cursor: validatorCursor(runId),
        spec: environment,
        beginLoop: loops.begin,
        limits: episodeLimits(recipe),
        failures: this.failures,
        concurrentEpisodes: recipe.collection.concurrentEpisodes,
        model: recipe.name,
      },
      { episodes, actor, policyVersion, idleSeconds: 0, told: (played) => told(played.episodes) },
    );
  }
}
