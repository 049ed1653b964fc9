import { useSearchParams } from 'react-router';
import { atOnce } from '../as-of/shown-moment';

/** The query of the address, and a function that changes fields of it; one that is empty is left out. The back button leaves the page, not each change. */
export function useAddressFields() {
  const [search, setSearch] = useSearchParams();
  const change = (changes: Readonly<Record<string, string>>): void => {
    setSearch(
      (current) => {
        for (const [name, value] of Object.entries(changes)) {
          if (value === '') current.delete(name);
          else current.set(name, value);
        }
        return current;
      },
      atOnce({ replace: true }),
    );
  };
  return [search, change] as const;
}
