import { lazy, Suspense, type ComponentProps, type ReactNode } from 'react';
import styles from './tooltip.module.css';

// The page shows its content first.
const ShownTooltip = lazy(async () => ({ default: (await import('./shown-tooltip')).ShownTooltip }));

interface TooltipButtonProps extends ComponentProps<'button'> {
  /** Says more than the button does; screen readers read it as its description. */
  readonly tooltip: string;
}

/** A button with a tooltip, also for the keyboard, to which the browser shows no `title`. */
export function TooltipButton(props: TooltipButtonProps) {
  return <LazyTooltip {...props} isShownByPress={false} />;
}

interface ExplainedProps {
  /** Without it, the words stay as they are. */
  readonly by: string | undefined;
  readonly children: ReactNode;
}

/** Words with an explanation, which the pointer, the keyboard and a press bring up. */
export function Explained({ by, children }: ExplainedProps) {
  if (by === undefined) return children;
  return (
    <LazyTooltip className={styles.term} tooltip={by} isShownByPress>
      {children}
    </LazyTooltip>
  );
}

function LazyTooltip(props: ComponentProps<typeof ShownTooltip>) {
  const { tooltip, isShownByPress: _, ...button } = props;
  return (
    <Suspense fallback={<button type="button" aria-description={tooltip} {...button} />}>
      <ShownTooltip {...props} />
    </Suspense>
  );
}
