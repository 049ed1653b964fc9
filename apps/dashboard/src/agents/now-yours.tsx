import { useState } from 'react';
import { useAgentProxy } from '../api/agent-queries';
import type { AgentProxy, RunDetail } from '../api/schema';
import { useShownMoment } from '../as-of/shown-moment';
import { Segments } from '../components/segments';
import page from '../pages/page.module.css';
import { AskPolicy } from './ask-policy';
import { callSnippets, maxAnswerTokens, type CallSnippet } from './call-snippets';
import { CapturedCalls } from './captured-calls';
import { CopiedCode } from './copied-code';
import styles from './now-yours.module.css';
import { useExampleObservation } from './use-example-observation';

/** The address to give an agent, and a box to ask the run's policy; nothing where the server runs no proxy, or an earlier moment is shown. */
export function NowYours({ run }: { readonly run: RunDetail }) {
  const isOfNow = useShownMoment() === null;
  return isOfNow && run.policyVersion !== null ? <OfNow run={run} /> : null;
}

function OfNow({ run }: { readonly run: RunDetail }) {
  const { data: proxy } = useAgentProxy();
  return proxy ? <Card run={run} proxy={proxy} /> : null;
}

function Card({ run, proxy }: { readonly run: RunDetail; readonly proxy: AgentProxy }) {
  const example = useExampleObservation(run.runId);
  const maxTokens = maxAnswerTokens(run.recipe);
  const [language, setLanguage] = useState<CallSnippet['language']>('curl');
  const snippets = callSnippets({
    ...{ url: proxy.url, model: `run:${run.runId}`, maxTokens },
    text: example || 'Hello',
  });
  const shown = snippets.find((snippet) => snippet.language === language) ?? snippets[0];
  return (
    <section className={`${page.card} ${styles.card}`} aria-label="Now yours">
      <div className={styles.part}>
        <h2>Now yours</h2>
        <p className={page.subtle}>
          Give this address to an agent: the newest policy of this run answers it, and each call is recorded
          as an episode.
        </p>
        <CopiedCode label="Address for agents" code={`export OPENAI_BASE_URL=${proxy.url}/v1`} />
        <Segments
          label="Ways to call it"
          value={shown.language}
          options={snippets.map(({ language: value, label }) => ({ value, label }))}
          onChange={setLanguage}
        />
        <CopiedCode key={language} label={`Call by ${shown.label}`} code={shown.code} />
        <CapturedCalls runName={proxy.runName} />
      </div>
      <AskPolicy runId={run.runId} example={example} maxTokens={maxTokens} />
    </section>
  );
}
