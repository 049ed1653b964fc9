import { useState } from 'react';
import { useAgentProxy } from '../api/agent-queries';
import type { AgentProxy, RunDetail } from '../api-types/schema';
import { useShownMoment } from '../as-of/shown-moment';
import { Segments } from '../components/segments';
import page from '../components/page.module.css';
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
  const { url, runName, policiesAnswer, needsKey } = proxy;
  return (
    <section className={`${page.card} ${styles.card}`} aria-label="Now yours">
      <div className={styles.part}>
        <h2>Now yours</h2>
        <p className={page.subtle}>
          {policiesAnswer
            ? 'Give this address to an agent: the newest policy of the newest run answers it, or that of this run where it is named as the model. Each call is recorded as an episode.'
            : 'Give this address to an agent: the model server that RETRACE_PROXY_UPSTREAM names answers it, and each call is recorded as an episode.'}
        </p>
        <CopiedCode label="Address for agents" code={`export OPENAI_BASE_URL=${url}/v1`} />
        {needsKey && (
          <p className={page.subtle}>
            This server has API keys: an agent needs one with the scope <code>ingest</code>, as{' '}
            <code>retrace keys create</code> makes it.
          </p>
        )}
        {policiesAnswer && <Snippets run={run} url={url} needsKey={needsKey} />}
        <CapturedCalls runName={runName} />
      </div>
      {policiesAnswer && <AskExample run={run} />}
    </section>
  );
}

interface SnippetsProps {
  readonly run: RunDetail;
  readonly url: string;
  readonly needsKey: boolean;
}

function Snippets({ run, url, needsKey }: SnippetsProps) {
  const example = useExampleObservation(run.runId);
  const [language, setLanguage] = useState<CallSnippet['language']>('curl');
  const snippets = callSnippets({
    ...{ url, needsKey, model: `run:${run.runId}` },
    maxTokens: maxAnswerTokens(run.recipe),
    text: example || 'Hello',
  });
  const shown = snippets.find((snippet) => snippet.language === language) ?? snippets[0];
  return (
    <>
      <Segments
        label="Ways to call it"
        value={shown.language}
        options={snippets.map(({ language: value, label }) => ({ value, label }))}
        onChange={setLanguage}
      />
      <CopiedCode key={language} label={`Call by ${shown.label}`} code={shown.code} />
    </>
  );
}

function AskExample({ run }: { readonly run: RunDetail }) {
  const example = useExampleObservation(run.runId);
  return <AskPolicy runId={run.runId} example={example} maxTokens={maxAnswerTokens(run.recipe)} />;
}
