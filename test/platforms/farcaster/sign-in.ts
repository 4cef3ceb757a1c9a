import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { connectChannel } from "../../../src/channels/connecting/connections.ts";
import { createConnectRouter } from "../../../src/http/accounts/connect-pages.ts";
import farcaster from "../../../src/platforms/farcaster/index.ts";
import { callOf, createTestContext } from "../../support/context.ts";
import { createFakeFarcaster, SIGNER } from "./fake.ts";

export const CLIENT_ID = "00b75745-1111-4222-8333-444455556666";

/** Posthorn's connect page, and beside it a Neynar that tells its opener as the real one does. */
export async function openSignIn({ isSetUp = true }: { readonly isSetUp?: boolean } = {}) {
  const fake = createFakeFarcaster(() => 0);
  const neynar = await listen((request, response) => {
    const asked = new URL(request.url ?? "", "http://neynar.example").searchParams;
    const told = JSON.stringify({ is_authenticated: true, fid: "194", signer_uuid: SIGNER });
    const isKnown = asked.get("client_id") === CLIENT_ID;
    response.setHeader("content-type", "text/html");
    response.end(`<script>${isKnown ? `opener.postMessage(${told}, "*")` : ""}</script>`);
  });
  const ctx = await createTestContext({ platformList: [farcaster], outbound: fake.door });
  if (isSetUp)
    Object.assign(ctx.settings.platformSettings, {
      POSTHORN_FARCASTER_CLIENT_ID: CLIENT_ID,
      POSTHORN_FARCASTER_AUTH_URL: `${neynar.origin}/login`,
    });
  const posthorn = await listen(express().use(createConnectRouter(ctx)));
  const { url } = await connectChannel(callOf(ctx), { provider: "farcaster" });
  return {
    ctx,
    page: posthorn.origin + new URL(url ?? "").pathname,
    neynar: neynar.origin,
    async [Symbol.asyncDispose]() {
      await Promise.all([posthorn.close(), neynar.close()]);
      await ctx[Symbol.asyncDispose]();
    },
  };
}

async function listen(handle: Parameters<typeof createServer>[1]) {
  const server = createServer(handle);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
