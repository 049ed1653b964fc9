import {
  Link as RouterLink,
  type LinkProps,
  NavLink as RouterNavLink,
  type NavLinkProps,
} from 'react-router';
import { withMoment } from '../as-of/moment';
import { useNamedMoment } from '../as-of/shown-moment';

/** A link to another page, which shows the same moment as this one. */
export function Link({ to, ...props }: LinkProps) {
  return <RouterLink to={withMoment(to, useNamedMoment())} {...props} />;
}

/** The same in a list of pages, of which it marks the one that is shown. */
export function NavLink({ to, ...props }: NavLinkProps) {
  return <RouterNavLink to={withMoment(to, useNamedMoment())} {...props} />;
}
