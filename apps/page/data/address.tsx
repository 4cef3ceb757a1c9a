import { type ComponentChildren, createContext } from "preact";
import { useLocation } from "preact-iso";
import { useContext, useLayoutEffect, useRef } from "preact/hooks";

/*
 * The only place that reads and changes the window's address. A room may still get an answer, or draw itself
 * again, while the person goes to another room: its writes are dropped then.
 */

const ROOM_NAMES = ["plan", "write", "review", "trouble", "results", "channels", "settings"] as const;
export type RoomName = (typeof ROOM_NAMES)[number];

/** The room at a path. Null: there is none. */
function roomAt(path: string): RoomName | null {
  if (path === "/app") return "plan";
  return ROOM_NAMES.find((name) => path === `/app/${name}`) ?? null;
}

/** For what stands beside the rooms. */
export function isRoomShown(name: RoomName): boolean {
  return roomAt(location.pathname) === name;
}

/** The room that is shown. */
export function useRoomName(): RoomName | null {
  return roomAt(useLocation().path);
}

export function useIsConsent(): boolean {
  return useLocation().path === "/app/consent";
}

export interface Address {
  /** Path and query of the window. */
  readonly url: string;
  readonly query: Readonly<Record<string, string>>;
  /** Whether the room is still shown at the address that it was drawn for. */
  isHere(): boolean;
  /** Replaces the address without a new history entry; does nothing once the room is left. */
  write(url: string): void;
  /** Navigates; does nothing once the room is left. */
  go(url: string): void;
  /** Navigates from any room, on the person's request. */
  visit(url: string): void;
}

const RoomAddress = createContext<Address | null>(null);

/** Gives a room the address for as long as it is shown. */
export function OwnAddress({ children }: { readonly children: ComponentChildren }) {
  const { url, query, route } = useLocation();
  /** The address while only this room changes it. */
  const own = useRef<string | null>(url);
  own.current = url;
  useLayoutEffect(
    () => () => {
      own.current = null;
    },
    [],
  );
  const isHere = (): boolean => own.current !== null && isNow(own.current);
  const change = (to: string, isReplaced: boolean): void => {
    if (!isHere() || isNow(to)) return;
    own.current = to;
    route(to, isReplaced);
  };
  const address: Address = {
    url,
    query,
    isHere,
    write: (to) => change(to, true),
    go: (to) => change(to, false),
    visit: (to) => route(to),
  };
  return <RoomAddress.Provider value={address}>{children}</RoomAddress.Provider>;
}

/** The address of the room around this component. */
export function useAddress(): Address {
  const address = useContext(RoomAddress);
  if (address === null) throw new Error("Only a room has an address.");
  return address;
}

function isNow(url: string): boolean {
  const { pathname, search } = new URL(url, location.origin);
  return pathname === location.pathname && search === location.search;
}

/** Replaces the address before there are rooms. */
export function replaceAddress(path: string): void {
  history.replaceState(null, "", path);
}

interface AddressGuard {
  /** Whether leaving would lose something. */
  isHeld(): boolean;
  /** Asks, and goes on with a yes. */
  hold(go: () => void): void;
}

/** Holds links, the browser's back and the end of the window while something would be lost. */
export function useAddressGuard(guard: AddressGuard): void {
  const { url } = useLocation();
  const latest = useRef(url);
  latest.current = url;
  useLayoutEffect(() => guardAddress(guard, () => latest.current), []);
}

/** `shown`: the address as the rooms have it. Answers what ends the guard. */
function guardAddress({ isHeld, hold }: AddressGuard, shown: () => string): () => void {
  /** The person agreed, and the navigation is under way. */
  let isAgreed = false;
  const click = (event: MouseEvent): void => {
    const link = isAgreed || !isHeld() ? null : linkOf(event);
    if (link === null) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    hold(() => {
      isAgreed = true;
      link.click();
      isAgreed = false;
    });
  };
  const pop = (event: PopStateEvent): void => {
    if (isAgreed || !isHeld()) return void (isAgreed = false);
    // The rooms learn nothing of it, and the address is again as it was.
    event.stopImmediatePropagation();
    history.pushState(null, "", shown());
    hold(() => {
      isAgreed = true;
      history.back();
    });
  };
  const close = (event: BeforeUnloadEvent): void => {
    if (isHeld()) event.preventDefault();
  };
  // Before the router, which listens to the same.
  window.addEventListener("click", click, true);
  window.addEventListener("popstate", pop, true);
  window.addEventListener("beforeunload", close);
  return () => {
    window.removeEventListener("click", click, true);
    window.removeEventListener("popstate", pop, true);
    window.removeEventListener("beforeunload", close);
  };
}

/** The link of a click that would leave the room. Null: it is none, or opens beside the page. */
function linkOf(event: MouseEvent): HTMLAnchorElement | null {
  const { target, button, ctrlKey, metaKey, altKey, shiftKey } = event;
  const isBeside = button !== 0 || ctrlKey || metaKey || altKey || shiftKey;
  const link = target instanceof Element ? target.closest("a") : null;
  if (isBeside || link === null || link.target !== "" || link.hasAttribute("download")) return null;
  return link.origin === location.origin && link.pathname.startsWith("/app") && link.hash === "" ? link : null;
}
