import { createSocket } from "node:dgram";
import { Resolver } from "node:dns/promises";
import { decode, encode, RECURSION_AVAILABLE, type Answer } from "dns-packet";
import type { Lookup } from "../../src/media/outbound/connector.ts";

/** `A`, `AAAA` and `CNAME` records as a list, or what the name answers to the n-th question. */
export type Records = readonly string[] | ((asked: number) => readonly string[]);

export interface DnsServer extends AsyncDisposable {
  /** Answers by name, without a dot at its end; changes count at once. */
  readonly zone: Map<string, Records>;
  /** Every address of a name, asked for over the wire. */
  readonly lookup: Lookup;
  /** Questions for a name's IPv4 addresses. */
  timesAsked(name: string): number;
}

/**
 * A name server on loopback, over UDP, with its own zone. Records are written short: an address is an A or
 * AAAA record, any other text the name that it is an alias of. As a resolver does, it answers a question with
 * the whole chain.
 */
export async function startDnsServer(zone: Readonly<Record<string, Records>>): Promise<DnsServer> {
  const records = new Map(Object.entries(zone));
  const asked = new Map<string, number>();
  const socket = createSocket("udp4");
  socket.on("message", (message, from) => {
    const { id, questions = [] } = decode(message);
    const [question] = questions;
    if (question === undefined) return;
    const key = `${question.type} ${question.name.toLowerCase()}`;
    asked.set(key, (asked.get(key) ?? 0) + 1);
    const answers = answersFor(records, question, asked.get(key) ?? 1);
    // Response code 3: there is no such name.
    const flags = RECURSION_AVAILABLE | (records.has(question.name.toLowerCase()) ? 0 : 3);
    const answer = encode({
      type: "response",
      flags,
      questions,
      answers,
      ...(id === undefined ? {} : { id }),
    });
    socket.send(answer, from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  const resolver = new Resolver();
  resolver.setServers([`127.0.0.1:${socket.address().port}`]);
  return {
    zone: records,
    lookup: (hostname) => lookUp(resolver, hostname),
    timesAsked: (name) => asked.get(`A ${name}`) ?? 0,
    async [Symbol.asyncDispose]() {
      resolver.cancel();
      await new Promise<void>((resolve) => socket.close(resolve));
    },
  };
}

function answersFor(
  zone: ReadonlyMap<string, Records>,
  { name, type }: { name: string; type: string },
  times: number,
): Answer[] {
  const listed = zone.get(name.toLowerCase()) ?? [];
  const texts = typeof listed === "function" ? listed(times) : listed;
  return texts.flatMap((data): Answer[] => {
    const isV6 = data.includes(":");
    const isV4 = /^[\d.]+$/.test(data);
    if (isV4 || isV6)
      return type === (isV6 ? "AAAA" : "A") ? [{ type: isV6 ? "AAAA" : "A", name, data, ttl: 0 }] : [];
    return [{ type: "CNAME", name, data, ttl: 0 }, ...answersFor(zone, { name: data, type }, times)];
  });
}

async function lookUp(resolver: Resolver, hostname: string): ReturnType<Lookup> {
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const found = [
    ...(v4.status === "fulfilled" ? v4.value.map((address) => ({ address, family: 4 })) : []),
    ...(v6.status === "fulfilled" ? v6.value.map((address) => ({ address, family: 6 })) : []),
  ];
  if (found.length === 0)
    throw Object.assign(new Error(`queryA ENOTFOUND ${hostname}`), { code: "ENOTFOUND" });
  return found;
}
