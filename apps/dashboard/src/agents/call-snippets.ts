/** A way to call a policy that can be copied. */
export interface CallSnippet {
  readonly language: 'curl' | 'python' | 'typescript';
  readonly label: string;
  readonly code: string;
}

interface SnippetOptions {
  /** Of the proxy, without `/v1`. */
  readonly url: string;
  readonly model: string;
  /** A user message. */
  readonly text: string;
  readonly maxTokens: number;
  /** Whether the address asks for an API key; its place is then named, as no page has the key. */
  readonly needsKey: boolean;
}

/** Stands in the snippets where a key belongs. */
export const KEY_PLACEHOLDER = 'YOUR_RETRACE_KEY';

/** The same call by curl and by OpenAI's clients, which take their address from `OPENAI_BASE_URL`. */
export function callSnippets({
  url,
  model,
  text,
  maxTokens,
  needsKey,
}: SnippetOptions): readonly CallSnippet[] {
  const key = needsKey ? KEY_PLACEHOLDER : 'none';
  const [quotedModel, quotedText] = [JSON.stringify(model), JSON.stringify(text)];
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: text }], max_tokens: maxTokens });
  return [
    {
      language: 'curl',
      label: 'curl',
      code: [
        `curl ${url}/v1/chat/completions \\`,
        "  -H 'content-type: application/json' \\",
        ...(needsKey ? [`  -H 'authorization: Bearer ${key}' \\`] : []),
        // A quote ends the quoted text of a shell, and begins it again.
        `  -d '${body.replaceAll("'", String.raw`'\''`)}'`,
      ].join('\n'),
    },
    {
      language: 'python',
      label: 'Python',
      code: [
        'from openai import OpenAI',
        '',
        `client = OpenAI(base_url="${url}/v1", api_key="${key}")`,
        'answer = client.chat.completions.create(',
        `    model=${quotedModel},`,
        `    messages=[{"role": "user", "content": ${quotedText}}],`,
        `    max_tokens=${maxTokens},`,
        ')',
        'print(answer.choices[0].message.content)',
      ].join('\n'),
    },
    {
      language: 'typescript',
      label: 'TypeScript',
      code: [
        "import OpenAI from 'openai';",
        '',
        `const client = new OpenAI({ baseURL: '${url}/v1', apiKey: '${key}' });`,
        'const answer = await client.chat.completions.create({',
        `  model: ${quotedModel},`,
        `  messages: [{ role: 'user', content: ${quotedText} }],`,
        `  max_tokens: ${maxTokens},`,
        '});',
        'console.log(answer.choices[0].message.content);',
      ].join('\n'),
    },
  ];
}

/** Most tokens of an answer: as many as a turn of the run has, where its recipe says. */
export function maxAnswerTokens(recipe: unknown): number {
  const { context } = (recipe ?? {}) as { readonly context?: { readonly maxNewTokens?: unknown } };
  const most = context?.maxNewTokens;
  return typeof most === 'number' ? Math.min(most, MAX_TOKENS) : DEFAULT_TOKENS;
}

const DEFAULT_TOKENS = 64;
/** The API's limit. */
const MAX_TOKENS = 256;
