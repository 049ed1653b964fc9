import { useState } from 'react';
import { useLogin } from '../api/queries';
import controls from '../components/controls.module.css';
import styles from './login-form.module.css';
import { useTitle } from '../components/use-title';

/** Asks for an API key. The server answers with a cookie that no script can read; the page keeps no key. */
export function LoginForm() {
  useTitle('Log in');
  const [key, setKey] = useState('');
  const login = useLogin();
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        login.mutate(key);
      }}
    >
      <h1>Log in</h1>
      <p>
        This server needs an API key. <code>retrace keys create</code> makes one; the pages need the scope{' '}
        <code>read</code>, the SQL page <code>sql</code>.
      </p>
      <label htmlFor="api-key">API key</label>
      <input
        id="api-key"
        type="password"
        autoComplete="current-password"
        spellCheck={false}
        required
        value={key}
        aria-invalid={login.isError}
        aria-describedby={login.isError ? 'api-key-error' : undefined}
        onChange={(event) => {
          setKey(event.target.value);
        }}
      />
      {login.isError && (
        <p id="api-key-error" className={styles.error} role="alert">
          {login.error.message}
        </p>
      )}
      <button type="submit" className={controls.primary} disabled={login.isPending}>
        Log in
      </button>
    </form>
  );
}
