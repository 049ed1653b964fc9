import type { StepDetail } from '../api/schema';
import { Badge } from '../components/badge';
import { JsonTree } from '../components/json-tree';
import { formatCount, formatNumber } from '../format/numbers';
import { formatDuration } from '../format/times';
import { TokenStrip } from '../tokens/token-strip';
import styles from './episode.module.css';

/** One step: the observation and its tokens, the action that answered it, and the reward that followed. */
export function StepCard({ step }: { readonly step: StepDetail }) {
  return (
    <li className={styles.step}>
      <header className={styles.stepHead}>
        <h2>Step {step.step}</h2>
        {!step.actionValid && <Badge tone="bad">Invalid action</Badge>}
        {step.terminated && <Badge>Terminated</Badge>}
        {step.truncated && <Badge tone="warn">Truncated</Badge>}
        <span className={styles.grow} />
        <StepFacts step={step} />
      </header>
      <div className={styles.exchange}>
        <section>
          <h3>Observation</h3>
          <pre className={styles.text}>{step.observation || '(empty)'}</pre>
          <h3>Tokens</h3>
          <TokenStrip tokens={step.tokens} label={`Tokens of step ${step.step}`} />
        </section>
        <section>
          <h3>Action</h3>
          <pre className={`${styles.text} ${styles.action}`}>{step.action || '(empty)'}</pre>
          <ParsedAction step={step} />
          <Reward step={step} />
        </section>
      </div>
      {hasContent(step.info) && (
        <details>
          <summary className={styles.summary}>Info</summary>
          <JsonTree value={step.info} />
        </details>
      )}
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
  const facts: readonly [string, string][] = [
    ['Policy version', versions.length > 0 ? versions.join(', ') : '–'],
    ['Anchor', step.anchor ?? '–'],
    ['Temperature', step.greedy ? 'greedy' : formatNumber(step.temperature)],
    ['Prefix kept', `${formatCount(step.keptPrefixTokens)} tokens`],
    ['Generation', formatDuration(step.generationMs)],
    ['Environment', formatDuration(step.environmentMs)],
  ];
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
