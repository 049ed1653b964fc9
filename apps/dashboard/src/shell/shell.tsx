import { Outlet, useLocation, useNavigation } from 'react-router';
import { lazy, Suspense, useCallback, useState } from 'react';
import { Link, NavLink } from '../components/link';
import { AsOfBar } from './as-of-bar';
import { useShowMoment, useShownMoment } from '../as-of/shown-moment';
import { useHealth, useLogin, useSession } from '../api/queries';
import type { Health, SessionStatus } from '../api-types/schema';
import { useKeyboard } from '../keyboard/use-keyboard';
import { forgetEditsIfAllowed } from '../notebooks/kept-edits';
import controls from '../components/controls.module.css';
import { ClockIcon, SearchIcon } from '../components/icons';
import { LoginForm } from './login-form';
import { Loading } from '../components/notice';
import { ThemeSwitch } from '../components/theme-switch';
import styles from './shell.module.css';
import { TooltipButton } from '../components/tooltip';

// Few visits open them.
const CommandPalette = lazy(async () => ({
  default: (await import('../palette/command-palette')).CommandPalette,
}));
const KeyHelp = lazy(async () => ({ default: (await import('../keyboard/key-help')).KeyHelp }));

/** Frame of every page: the bar with navigation, server state and theme. A browser without the key that is needed sees the login form. */
export function Shell() {
  const isLoading = useNavigation().state === 'loading';
  const { data: session, isPending } = useSession();
  const isLocked = session?.needsKey === true && session.keyId === null;
  const moment = useShownMoment();
  const isSql = useLocation().pathname === '/sql';
  const overlay = useOverlay(!isPending && !isLocked);
  return (
    <>
      <a className={styles.skip} href="#content">
        Skip to content
      </a>
      <Top session={session} isLocked={isLocked} onCommands={overlay.showPalette} />
      <main className={styles.content} id="content" tabIndex={-1} aria-busy={isLoading}>
        {/* A page keeps nothing of another moment; that of SQL keeps what is written. */}
        {isPending ? (
          <Loading label="Loading the page" />
        ) : isLocked ? (
          <LoginForm />
        ) : (
          <Outlet key={isSql ? null : moment} />
        )}
      </main>
      <Suspense fallback={null}>
        {overlay.shown === 'help' && <KeyHelp onClose={overlay.close} />}
        {overlay.shown === 'palette' && <CommandPalette onClose={overlay.close} onHelp={overlay.showHelp} />}
      </Suspense>
    </>
  );
}

/** The dialog over the page that a key or a button opened. */
function useOverlay(isEnabled: boolean) {
  const [shown, setShown] = useState<'help' | 'palette' | null>(null);
  const close = useCallback(() => {
    setShown(null);
  }, []);
  const showHelp = useCallback(() => {
    setShown('help');
  }, []);
  const showPalette = useCallback(() => {
    setShown('palette');
  }, []);
  const togglePalette = useCallback(() => {
    setShown((before) => (before === 'palette' ? null : 'palette'));
  }, []);
  useKeyboard({ isEnabled, overlay: shown, onHelp: showHelp, onPalette: togglePalette });
  return { shown, close, showHelp, showPalette };
}

interface TopProps {
  readonly session: SessionStatus | undefined;
  readonly isLocked: boolean;
  readonly onCommands: () => void;
}

function Top({ session, isLocked, onCommands }: TopProps) {
  const moment = useShownMoment();
  const show = useShowMoment();
  const [isChoosing, setChoosing] = useState(false);
  const hasAsOfBar = !isLocked && (isChoosing || moment !== null);
  return (
    <div className={styles.top}>
      <header className={styles.bar}>
        <Link className={styles.brand} to="/">
          <img src="/icon.svg" alt="" width="22" height="22" />
          Retrace
        </Link>
        <MainNavigation />
        <span className={styles.spacer} />
        {!isLocked && (
          <>
            <ServerState />
            <CommandsButton onClick={onCommands} />
            <AsOfButton
              isExpanded={hasAsOfBar}
              isDisabled={moment !== null}
              onClick={() => {
                setChoosing(!isChoosing);
              }}
            />
          </>
        )}
        {session?.keyId && <LogOut name={session.keyName ?? ''} />}
        <ThemeSwitch />
      </header>
      {hasAsOfBar && (
        <AsOfBar
          moment={moment}
          onShow={show}
          onClose={() => {
            setChoosing(false);
          }}
        />
      )}
    </div>
  );
}

function MainNavigation() {
  return (
    <nav className={styles.nav} aria-label="Main">
      <NavLink to="/" end>
        Runs
      </NavLink>
      <NavLink to="/alarms">Alarms</NavLink>
      <NavLink to="/plays">Evaluations</NavLink>
      <NavLink to="/datasets">Data sets</NavLink>
      <NavLink to="/sql">SQL</NavLink>
      <a href="/api">API</a>
      <a href="/docs/">Docs</a>
    </nav>
  );
}

function CommandsButton({ onClick }: { readonly onClick: () => void }) {
  return (
    <TooltipButton
      className={controls.iconButton}
      aria-label="Commands"
      tooltip="Pages, runs, ids and commands (Ctrl+K)"
      onClick={onClick}
    >
      <SearchIcon />
    </TooltipButton>
  );
}

interface AsOfButtonProps {
  readonly isExpanded: boolean;
  /** While an earlier moment is shown, which its bar leaves. */
  readonly isDisabled: boolean;
  readonly onClick: () => void;
}

function AsOfButton({ isExpanded, isDisabled, onClick }: AsOfButtonProps) {
  return (
    <TooltipButton
      className={controls.iconButton}
      aria-label="Show an earlier moment"
      aria-expanded={isExpanded}
      tooltip="Show an earlier moment"
      disabled={isDisabled}
      onClick={onClick}
    >
      <ClockIcon />
    </TooltipButton>
  );
}

function LogOut({ name }: { readonly name: string }) {
  const login = useLogin();
  return (
    <TooltipButton
      className={controls.button}
      tooltip={`Logged in by the key "${name}"`}
      disabled={login.isPending}
      onClick={() => {
        if (forgetEditsIfAllowed()) login.mutate(null);
      }}
    >
      Log out
    </TooltipButton>
  );
}

function ServerState() {
  const { data, isError, isPending } = useHealth();
  if (isPending) return null;
  const { tone, text } = describeHealth(isError ? null : data);
  return (
    <span className={styles.state} data-tone={tone} role="status">
      <span className={styles.dot} />
      <span className={styles.stateText}>{text}</span>
    </span>
  );
}

function describeHealth(health: Health | null): {
  readonly tone: 'good' | 'warn' | 'bad';
  readonly text: string;
} {
  if (!health) return { tone: 'bad', text: 'Server unavailable' };
  if (health.status === 'ok') return { tone: 'good', text: 'Ready' };
  if (health.status === 'starting') return { tone: 'warn', text: 'Store starting' };
  return { tone: 'bad', text: health.store.state === 'ready' ? 'Sink failing' : 'Store unavailable' };
}
