/** A magnifying glass. */
export function SearchIcon() {
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
      <circle cx="7" cy="7" r="4.6" />
      <path d="M10.5 10.5 14 14" strokeLinecap="round" />
    </svg>
  );
}
