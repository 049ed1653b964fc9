import type { ReactNode } from 'react';

/** A magnifying glass. */
export function SearchIcon() {
  return (
    <LineIcon>
      <circle cx="7" cy="7" r="4.6" />
      <path d="M10.5 10.5 14 14" />
    </LineIcon>
  );
}

/** A clock whose hand turns back. */
export function ClockIcon() {
  return (
    <LineIcon>
      <path d="M2.6 5.2A6 6 0 1 1 2 8M2.4 2.2v3.2h3.2" />
      <path d="M8 4.8V8l2.2 1.6" />
    </LineIcon>
  );
}

/** Lines on a square of 16 units, in the color of the text. */
function LineIcon({ children }: { readonly children: ReactNode }) {
  return (
    <svg
      viewBox="0 0 16 16"
      width="15"
      height="15"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.4"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden
    >
      {children}
    </svg>
  );
}
