import { useTheme, type ThemeChoice } from '../theme/use-theme';
import styles from './controls.module.css';
import { TooltipButton } from './tooltip';

const NEXT: Record<ThemeChoice, ThemeChoice> = { system: 'light', light: 'dark', dark: 'system' };
const ICON: Record<ThemeChoice, string> = { system: '◐', light: '☀', dark: '☾' };

/** A button that goes through the system's theme, light and dark. */
export function ThemeSwitch() {
  const { choice, choose } = useTheme();
  return (
    <TooltipButton
      className={styles.iconButton}
      onClick={() => {
        choose(NEXT[choice]);
      }}
      aria-label={`Theme: ${choice}. Switch to ${NEXT[choice]}`}
      tooltip={`Theme: ${choice}`}
    >
      {ICON[choice]}
    </TooltipButton>
  );
}
