import { type ReactNode, useEffect, useRef, useState } from 'react';

/** Most of a window: what is scrolled to is there before it is seen. */
const NEAR_PX = 600;

/** Content that is made, and loads what it needs, once its place comes near the window or the page is printed; from then on it stays. */
export function OnceNear({ children }: { readonly children: ReactNode }) {
  const place = useRef<HTMLDivElement>(null);
  const [wasNear, setNear] = useState(false);
  useEffect(() => {
    if (wasNear || place.current === null) return undefined;
    const show = () => {
      setNear(true);
    };
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) show();
      },
      { rootMargin: `${NEAR_PX}px 0px` },
    );
    observer.observe(place.current);
    window.addEventListener('beforeprint', show);
    return () => {
      observer.disconnect();
      window.removeEventListener('beforeprint', show);
    };
  }, [wasNear]);
  return wasNear ? children : <div ref={place} />;
}
