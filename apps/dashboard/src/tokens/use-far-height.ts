import { type RefObject, useEffect, useState } from 'react';

/** Two windows and more: what is scrolled to is there before it is seen. */
const NEAR_PX = 2_000;

/**
 * Height in pixels that an element far from the window had, so that its content can be left out; null while it is near, or has the focus.
 *
 * @param estimatedPx height before it was near for the first time
 */
export function useFarHeight(ref: RefObject<HTMLElement | null>, estimatedPx: number): number | null {
  const [farPx, setFarPx] = useState<number | null>(estimatedPx);
  useEffect(() => {
    const element = ref.current;
    if (element === null) return undefined;
    const observer = new IntersectionObserver(
      (entries) => {
        const isNear = entries.at(-1)?.isIntersecting === true || element.contains(document.activeElement);
        setFarPx(isNear ? null : element.offsetHeight);
      },
      { rootMargin: `${NEAR_PX}px 0px` },
    );
    observer.observe(element);
    return () => {
      observer.disconnect();
    };
  }, [ref]);
  return farPx;
}
