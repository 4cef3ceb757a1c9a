import { Download } from "lucide-preact";
import { may, session, timezone } from "../../data/session.ts";
import { status } from "../../data/shared-data.ts";
import { SignOut } from "../../frame.tsx";
import { Bones } from "../../../ui/states.tsx";
import { latenessInWords } from "../../data/lateness.ts";
import { momentInWords } from "./moments.ts";
import { Section } from "./section.tsx";
import { Sessions } from "./sessions.tsx";

export function TimeZone() {
  return (
    <Section id="time-zone" title="Time zone">
      <dl class="facts">
        <dt>Times are in</dt>
        <dd>
          <b>{timezone.value}</b>
          <br />
          <span class="muted note">
            It comes from the server, whatever zone this browser is in. To change it, set{" "}
            <code>POSTHORN_TIMEZONE</code> where Posthorn runs, for example to <code>Europe/Berlin</code>, and
            start it again. Left out, it is the zone of the machine.
          </span>
        </dd>
      </dl>
    </Section>
  );
}

export function Data() {
  const now = status.value;
  const canBackUp = may("admin") && session.value?.hasBackup === true;
  return (
    <Section id="data" title="Data">
      {now === null ? (
        <Bones rows={2} label="The state of publishing is loading" />
      ) : (
        <dl class="facts">
          <dt>Publishing</dt>
          <dd>
            <b>{now.publisher.running ? "Works" : "Nothing goes out: no publisher runs"}</b>
            <br />
            <span class="muted note">
              {now.publisher.running
                ? `${now.publisher.workers === 1 ? "One process publishes" : `${now.publisher.workers} processes publish`}${now.publisher.heartbeatAt === null ? "." : `, last seen ${momentInWords(now.publisher.heartbeatAt)}.`}`
                : "Run posthorn serve, or posthorn service install to have it run always."}
            </span>
          </dd>
          <dt>Punctuality</dt>
          <dd>{latenessInWords(now.lateness)}</dd>
          <dt>Version</dt>
          <dd>Posthorn {session.value?.version}</dd>
        </dl>
      )}
      {canBackUp && (
        <div class="part">
          <div>
            <h3>Backup</h3>
            <p class="muted note">
              One file with the database, the stored pictures and videos, and <code>posthorn.env</code>.
              Tokens and passwords in it are encrypted. <code>secret.key</code> of the data folder opens them
              and is not in it: keep a copy of that in another place.
            </p>
          </div>
          <a class="button" href="/app/api/backup" download>
            <Download aria-hidden="true" />
            Download
          </a>
        </div>
      )}
    </Section>
  );
}

export function ThisPage() {
  return (
    <Section id="this-page" title="This page">
      <Sessions />
      <div class="part">
        <div>
          <h3>As an app</h3>
          <p class="muted note">
            {globalThis.isSecureContext
              ? 'Choose "Add to home screen" or "Install" in the menu of the browser. Posthorn then opens like an app of its own.'
              : "Over https a browser can put this page on the home screen, like an app of its own. This address is plain http."}
          </p>
        </div>
      </div>
      <div class="part">
        <div>
          <h3>Sign out</h3>
          <p class="muted note">This browser forgets you. Posts go out all the same.</p>
        </div>
        <SignOut />
      </div>
    </Section>
  );
}
