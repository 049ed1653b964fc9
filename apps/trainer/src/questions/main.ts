/**
 * The answer to a question about recorded updates as a process: `node apps/trainer/dist/questions/main.js`, configured as a trainer by its
 * environment. It takes one question over its channel, answers it, and ends; also when its parent does.
 */
import { readTrainerConfig, type UpdateAnswerMessage, type UpdateQuestion } from '@retrace/process';
import { needsStore } from '../fresh-episodes/whole-log-episodes.js';
import { answerQuestion } from './answer-question.js';

const stop = new AbortController();

/** Resolves once the message is with the parent, or can't reach it any more. */
function send(message: UpdateAnswerMessage): Promise<void> {
  return new Promise((resolve) => {
    if (process.send === undefined || !process.connected) resolve();
    else process.send(message, undefined, {}, () => resolve());
  });
}

function toFailure(error: unknown): UpdateAnswerMessage {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const message = error instanceof Error ? error.message : String(error);
  return { type: 'failed', code: typeof code === 'string' ? code : 'INTERNAL', message };
}

async function answer(question: UpdateQuestion): Promise<UpdateAnswerMessage> {
  try {
    const config = readTrainerConfig(process.env);
    if (config.store === null) throw needsStore('recorded episodes');
    await answerQuestion({ ...config, store: config.store }, question, {
      signal: stop.signal,
      send: (message) => void send(message),
    });
    return { type: 'finished' };
  } catch (error) {
    return toFailure(error);
  }
}

process.once('message', (question: UpdateQuestion) => {
  void answer(question)
    .then(send)
    .then(() => process.exit(0));
});
process.once('disconnect', () => process.exit(0));
process.once('SIGTERM', () => {
  stop.abort();
});
// Ctrl-C reaches the whole process group; this process ends when its parent does.
process.on('SIGINT', () => undefined);
