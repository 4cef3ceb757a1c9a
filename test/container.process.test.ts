import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { Ajv2019 } from "ajv/dist/2019.js";
import { DockerfileParser } from "dockerfile-ast";
import { validate } from "dockerfile-utils";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { readConfig } from "../src/app/config.ts";
import { SETTINGS } from "../src/app/settings.ts";
import { FILES_PATH } from "../src/http/files/files-routes.ts";
import { PAGE_FILES_PATH } from "../src/http/page/page-router.ts";
import { readBuildContext } from "./support/build-context.ts";
import { runCli } from "./support/cli.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

const ROOT = join(import.meta.dirname, "..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const isSetting = (name: string): boolean => SETTINGS.some((setting) => setting.name === name);

describe("the image", () => {
  const text = read("Dockerfile");
  const file = DockerfileParser.parse(text);
  const instructions = file.getInstructions();
  const words = (keyword: string): string[][] =>
    instructions
      .filter((instruction) => instruction.getKeyword() === keyword)
      .map((instruction) => instruction.getArguments().map((argument) => argument.getValue()));

  it("is described by a file that Docker takes", () => {
    expect(validate(text)).toEqual([]);
    expect(validate("FROM node\nHEALTHCHECK --interva=3s CMD ls\nADD x\n")).not.toEqual([]);
  });

  it("is made of named releases, for every processor that they are there for", () => {
    expect(file.getFROMs().map((from) => from.getImage())).toEqual([
      "node:24-bookworm",
      "node:24-bookworm",
      "node:24-bookworm-slim",
    ]);
    expect(text).not.toContain("--platform");
    const packages = Object.keys((JSON.parse(read("package-lock.json")) as { packages: object }).packages);
    for (const processor of ["x64", "arm64"])
      expect(packages).toContain(`node_modules/@img/sharp-linux-${processor}`);
  });

  it("runs without root, keeps everything in /data, and hears its signals itself", () => {
    const keywords = instructions.map((instruction) => instruction.getKeyword());
    expect(words("USER")).toEqual([["node"]]);
    expect(keywords.indexOf("USER")).toBeLessThan(keywords.indexOf("ENTRYPOINT"));
    expect(keywords.lastIndexOf("RUN")).toBeLessThan(keywords.indexOf("USER"));
    expect(words("VOLUME")).toEqual([["/data"]]);
    expect(JSON.parse(/^ENTRYPOINT (.*)$/m.exec(text)?.[1] ?? "")).toEqual(["node", "/app/dist/posthorn.js"]);
    const settings = file.getENVs().flatMap((env) => env.getProperties().map((part) => part.getName()));
    expect(settings.filter((name) => name !== "NODE_ENV" && !isSetting(name))).toEqual([]);
    expect(settings).toContain("POSTHORN_DATA_DIR");
  });

  it("copies what is there and is sent to the builder", () => {
    const own = file.getCOPYs().filter((copy) => copy.getFlags().length === 0);
    const sources = own.flatMap((copy) =>
      copy
        .getArguments()
        .map((argument) => argument.getValue())
        .slice(0, -1),
    );
    expect(sources).toContain("package-lock.json");
    const context = readBuildContext();
    expect(context.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
    expect(sources.filter((path) => path !== "." && !context.includes(path))).toEqual([]);
  });

  it("is healthy while the server answers", async () => {
    using folder = temporaryFolder();
    const [command = "", ...args] = JSON.parse(/^ {2}CMD (\[.*\])$/m.exec(text)?.[1] ?? "[]") as string[];
    expect(command).toBe("node");
    const check = async (port: string): Promise<number> => {
      const env = { POSTHORN_PORT: port };
      const ran = promisify(execFile)(process.execPath, args, { env });
      return ran.then(
        () => 0,
        (error: { code: number }) => error.code,
      );
    };
    let seen: Promise<number> | null = null;
    let port = "";
    await runCli(["serve"], {
      env: { ...folder.env, POSTHORN_PORT: "0", POSTHORN_HOST: "0.0.0.0" },
      onOutput(output, stop) {
        port = /listening on http:\/\/0\.0\.0\.0:(\d+)/.exec(output)?.[1] ?? "";
        if (port !== "" && output.includes("Data folder")) seen ??= check(port).finally(stop);
      },
    });
    expect([await seen, await check(port)]).toEqual([0, 1]);
  }, 120_000);
});

/**
 * The schema of the Compose Specification (https://github.com/compose-spec/compose-spec, Apache-2.0), as Docker
 * Compose 1.29.2 has it. Its names of itself are of no draft that Ajv knows.
 */
const schema = JSON.parse(read("test/fixtures/compose-spec.json"), (key, value: unknown) =>
  /^(id|\$schema)$/.test(key) && typeof value === "string" ? undefined : value,
) as object;
const isCompose = new Ajv2019({ strict: false, validateFormats: false }).compile(schema);

describe("the compose file", () => {
  const compose = parse(read("compose.yaml")) as {
    services: { posthorn: Record<string, any> };
    volumes: Record<string, unknown>;
  };
  const { posthorn } = compose.services;

  it("is one by the specification", () => {
    expect([isCompose(compose), isCompose.errors]).toEqual([true, null]);
    expect(isCompose({ services: { posthorn: { ...posthorn, read_only: "maybe" } } })).toBe(false);
    expect(isCompose({ services: { posthorn: { ...posthorn, port: [] } } })).toBe(false);
  });

  it("gives the service no more than it needs", () => {
    expect(Object.keys(compose.services)).toEqual(["posthorn"]);
    expect(posthorn).toMatchObject({
      read_only: true,
      cap_drop: ["ALL"],
      security_opt: ["no-new-privileges:true"],
      restart: "unless-stopped",
    });
    expect(posthorn["privileged"]).toBeUndefined();
    for (const port of posthorn["ports"] as string[]) expect(port).toMatch(/^127\.0\.0\.1:\d+:4747$/);
    const names = (posthorn["volumes"] as string[]).map((volume) => volume.split(":"));
    expect(names).toEqual([["data", "/data"]]);
    expect(Object.keys(compose.volumes)).toEqual(["data"]);
  });

  it("sets what is a setting, and leaves time to finish what is under way", () => {
    expect(Object.keys(posthorn["environment"]).filter((name) => !isSetting(name))).toEqual([]);
    expect(posthorn["stop_grace_period"]).toBe("30s");
  });
});

describe("the compose file of many machines", () => {
  const text = read("deploy/many.yaml");
  const compose = parse(text, { merge: true }) as {
    services: Record<string, Record<string, any>>;
    secrets: Record<string, { file: string }>;
    configs: Record<string, { file: string }>;
    volumes: object;
  };
  const { services } = compose;
  const all = Object.entries(services);
  const posthorns = all.filter(([, service]) => service["image"] === "posthorn" && !service["entrypoint"]);

  const environmentOf = (name: string) => services[name]!["environment"] as Record<string, string>;

  it("is one by the specification, and everything in it is used", () => {
    expect([isCompose(compose), isCompose.errors]).toEqual([true, null]);
    const used = (what: string): Set<string> =>
      new Set(
        all.flatMap(([, service]) =>
          ((service[what] ?? []) as (string | { source: string })[]).map((one) =>
            typeof one === "string" ? (one.split(":")[0] ?? "") : one.source,
          ),
        ),
      );
    for (const what of ["volumes", "secrets", "configs"] as const)
      expect(used(what)).toEqual(new Set(Object.keys(compose[what])));
    for (const { file } of Object.values(compose.configs))
      expect(existsSync(join(ROOT, "deploy", file))).toBe(true);
    for (const [, service] of all) {
      const awaited = (service["depends_on"] ?? {}) as string[] | object;
      for (const name of Array.isArray(awaited) ? awaited : Object.keys(awaited))
        expect(Object.keys(services)).toContain(name);
    }
  });

  it.each(all)("gives %s no more than it needs", (name, service) => {
    expect(service).toMatchObject({ read_only: true, security_opt: ["no-new-privileges:true"] });
    expect([service["cap_drop"], service["privileged"]]).toEqual([["ALL"], undefined]);
    // Posthorn's image has a user of its own.
    if (service["image"] !== "posthorn") expect(service["user"]).toMatch(/^(?!root|0)/);
    expect(service["image"]).toMatch(/^posthorn$|:v?\d[\d.]*$/);
    expect(service["ports"]).toEqual(name === "proxy" ? ["127.0.0.1:4747:4747"] : undefined);
    // The image of Posthorn brings its check along.
    if (service["image"] !== "posthorn") expect(service["healthcheck"]).toBeDefined();
    const open = Object.keys((service["environment"] ?? {}) as object);
    expect(open.filter((one) => /(SECRET|PASSWORD|TOKEN|SECRET_KEY|DATABASE_URL)$/.test(one))).toEqual([]);
  });

  it("starts two hosts alike, each with a folder of its own", () => {
    expect(posthorns.map(([name]) => name)).toEqual(["posthorn-1", "posthorn-2"]);
    const [[, { volumes: first, ...one }], [, { volumes: second, ...other }]] = posthorns as [
      [string, Record<string, any>],
      [string, Record<string, any>],
    ];
    expect(one).toEqual(other);
    expect([first, second]).toEqual([["data-1:/data"], ["data-2:/data"]]);
    expect(one["stop_grace_period"]).toBe("30s");
  });

  it("has settings that hold together with the file of secrets that it tells to write", () => {
    const recipe = [...text.matchAll(/^# {3}([A-Z_0-9]+)=(.+)$/gm)].map(([, name = "", value = ""]) => [
      name,
      value.replace(/\$\(.*?\)/, "ab".repeat(32)),
    ]);
    expect(recipe).toHaveLength(3);
    const environment = environmentOf("posthorn-1");
    const given = Object.fromEntries(
      Object.entries(environment).filter(([, value]) => !value.startsWith("$")),
    );
    expect(
      Object.keys({ ...environment, ...Object.fromEntries(recipe) }).filter((one) => !isSetting(one)),
    ).toEqual([]);
    const env = { ...given, ...(Object.fromEntries(recipe) as Record<string, string>) };
    const { config, secrets } = readConfig(env, []);
    const bucket = environmentOf("bucket");
    expect(config.bucket).toEqual({
      endpoint: `http://bucket${bucket["VGW_PORT"]}`,
      name: (services["bucket-folder"]!["entrypoint"] as string[]).at(-1)?.replace("/data/", ""),
      region: bucket["VGW_REGION"],
      accessKeyId: bucket["ROOT_ACCESS_KEY"],
    });
    const { POSTGRES_USER: user } = environmentOf("database");
    expect(secrets.database?.url).toBe(`postgres://${user}:${"ab".repeat(32)}@database:5432/${user}`);
  });

  it("leads to its hosts as the page says, and what must be sticky to one of them", () => {
    const sites = (caddyfile: string): string =>
      caddyfile.slice(caddyfile.indexOf("(posthorns)")).replace(/^\tto .*$|^\S+ \{$/gm, "");
    const [proxy, page] = [read("deploy/many.Caddyfile"), read("docs/many-machines.md")];
    expect(proxy).toContain(`to ${posthorns.map(([name]) => `${name}:4747`).join(" ")}\n`);
    const example = /^```caddyfile\n(.*?)^```$/ms.exec(page)?.[1] ?? "";
    expect(sites(example)).toBe(sites(proxy));
    const [uploads, fromPage] = [`${FILES_PATH}/uploads`, `${PAGE_FILES_PATH}/uploads`];
    expect(proxy).toContain(`@kept path /mcp /sse /messages ${uploads} ${uploads}/*\n`);
    expect(proxy).toContain(`@page path ${fromPage} ${fromPage}/*\n`);
    expect(page).toContain(`location ~ ^/(mcp|sse|messages|${uploads.slice(1)}|${fromPage.slice(1)})(/|$) {`);
  });
});
