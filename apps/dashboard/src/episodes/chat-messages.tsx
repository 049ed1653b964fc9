import type { ChatEntry, StepChat } from './read-chat';
import styles from './chat-messages.module.css';

interface ChatMessagesProps extends StepChat {
  readonly label: string;
}

/** The messages that a step added to the conversation, the agent's last. */
export function ChatMessages({ input, output, label }: ChatMessagesProps) {
  return (
    <ol className={styles.messages} aria-label={label}>
      {input.map((entry, index) => (
        <Message key={index} entry={entry} />
      ))}
      {output !== null && <Message entry={output} />}
    </ol>
  );
}

function Message({ entry }: { readonly entry: ChatEntry }) {
  const { role, text, reasoning, toolCalls, toolCallId } = entry;
  return (
    <li className={styles.message} data-role={role}>
      <p className={styles.role}>
        {role}
        {toolCallId !== '' && <code> {toolCallId}</code>}
      </p>
      {reasoning !== '' && (
        <details open>
          <summary className={styles.reasoningHead}>Reasoning</summary>
          <p className={styles.reasoning}>{reasoning}</p>
        </details>
      )}
      {text !== '' && <p className={styles.text}>{text}</p>}
      {toolCalls.map((call, index) => (
        <div key={index} className={styles.call}>
          <code>
            {call.name} {call.id}
          </code>
          {call.arguments !== '' && <pre>{call.arguments}</pre>}
        </div>
      ))}
    </li>
  );
}
