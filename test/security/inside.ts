import type { Records } from "../support/dns-server.ts";

/** A block that was given back in 2006: it counts as public, and nobody answers there. */
export const PUBLIC_AND_SILENT = "3ffe:ffff::1";

const PUBLIC_V4 = "93.184.216.34";
const PUBLIC_V6 = "2606:2800:220:1:248:1893:25c8:1946";

/** Names that lead inside, each in another way. */
export const ZONE: Readonly<Record<string, Records>> = {
  "loopback.test": ["127.0.0.1"],
  "loopback-far.test": ["127.255.255.254"],
  "lan-10.test": ["10.1.2.3"],
  "lan-172.test": ["172.16.0.1"],
  "lan-192.test": ["192.168.1.1"],
  "metadata.test": ["169.254.169.254"],
  "carrier.test": ["100.64.0.1"],
  "this-host.test": ["0.0.0.0"],
  "protocol.test": ["192.0.0.8"],
  "benchmark.test": ["198.18.0.1"],
  "documentation.test": ["203.0.113.7"],
  "relay.test": ["192.88.99.1"],
  "multicast.test": ["224.0.0.251"],
  "reserved.test": ["240.0.0.1"],
  "broadcast.test": ["255.255.255.255"],
  "loopback6.test": ["::1"],
  "unspecified6.test": ["::"],
  "unique-local.test": ["fd00::1"],
  "link-local.test": ["fe80::1"],
  "site-local.test": ["fec0::1"],
  "multicast6.test": ["ff02::1"],
  "documentation6.test": ["2001:db8::1"],
  "discard.test": ["100::1"],
  "mapped.test": ["::ffff:127.0.0.1"],
  "mapped-lan.test": ["::ffff:192.168.1.1"],
  "translated.test": ["::ffff:0:127.0.0.1"],
  "compatible.test": ["::127.0.0.1"],
  "nat64.test": ["64:ff9b::127.0.0.1"],
  "nat64-metadata.test": ["64:ff9b::169.254.169.254"],
  "nat64-local.test": ["64:ff9b:1::127.0.0.1"],
  "six-to-four.test": ["2002:7f00:1::1"],
  "six-to-four-lan.test": ["2002:c0a8:101::1"],
  "teredo.test": ["2001:0:7f00:1::1"],
  "mixed.test": [PUBLIC_V4, "127.0.0.1"],
  "mixed-last.test": [PUBLIC_V4, PUBLIC_V4, PUBLIC_V4, "10.0.0.1"],
  "mixed-families.test": [PUBLIC_V4, "::1"],
  "mixed-6.test": [PUBLIC_V6, "fd00::1"],
  "alias.test": ["loopback.test"],
  "alias-of-alias.test": ["alias.test"],
  "long-chain.test": ["alias-of-alias.test"],
  "alias-mixed.test": ["mixed.test"],
  "xn--e1afmkfp.test": ["127.0.0.1"],
  "xn--mnchen-3ya.test": ["127.0.0.1"],
  "under_score.test": ["127.0.0.1"],
  "127.0.0.1.nip.test": ["127.0.0.1"],
};

/**
 * Ways to write an address of this machine or its network. `PORT` is where somebody listens who must hear
 * nothing.
 */
const LITERALS: readonly string[] = [
  "127.0.0.1",
  "127.1",
  "127.0.1",
  "0",
  "0.0.0.0",
  "2130706433",
  "0x7f000001",
  "0x7f.1",
  "0X7F.0.0.0x1",
  "0177.0.0.1",
  "017700000001",
  "0177.0.0.0x1",
  "127.000.000.001",
  "127.0.0.1.",
  "①②⑦.⓪.⓪.①",
  "１２７.０.０.１",
  "127。0。0。1",
  "%31%32%37%2e%30%2e%30%2e%31",
  "[::1]",
  "[0:0:0:0:0:0:0:1]",
  "[::]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[::ffff:0:127.0.0.1]",
  "[::127.0.0.1]",
  "[64:ff9b::127.0.0.1]",
  "[64:ff9b:1::127.0.0.1]",
  "[2002:7f00:1::]",
  "[2001:0:7f00:1::1]",
  "[fd00::1]",
  "[fe80::1]",
  "[fec0::1]",
  "10.0.0.1",
  "172.31.255.255",
  "192.168.0.1",
  "169.254.169.254",
  "[fd00:ec2::254]",
  "[fd20:ce::254]",
  "100.100.100.200",
  "168.63.129.16",
  "[::ffff:168.63.129.16]",
  "161.26.0.10",
  "166.8.0.1",
  "166.11.255.254",
  "192.0.0.192",
  "metadata.google.internal",
  "Metadata.Google.INTERNAL.",
  "255.255.255.255",
  "localhost",
  "LOCALHOST",
  "localhost.",
  "anything.localhost",
  "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ",
];

const NAMES: readonly string[] = [
  ...Object.keys(ZONE),
  "LoopBack.TEST",
  "loopback.test.",
  "примет.test",
  "münchen.test",
  "ⓛoopback.test",
];

const HIDDEN: readonly string[] = [
  "http://93.184.216.34@127.0.0.1:PORT/",
  "http://user:secret@loopback.test:PORT/",
  "http://127.0.0.1:PORT#@example.org/",
  "http://127.0.0.1:PORT\\@example.org/",
  "http://127.0.0.1:PORT?@example.org/",
  "http:127.0.0.1:PORT/",
  "http:\\\\127.0.0.1:PORT\\",
  "http:///127.0.0.1:PORT/",
  " http://127.0.0.1:PORT/",
  "ht\ntp://127.0.0.1:PORT/",
  "https://127.0.0.1:PORT/",
  "https://loopback.test:PORT/",
  "file:///etc/passwd",
  "file://loopback.test/etc/passwd",
  "data:text/plain,secret",
  "ftp://127.0.0.1:PORT/",
  "gopher://127.0.0.1:PORT/_GET%20/",
  "dict://127.0.0.1:PORT/",
  "ws://127.0.0.1:PORT/",
  "blob:http://127.0.0.1:PORT/1",
  "//127.0.0.1:PORT/",
  "jar:http://127.0.0.1:PORT!/",
];

/** Everything that must not get anywhere. */
export const INSIDE: readonly string[] = [
  ...[...LITERALS, ...NAMES].map((host) => `http://${host}:PORT/`),
  ...HIDDEN,
];

/** Ports where no web server is expected, at a public address. */
export const OTHER_PORTS: readonly string[] = [
  21, 22, 23, 25, 110, 143, 445, 465, 587, 993, 2375, 3306, 5432, 6379, 9092, 11211, 27017,
].map((port) => `http://${PUBLIC_V4}:${port}/`);
