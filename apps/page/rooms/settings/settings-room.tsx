import { useEffect } from "preact/hooks";
import { useLoad } from "../../data/load.ts";
import { may, session } from "../../data/session.ts";
import { Room } from "../../../ui/room.tsx";
import { Data, ThisPage, TimeZone } from "./about.tsx";
import { Assistants } from "./assistants.tsx";
import { OwnGrants } from "./grants.tsx";
import { Keys } from "./keys.tsx";
import { listGrants, listKeys } from "./keys-api.ts";
import { Notices } from "./notices.tsx";

const SECTIONS = [
  { id: "assistants", title: "Assistants", needs: "keys" },
  { id: "keys", title: "Keys", needs: "keys" },
  { id: "notices", title: "Notices", needs: "admin" },
  { id: "time-zone", title: "Time zone", needs: null },
  { id: "data", title: "Data", needs: null },
  { id: "this-page", title: "This page", needs: null },
] as const;

export function SettingsRoom() {
  // A key that reaches only some channels makes no keys: one of them could reach further.
  const isAdmin = may("admin");
  const managesKeys = isAdmin && session.value?.accountIds === null;
  const shown = SECTIONS.filter(({ needs }) => (needs === "keys" ? managesKeys : needs === null || isAdmin));
  useEffect(() => {
    const id = location.hash.slice(1);
    if (id === "") return;
    // After the router has put the new room at its top.
    const timer = setTimeout(() => document.getElementById(id)?.scrollIntoView());
    return () => clearTimeout(timer);
  }, []);
  return (
    <Room title="Settings">
      <div class="settings">
        <nav aria-label="Sections of the settings">
          {shown.map(({ id, title }) => (
            <a key={id} href={`#${id}`}>
              {title}
            </a>
          ))}
        </nav>
        <div class="sections">
          {!managesKeys && (
            <p class="hint">
              {isAdmin
                ? `Your key "${session.value?.name}" reaches only some channels, so assistants and keys are not here. Sign in with one that reaches all.`
                : `Your key "${session.value?.name}" may not manage assistants, keys and notices. Sign in with one that may do everything to see them here.`}
            </p>
          )}
          {managesKeys ? <KeySections /> : <OwnGrants />}
          {isAdmin && <Notices />}
          <TimeZone />
          <Data />
          <ThisPage />
        </div>
      </div>
    </Room>
  );
}

/** Both know of a key that was just made, and of one that a program asked for and that was ended. */
function KeySections() {
  const keys = useLoad(listKeys, "keys");
  const grants = useLoad(listGrants, "grants");
  const reload = (): void => {
    keys.reload();
    grants.reload();
  };
  return (
    <>
      <Assistants grants={{ ...grants, reload }} onKeyMade={keys.reload} />
      <Keys keys={{ ...keys, reload }} />
    </>
  );
}
