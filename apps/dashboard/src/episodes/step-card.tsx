import type { ReactNode } from 'react';
import type { StepDetail } from '../api-types/schema';
import { Badge } from '../components/badge';
import { JsonTree } from '../components/json-tree';
import { formatCost, formatCount, formatNumber } from '../format/numbers';
import { formatDuration } from '../format/times';
import type { TokenColors } from '../tokens/token-colors';
import { TokenStrip } from '../tokens/token-strip';
import type { TrainedStep } from '../tokens/token-view';
import { ChatMessages } from './chat-messages';
import { GridBoard } from './grid-board';
import { readChat } from './read-chat';
import { readGrid } from './read-grid';
import styles from './episode.module.css';

interface StepCardProps {
  readonly step: StepDetail;
  readonly colors: TokenColors;
  /** Those of its tokens that an update trained. */
  readonly trained?: TrainedStep;
  /** More about the step, below it. */
  readonly children?: ReactNode;
}

/** One step: the observation and its tokens, the action that answered it, and the reward that followed. */
export function StepCard({ step, colors, trained, children }: StepCardProps) {
  const chat = readChat(step.messages);
  const grid = readGrid(step.anchor);
  return (
    <li className={styles.step} data-step={step.step}>
      <header className={styles.stepHead}>
        <h2 tabIndex={-1} data-key-stop>
          Step {step.step}
        </h2>
        {step.actionValid === false && <Badge tone="bad">Invalid action</Badge>}
        {step.terminated && <Badge>Terminated</Badge>}
        {step.truncated && <Badge tone="warn">Truncated</Badge>}
        <span className={styles.grow} />
        <StepFacts step={step} />
      </header>
      <div className={styles.exchange}>
        <section>
          {chat === null && <h3>Observation</h3>}
          {grid !== null && <GridBoard label={`Grid of step ${step.step}`} {...grid} />}
          {chat === null ? (
            <pre className={styles.text}>{step.observation || '(empty)'}</pre>
          ) : (
            <ChatMessages label={`Messages of step ${step.step}`} {...chat} />
          )}
          {step.tokens.ids.length > 0 && (
            <>
              <h3>Tokens</h3>
              <TokenStrip
                tokens={step.tokens}
                colors={colors}
                trained={trained}
                label={`Tokens of step ${step.step}`}
              />
            </>
          )}
        </section>
        <section>
          {chat === null && (
            <>
              <h3>Action</h3>
              <pre className={`${styles.text} ${styles.action}`}>{step.action || '(empty)'}</pre>
            </>
          )}
          {(chat === null || step.parsedAction !== null) && <ParsedAction step={step} />}
          <Reward step={step} />
          {step.untrainable !== '' && <p className={styles.parsed}>Not trainable: {step.untrainable}</p>}
        </section>
      </div>
      {hasContent(step.info) && (
        <details>
          <summary className={styles.summary}>Info</summary>
          <JsonTree value={step.info} />
        </details>
      )}
      {children}
    </li>
  );
}

/** The action as the environment read it, when that differs from the text. */
function ParsedAction({ step }: { readonly step: StepDetail }) {
  if (step.parsedAction === null) return <p className={styles.parsed}>Not recognized by the environment</p>;
  if (step.parsedAction === step.action.trim()) return null;
  return (
    <p className={styles.parsed}>
      Parsed as <code>{step.parsedAction}</code>
    </p>
  );
}

function Reward({ step: { reward, rewards } }: { readonly step: StepDetail }) {
  return (
    <>
      <h3>Reward</h3>
      <p className={styles.reward} data-sign={Math.sign(reward ?? 0)}>
        {reward === null ? 'Missing' : formatNumber(reward)}
      </p>
      {rewards.length > 1 && (
        <ul className={styles.components}>
          {rewards.map(({ name, value }) => (
            <li key={name}>
              {name} <b>{formatNumber(value)}</b>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function StepFacts({ step }: { readonly step: StepDetail }) {
  const versions = [...new Set(step.tokens.policyVersions.filter((version) => version >= 0))];
  const { usage } = step;
  const known: readonly [string, string | null][] = [
    ['Policy version', versions.length > 0 ? versions.join(', ') : null],
    ['Model', step.model || null],
    ['Anchor', step.anchor],
    [
      'Temperature',
      step.greedy ? 'greedy' : step.temperature === null ? null : formatNumber(step.temperature),
    ],
    ['Prefix kept', step.tokens.ids.length > 0 ? `${formatCount(step.keptPrefixTokens)} tokens` : null],
    ['Input', usage?.inputTokens == null ? null : `${formatCount(usage.inputTokens)} tokens`],
    ['Output', usage?.outputTokens == null ? null : `${formatCount(usage.outputTokens)} tokens`],
    ['Cost', usage?.costUsd == null ? null : formatCost(usage.costUsd)],
    ['Generation', step.generationMs === null ? null : formatDuration(step.generationMs)],
    ['Environment', step.environmentMs === null ? null : formatDuration(step.environmentMs)],
  ];
  const facts = known.filter((fact): fact is [string, string] => fact[1] !== null);
  return (
    <dl className={styles.facts}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd title={value}>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function hasContent(info: StepDetail['info']): boolean {
  return info !== null && (typeof info !== 'object' || Object.keys(info).length > 0);
}
