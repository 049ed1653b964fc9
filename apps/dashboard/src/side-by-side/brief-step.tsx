import type { StepDetail } from '../api-types/schema';
import { ChatMessages } from '../episodes/chat-messages';
import { GridBoard } from '../episodes/grid-board';
import { readChat } from '../episodes/read-chat';
import { readGrid } from '../episodes/read-grid';
import { formatNumber } from '../format/numbers';
import page from '../components/page.module.css';
import styles from './side-by-side.module.css';

interface BriefStepProps {
  readonly step: StepDetail;
  /** The same step of the first episode, of which what is the same is not said again. */
  readonly first?: StepDetail;
}

/** One step of an episode: its observation, its action and the reward that followed. */
export function BriefStep({ step, first }: BriefStepProps) {
  const chat = readChat(step.messages);
  const grid = readGrid(step.anchor);
  const isSameView =
    first !== undefined && first.observation === step.observation && first.anchor === step.anchor;
  return (
    <>
      {chat !== null && <ChatMessages label={`Messages of step ${step.step}`} {...chat} />}
      {chat === null && isSameView && <p className={page.subtle}>The same observation</p>}
      {chat === null && !isSameView && grid !== null && (
        <GridBoard label={`Grid of step ${step.step}`} {...grid} />
      )}
      {chat === null && !isSameView && <pre className={styles.text}>{step.observation || '(empty)'}</pre>}
      {chat === null && <pre className={`${styles.text} ${styles.action}`}>{step.action || '(empty)'}</pre>}
      <p className={page.subtle}>Reward {formatNumber(step.reward)}</p>
    </>
  );
}
