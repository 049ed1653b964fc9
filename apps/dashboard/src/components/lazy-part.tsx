import { type ComponentType, lazy } from 'react';
import controls from './controls.module.css';
import page from './page.module.css';

/** A part of a page whose code is loaded when the part is first shown. Where that fails, as after an upgrade of the server, the part says so and the page stays. */
export function lazyPart<Props>(load: () => Promise<ComponentType<Props>>) {
  return lazy<ComponentType<Props>>(async () => {
    try {
      return { default: await load() };
    } catch {
      return { default: NotLoaded };
    }
  });
}

function NotLoaded() {
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
