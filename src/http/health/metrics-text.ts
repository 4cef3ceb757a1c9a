import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import { failures } from "../../domain/assertions.ts";
import type { LatenessSum, Measurements } from "../../reporting/health/metrics.ts";

/** The page that Prometheus reads, and what is measured in this process between two readings. */
export interface Meters {
  observe(
    labels: { readonly method: string; readonly route: string; readonly status: string },
    seconds: number,
  ): void;
  render(measured: Measurements): Promise<{ readonly contentType: string; readonly text: string }>;
}

export interface About {
  readonly version: string;
  /** What this one process does, and whether that works. */
  readonly process: { readonly half: string; readonly isReady: () => boolean };
}

const REQUEST_BUCKETS_S = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Methods that some client invents must not become labels. */
const METHODS: readonly string[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

export function createMeters({ version, process: { half, isReady } }: About): Meters {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: "posthorn_http_request_duration_seconds",
    help: "How long HTTP requests took, streams until their end.",
    labelNames: ["method", "route", "status"],
    buckets: REQUEST_BUCKETS_S,
    registers: [registry],
  });
  const ready = new Gauge({
    name: "posthorn_process_ready",
    help: "Whether what this process runs works: all, or one half of it.",
    labelNames: ["runs"],
    registers: [registry],
  });
  const store = createStoreMeters(registry, version);
  return {
    observe: ({ method, ...labels }, seconds) =>
      requests.observe({ ...labels, method: METHODS.includes(method) ? method : "other" }, seconds),
    render: async (measured) => {
      ready.set({ runs: half }, isReady() ? 1 : 0);
      for (const fill of store) fill(measured);
      return {
        contentType: registry.contentType,
        text: `${await registry.metrics()}${latenessText(measured.lateness)}`,
      };
    },
  };
}

type Fill = (measured: Measurements) => void;

/** What the processes on a data folder have in common: it is read from the database. */
function createStoreMeters(registry: Registry, version: string): readonly Fill[] {
  const gauge = (name: string, help: string, labelNames: string[] = []): Gauge =>
    new Gauge({ name: `posthorn_${name}`, help, labelNames, registers: [registry] });
  gauge("info", "The version that runs.", ["version"]).set({ version }, 1);
  const posts = gauge("posts", "Posts by status, at most a minute old.", ["status"]);
  const overdue = gauge("posts_overdue", "Posts that no process has taken up a minute after their time.");
  const publishers = gauge("publishers", "Processes that publish.");
  const pending = gauge("events_pending", "Events that wait for their delivery to a webhook.");
  const oldest = gauge("events_oldest_due_seconds", "For how long the first of them has been due.");
  const webhooks = gauge("webhooks", "Webhooks by status.", ["status"]);
  const attempts = new Counter({
    name: "posthorn_publish_attempts_total",
    help: "Attempts to bring a post onto its platform, by how they ended.",
    labelNames: ["provider", "outcome"],
    registers: [registry],
  });
  const failed = new Counter({
    name: "posthorn_assertion_failures_total",
    help: "Checks of its own that failed. Each is a mistake in Posthorn.",
    labelNames: ["assertion"],
    registers: [registry],
  });
  return [
    () => {
      failed.reset();
      for (const [assertion, count] of Object.entries(failures)) failed.inc({ assertion }, count);
    },
    (measured) => Object.entries(measured.posts).forEach(([status, count]) => posts.set({ status }, count)),
    (measured) => overdue.set(measured.overdue),
    (measured) => publishers.set(measured.publishers),
    (measured) => pending.set(measured.outbox.pending),
    (measured) => oldest.set(measured.outbox.oldestMs / 1_000),
    (measured) =>
      Object.entries(measured.webhooks).forEach(([status, count]) => webhooks.set({ status }, count)),
    (measured) => {
      attempts.reset();
      for (const { provider, outcome, count } of measured.attempts)
        attempts.inc({ provider, outcome }, count);
    },
  ];
}

/** By hand: the library's histograms take single observations, and these are sums already. */
function latenessText(sums: readonly LatenessSum[]): string {
  const name = "posthorn_publish_lateness_seconds";
  const lines = sums.flatMap(({ provider, upTo, count, sumMs }) => [
    ...upTo.map(
      ({ boundMs, posts }) => `${name}_bucket{provider="${provider}",le="${boundMs / 1_000}"} ${posts}`,
    ),
    `${name}_bucket{provider="${provider}",le="+Inf"} ${count}`,
    `${name}_sum{provider="${provider}"} ${sumMs / 1_000}`,
    `${name}_count{provider="${provider}"} ${count}`,
  ]);
  return [
    `# HELP ${name} How long after their time posts went live.`,
    `# TYPE ${name} histogram`,
    ...lines,
    "",
  ].join("\n");
}
