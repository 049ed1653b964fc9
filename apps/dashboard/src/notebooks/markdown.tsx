import type { ReactNode } from 'react';
import Markdown from 'markdown-to-jsx/react';
import styles from './markdown.module.css';

/** A heading without an id, which another cell, or the page, could have too. */
function heading(Level: 'h2' | 'h3' | 'h4' | 'h5' | 'h6') {
  return ({ children }: { readonly children?: ReactNode }) => <Level>{children}</Level>;
}

/** HTML is shown as it is written, since anybody who may save a notebook could write it. */
const OPTIONS = {
  disableParsingRawHTML: true,
  forceBlock: true,
  wrapper: null,
  overrides: {
    // The page has the first level.
    h1: heading('h2'),
    h2: heading('h3'),
    h3: heading('h4'),
    h4: heading('h5'),
    h5: heading('h6'),
    h6: heading('h6'),
    // An address of elsewhere would tell who reads the notebook.
    img: ({ alt }: { readonly alt?: string }) => <em>{alt}</em>,
    a: { props: { rel: 'noreferrer' } },
  },
} as const;

/** Text in Markdown. */
export function MarkdownText({ text }: { readonly text: string }) {
  return (
    <div className={styles.text}>
      <Markdown options={OPTIONS}>{text}</Markdown>
    </div>
  );
}
