/** A clock whose hand turns back. */
export function ClockIcon() {
  return (
    <svg
      viewBox="0 0 16 16"
      width="15"
      height="15"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.4"
      aria-hidden
    >
      <path d="M2.6 5.2A6 6 0 1 1 2 8M2.4 2.2v3.2h3.2" strokeLinecap="round" strokeLinejoin="round" />
      <path d="M8 4.8V8l2.2 1.6" strokeLinecap="round" strokeLinejoin="round" />
    </svg>
  );
}
