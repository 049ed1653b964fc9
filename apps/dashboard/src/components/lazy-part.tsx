import { type ComponentType, lazy, type ReactNode } from 'react';
import controls from './controls.module.css';
import page from './page.module.css';

/** A part of a page whose code is loaded when the part is first shown. Where that fails, as after an upgrade of the server, the part says so, or shows `instead`, and the page stays. */
export function lazyPart<Props>(
  load: () => Promise<ComponentType<Props>>,
  instead: (props: Props) => ReactNode = NotLoaded,
) {
  return lazy<ComponentType<Props>>(async () => {
    try {
      return { default: await load() };
    } catch {
      return { default: instead };
    }
  });
}

/** Says that a part is missing, with a button that loads the page again. */
export function NotLoaded() {
  return (
    <span role="alert" className={page.subtle}>
      This could not be loaded; the server may have a newer version.{' '}
      <button
        type="button"
        className={controls.button}
        onClick={() => {
          window.location.reload();
        }}
      >
        Reload the page
      </button>
    </span>
  );
}
