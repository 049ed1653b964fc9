/** The thumb of a score, pointing up or down, with its meaning as its name. */
export function ThumbIcon({ isUp }: { readonly isUp: boolean }) {
  return (
    <svg
      role="img"
      aria-label={isUp ? 'Good' : 'Bad'}
      viewBox="0 0 24 24"
      width="16"
      height="16"
      fill="none"
      stroke={isUp ? 'var(--good)' : 'var(--bad)'}
      strokeWidth="2"
      strokeLinecap="round"
      strokeLinejoin="round"
      style={{ verticalAlign: '-2px', transform: isUp ? undefined : 'scale(1, -1)' }}
    >
      <path d="M7 10.5v9.5H3.5v-9.5z" />
      <path d="M7 10.5 11.2 3.2c1.7 0 2.6 1.2 2.3 2.8L12.8 9h5.7a2 2 0 0 1 2 2.4l-1.4 7a2 2 0 0 1-2 1.6H7" />
    </svg>
  );
}
