import { formatNumber, formatPercent } from '../format/numbers';
import styles from './token-strip.module.css';
import type { TokenView, TrainedToken } from './token-view';

/** The numbers of one token: of a sampled one also logprob and entropy in nats, and what an update read of it. */
export function TokenNumbers({ token }: { readonly token: TokenView }) {
  const { position, id, sampled, logprob, entropy, policyVersion, trained } = token;
  return (
    <p className={styles.detail}>
      <span>
        Token <b>{position}</b>
      </span>
      <span>
        Id <b>{id}</b>
      </span>
      <span>{sampled ? 'Sampled' : 'Context'}</span>
      {sampled && (
        <>
          <span>
            Logprob <b>{formatNumber(logprob, 4)}</b>
          </span>
          <span>
            Probability <b>{formatPercent(logprob === null ? null : Math.exp(logprob))}</b>
          </span>
          <span>
            Entropy <b>{formatNumber(entropy)}</b>
          </span>
        </>
      )}
      {policyVersion !== null && (
        <span>
          Policy version <b>{policyVersion}</b>
        </span>
      )}
      {trained && <TrainedNumbers {...trained} />}
    </p>
  );
}

function TrainedNumbers({ advantage, ratio, value, kl, teacherLogprob, clippedShare }: TrainedToken) {
  const known: readonly [string, number | null][] = [
    ['Advantage', advantage],
    ['Ratio', ratio],
    ['KL', kl],
    ['Value', value],
    ['Teacher’s logprob', teacherLogprob],
  ];
  return (
    <>
      {known.map(
        ([name, figure]) =>
          figure !== null && (
            <span key={name}>
              {name} <b>{formatNumber(figure, 4)}</b>
            </span>
          ),
      )}
      {clippedShare > 0 && (
        <span>
          Clipped <b>{formatPercent(clippedShare)}</b>
        </span>
      )}
    </>
  );
}
