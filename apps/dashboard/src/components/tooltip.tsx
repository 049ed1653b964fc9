import { Suspense, useState, type ComponentProps, type ReactNode, type SyntheticEvent } from 'react';
import { lazyPart } from './lazy-part';
import styles from './tooltip.module.css';

// Loaded once the pointer or the focus comes to a button that has one; where that fails, there is none.
const ShownTooltip = lazyPart(
  async () => (await import('./shown-tooltip')).ShownTooltip,
  () => null,
);

interface TooltipButtonProps extends Omit<ComponentProps<'button'>, 'onFocus' | 'onPointerEnter'> {
  /** Says more than the button does; screen readers read it as its description. */
  readonly tooltip: string;
}

/** A button with a tooltip, also for the keyboard, to which the browser shows no `title`. */
export function TooltipButton(props: TooltipButtonProps) {
  return <ButtonWithTooltip {...props} isShownByPress={false} />;
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
    <ButtonWithTooltip className={styles.term} tooltip={by} isShownByPress>
      {children}
    </ButtonWithTooltip>
  );
}

interface ButtonWithTooltipProps extends TooltipButtonProps {
  readonly isShownByPress: boolean;
}

/** The button stays the same element while its tooltip loads, so that neither a press nor the focus is lost. */
function ButtonWithTooltip({ tooltip, isShownByPress, ...button }: ButtonWithTooltipProps) {
  const [anchor, setAnchor] = useState<HTMLElement | null>(null);
  const [wasPressed, setPressed] = useState(false);
  const approach = ({ currentTarget }: SyntheticEvent<HTMLElement>) => {
    setAnchor(currentTarget);
  };
  return (
    <>
      <button
        type="button"
        aria-description={tooltip}
        {...button}
        onPointerEnter={approach}
        onFocus={approach}
        onClick={(event) => {
          approach(event);
          setPressed(isShownByPress);
          button.onClick?.(event);
        }}
      />
      {anchor !== null && (
        <Suspense fallback={null}>
          <ShownTooltip
            anchor={anchor}
            tooltip={tooltip}
            isShownByPress={isShownByPress}
            wasPressed={wasPressed}
          />
        </Suspense>
      )}
    </>
  );
}
