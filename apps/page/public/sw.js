/*
 * Shows notices, and says so where the server cannot be reached. Nothing of the page is kept: it is drawn from what
 * the server says now. What a notice holds is written by `src/reporting/webhooks/push.ts`.
 */

const HOME = "/app/plan";

self.addEventListener("install", () => self.skipWaiting());

self.addEventListener("push", (event) => {
  event.waitUntil(show(readNotice(event.data)));
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data));
});

self.addEventListener("fetch", (event) => {
  if (event.request.mode === "navigate") event.respondWith(fetch(event.request).catch(describeOffline));
});

/** Browsers end a subscription that shows nothing: something is shown in any case. */
function readNotice(data) {
  try {
    return data.json();
  } catch {
    return { title: "Posthorn", body: "Something needs you." };
  }
}

/** The same id on each try, so that a notice that came twice stands there once. */
function show({ id, title, body, url }) {
  const page = typeof url === "string" && url.startsWith("/app/") ? url : HOME;
  return self.registration.showNotification(title, {
    body,
    tag: id,
    data: page,
    icon: "/app/icon-192.png",
    badge: "/app/badge-96.png",
  });
}

/** Another place of the page gets a window of its own: in the one that is open may be what is not saved yet. */
async function open(page) {
  const { href } = new URL(page, self.location.origin);
  const windows = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const there = windows.find(({ url }) => url === href);
  return there === undefined ? self.clients.openWindow(href) : there.focus();
}

function describeOffline() {
  return new Response(OFFLINE, {
    status: 503,
    headers: {
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy":
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
    },
  });
}

const OFFLINE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Posthorn cannot be reached</title>
<style>
:root{color-scheme:light dark}
body{margin:0;min-height:100vh;display:grid;place-items:center;background:light-dark(#f6f7f9,#14171d);color:light-dark(#1b1f27,#e8ebf1);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
main{max-width:26rem;margin:1rem;padding:2rem;background:light-dark(#fff,#1b2029);border-radius:16px;border:1px solid light-dark(#d9dde4,#38414f)}
h1{margin:0 0 8px;font-size:24px;line-height:32px;font-weight:650}
p{margin:0 0 24px;color:light-dark(#59616f,#a3acba)}
a{display:inline-block;padding:8px 16px;border-radius:10px;font-weight:600;text-decoration:none;background:light-dark(#2348c9,#93acff);color:light-dark(#fff,#0d1533)}
a:focus-visible{outline:3px solid light-dark(#2348c9,#93acff);outline-offset:2px}
</style>
</head>
<body>
<main>
<h1>Posthorn cannot be reached</h1>
<p>This device is offline, or the server does not answer. What is planned goes out without this page, as long as the server runs.</p>
<a href="">Try again</a>
</main>
</body>
</html>`;
