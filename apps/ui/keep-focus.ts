/**
 * What had the focus may go away, as a button that did its work. What it stood in then gets the focus, so that the
 * next Tab goes on from there. Answers what ends that.
 */
export function keepFocus(): () => void {
  /** What has the focus, and what it stands in, from the inside out. */
  let way: readonly Element[] = [];
  const remember = ({ target }: FocusEvent): void => {
    way = target instanceof Element ? wayOut(target) : [];
  };
  const mend = (): void => {
    const [last, ...around] = way;
    if (last === undefined || (last.isConnected && !last.matches(":disabled"))) return;
    const { activeElement } = document;
    if (activeElement !== null && activeElement !== document.body && activeElement !== last) return;
    const place = around.find((one) => one.isConnected);
    if (!(place instanceof HTMLElement) || place === document.body) return;
    if (!place.hasAttribute("tabindex")) place.tabIndex = -1;
    place.focus({ preventScroll: true });
  };
  const observer = new MutationObserver(mend);
  observer.observe(document.body, { childList: true, subtree: true, attributeFilter: ["disabled"] });
  document.addEventListener("focusin", remember);
  return () => {
    observer.disconnect();
    document.removeEventListener("focusin", remember);
  };
}

function wayOut(element: Element): readonly Element[] {
  const { parentElement } = element;
  return parentElement === null ? [element] : [element, ...wayOut(parentElement)];
}
