import { formatNumber, formatPercent } from '../format/numbers';
import styles from './token-strip.module.css';
import type { TokenView } from './token-view';

/** The numbers of one token: of a sampled one also logprob and entropy in nats. */
export function TokenNumbers({ token }: { readonly token: TokenView }) {
  const { position, id, sampled, logprob, entropy, policyVersion } = token;
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
    </p>
  );
}
