import type { BrowserContext, Page } from "playwright-core";
import type { AppContext } from "../../../src/context.ts";
import type { Permission } from "../../../src/domain/permissions.ts";
import { PERMISSIONS } from "../../../src/domain/permissions.ts";
import { newContext } from "../../support/browser.ts";
import { startService, type Service } from "../../support/service.ts";

interface OpenOptions {
  /** Of the page, as `/app/plan`. */
  readonly path: string;
  /** Of the window, in pixels. Default: 1280. */
  readonly width?: number;
  readonly height?: number;
  readonly theme?: "light" | "dark";
  /** What the one who signs in may do. Default: everything. */
  readonly permissions?: readonly Permission[];
  readonly accountIds?: readonly string[];
}

export interface PageHost extends Service {
  readonly address: string;
  /** A new window, signed in, whose clock stands where the server's is. It is closed with the host. */
  open(options: OpenOptions): Promise<Page>;
}

/** The whole service with its page, on a data folder that goes with the test. Nothing publishes. */
export async function startPageHost(
  timezone = "Europe/Berlin",
  overrides: Partial<AppContext> = {},
  options: Parameters<typeof startService>[0] = {},
): Promise<PageHost> {
  const service = await startService(options, overrides, timezone);
  const address = `http://127.0.0.1:${service.port}`;
  service.ctx.links.publicUrl = async () => address;
  const contexts: BrowserContext[] = [];
  const open: PageHost["open"] = async (options) => {
    const { path, width = 1_280, height = 800, theme = "light" } = options;
    const context = await newContext({
      viewport: { width, height },
      colorScheme: theme,
      reducedMotion: "reduce",
      timezoneId: "America/New_York",
      locale: "en-GB",
    });
    contexts.push(context);
    await signIn(service, context, options, address);
    const page = await context.newPage();
    // Timers go on: only what day it is comes from the test.
    await page.clock.setFixedTime(service.clock.now());
    await page.goto(`${address}${path}`);
    return page;
  };
  return {
    ...service,
    address,
    open,
    async [Symbol.asyncDispose]() {
      await Promise.all(contexts.map((context) => context.close()));
      await service[Symbol.asyncDispose]();
    },
  };
}

async function signIn(
  service: Service,
  context: BrowserContext,
  { permissions = PERMISSIONS, accountIds }: OpenOptions,
  address: string,
): Promise<void> {
  const key = await service.keyFor("default", {
    name: "Anna",
    permissions,
    ...(accountIds !== undefined && { accountIds }),
  });
  const answer = await context.request.post(`${address}/app/api/session`, {
    data: { key },
    headers: { "X-Posthorn-Page": "1", Origin: address },
  });
  if (answer.status() !== 201) throw new Error(`Signing in failed: ${await answer.text()}`);
}
