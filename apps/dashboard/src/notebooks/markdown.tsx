import type { ReactNode } from 'react';
import Markdown from 'markdown-to-jsx/react';
import { Link } from '../components/link';
import styles from './markdown.module.css';

/** A heading without an id, which another cell, or the page, could have too. */
function heading(Level: 'h2' | 'h3' | 'h4' | 'h5' | 'h6') {
  return ({ children }: { readonly children?: ReactNode }) => <Level>{children}</Level>;
}

interface TextLinkProps {
  readonly href?: string;
  readonly title?: string;
  readonly children?: ReactNode;
}

/** Parts of this server that are no pages of the dashboard. */
const NO_PAGES = /^\/(?:api|docs)(?:\/|$)/;

/** A link. One to another page keeps the moment that is shown; one within the text is only text, since nothing there has an id. */
function TextLink({ href = '', title, children }: TextLinkProps) {
  if (href.startsWith('#')) return children;
  const url = URL.canParse(href, location.href) ? new URL(href, location.href) : null;
  if (url?.origin !== location.origin || NO_PAGES.test(url.pathname))
    return (
      <a rel="noreferrer" {...{ href, title }}>
        {children}
      </a>
    );
  return (
    <Link to={`${url.pathname}${url.search}${url.hash}`} title={title}>
      {children}
    </Link>
  );
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
    // Loading an image from another server would tell that server who reads the notebook.
    img: ({ alt }: { readonly alt?: string }) => <em>{alt}</em>,
    a: TextLink,
    // Footnotes, whose ids are made of the text.
    div: ({ children }: { readonly children?: ReactNode }) => <div>{children}</div>,
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
