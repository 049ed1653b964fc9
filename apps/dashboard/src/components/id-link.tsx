import type { ReactNode } from 'react';
import type { LinkProps } from 'react-router';
import { shortId } from '../format/ids';
import { Link } from './link';
import table from './table.module.css';

interface IdLinkProps extends Pick<LinkProps, 'to'> {
  readonly id: string;
  /** The whole id unless given. */
  readonly title?: string;
  /** Follows the id. */
  readonly children?: ReactNode;
}

/** A link with the end of an id; the page that it opens has the whole one. */
export function IdLink({ id, to, title = id, children }: IdLinkProps) {
  return (
    <Link className={`${table.link} mono`} to={to} title={title}>
      {shortId(id)}
      {children}
    </Link>
  );
}
