import { expect, it } from "vitest";
import { connectWithSecrets } from "../../../src/channels/connecting/connections.ts";
import { createPlatformIo } from "../../../src/channels/connecting/account-io.ts";
import listmonk from "../../../src/platforms/listmonk/index.ts";
import type { OutboundRequest } from "../../../src/ports/outbound.ts";
import { listChoices } from "../../../src/channels/connecting/list-choices.ts";
import { readInsights } from "../../../src/posts/posts.ts";
import { retryPost } from "../../../src/posts/update-post.ts";
import { schedulePost } from "../../../src/posts/schedule-post.ts";
import { callOf } from "../../support/context.ts";
import { endOf, finish } from "../../support/contract/ends.ts";
import { PHOTO_URL, PICTURES } from "../../support/contract/stage-media.ts";
import { compiled, refusal, SITE } from "./fake.ts";
import { openListmonk, SECRETS } from "./stage.ts";

it.each([
  [{ ...SECRETS, token: "wrong" }, /^token: mail\.example refused it/],
  [{ ...SECRETS, lists: "1, 7" }, /^lists: names one that is not there.* 1 \(News\), 3 \(Horns\)\.$/],
  [{ ...SECRETS, lists: "news" }, /^lists: /],
])("says what is wrong with %j", async (secrets, expected) => {
  await using stage = await openListmonk();
  const target = { provider: "listmonk", instanceUrl: SITE, secrets };
  await expect(connectWithSecrets(callOf(stage.ctx), target)).rejects.toThrow(expected);
});

it("is one channel for each set of lists, and tells when one of them is gone", async () => {
  await using stage = await openListmonk();
  const { ctx, fake, account } = stage;
  expect(account).toMatchObject({ name: "News, Horns", handle: "mail.example" });
  const target = { provider: "listmonk", instanceUrl: SITE, secrets: { ...SECRETS, lists: "3" } };
  expect((await connectWithSecrets(callOf(ctx), target)).account).toMatchObject({ name: "Horns" });
  const io = await createPlatformIo(ctx, account, AbortSignal.timeout(5_000));
  expect(await listmonk.inspect?.(io)).toMatchObject({ problem: null });
  fake.state.permitted = [1];
  expect(await listmonk.inspect?.(io)).toMatchObject({
    problem: expect.stringMatching(/^A list was deleted/),
  });
});

it("sends a campaign with all that was said of it", async () => {
  await using stage = await openListmonk();
  const { ctx, fake } = stage;
  const metadata = {
    ...PICTURES,
    lists: ["3"],
    template: "1",
    fromEmail: "News <news@a.example>",
    tags: ["brass"],
    archive: true,
  };
  const row = await endOf(stage, (await stage.add("One\ntwo", metadata, { media_url: PHOTO_URL })).id);
  const [first, second] = fake.files;
  expect(fake.sent()).toMatchObject([
    {
      subject: "Horn",
      type: "regular",
      lists: [3],
      template_id: 1,
      from_email: "News <news@a.example>",
      tags: ["brass"],
      content_type: "html",
      body: `<p><img src="${first}" alt="A horn"></p>\n\n<p><img src="${second}" alt="The same horn"></p>\n\n<p>One<br>two</p>`,
    },
  ]);
  expect(row).toMatchObject({
    status: "published",
    platform_post_id: "1",
    platform_url: `${SITE}/archive/57702beb-6fae-4355-a324-c2fd5b59a540`,
  });
  expect(await readInsights(ctx, row)).toMatchObject({
    state: "live",
    metrics: { views: 12, clicks: 4, reach: 40 },
  });
  fake.campaigns.clear();
  expect(await readInsights(ctx, row)).toMatchObject({ state: "removed" });
});

it("shows {{ }} as they are written in a plain text, and leaves them to Listmonk in others", async () => {
  await using stage = await openListmonk();
  await endOf(stage, (await stage.add("Hi {{ x }}", { title: "Hi {{ x" })).id);
  const hello = "# Hi {{ .Subscriber.FirstName }}";
  await endOf(stage, (await stage.add(hello, { format: "markdown", title: hello })).id);
  const [plain, markdown] = stage.fake.sent();
  expect(compiled(plain?.subject ?? "")).toBe("Hi {{ x");
  expect(plain?.body).toBe("<p>Hi &#123;&#123; x }}</p>");
  expect(markdown).toMatchObject({ subject: hello, body: hello, content_type: "markdown" });
});

it("sends what a post says now, where an earlier try left a draft of it", async () => {
  await using stage = await openListmonk();
  const { ctx, fake } = stage;
  fake.state.maySend = false;
  const { id } = await stage.add("First");
  expect(await endOf(stage, id)).toMatchObject({
    status: "failed",
    error: expect.stringMatching(/role does not allow that.*campaigns:send/),
  });
  fake.state.maySend = true;
  await retryPost(callOf(ctx), { id, caption: "Second", metadata: { title: "Other" } });
  expect(await endOf(stage, id)).toMatchObject({ status: "published" });
  expect(fake.campaigns.size).toBe(1);
  expect(fake.sent()).toMatchObject([{ subject: "Other", body: "<p>Second</p>" }]);
});

it("does not start a second time what a person started", async () => {
  await using stage = await openListmonk();
  const { ctx, fake } = stage;
  const { id } = await stage.add("A horn");
  const request = async (one: OutboundRequest) => {
    const campaign = fake.campaigns.get(1);
    if (campaign?.status === "draft" && one.url.endsWith("/campaigns/1?no_body=true")) {
      campaign.status = "running";
      campaign.starts = 1;
    }
    return ctx.outbound.request(one);
  };
  const worker = { ...ctx, outbound: { ...ctx.outbound, request } };
  expect(await finish(ctx, id, worker)).toMatchObject({ status: "published" });
  expect(fake.sent()).toHaveLength(1);
  expect(fake.calls).not.toContain("PUT /campaigns/{id}/status");
});

it("says which list the API user may not use, and sends to none", async () => {
  await using stage = await openListmonk();
  stage.fake.state.permitted = [1];
  const { id } = await stage.add("A horn");
  expect(await endOf(stage, id)).toMatchObject({
    status: "failed",
    error: expect.stringMatching(/^metadata\.lists: the API user may not use 3/),
  });
  expect(stage.fake.sent()).toEqual([]);
});

it("lists lists and templates, and warns that a mail cannot be taken back", async () => {
  await using stage = await openListmonk();
  const call = callOf(stage.ctx);
  const asked = { accountId: stage.account.id };
  expect(await listChoices(call, { ...asked, field: "lists", search: "hor" })).toMatchObject({
    choices: [{ value: "3", label: "Horns" }],
  });
  expect((await listChoices(call, { ...asked, field: "template" })).choices).toHaveLength(1);
  const post = { ...asked, caption: "A", mediaUrl: "", metadata: { title: "T" }, dryRun: true };
  expect(await schedulePost(call, post)).toMatchObject({
    warnings: expect.arrayContaining([expect.stringMatching(/cannot be taken back/)]),
  });
  await expect(schedulePost(call, { ...post, caption: " " })).rejects.toThrow(/^caption: /);
});

it("fails where the campaign was deleted before it was started", async () => {
  await using stage = await openListmonk();
  const { ctx } = stage;
  const { id } = await stage.add("A horn");
  const request = async (one: OutboundRequest) =>
    /\/campaigns\/1\?/.test(one.url) ? refusal(400, "Campaign not found") : ctx.outbound.request(one);
  const worker = { ...ctx, outbound: { ...ctx.outbound, request } };
  expect(await finish(ctx, id, worker)).toMatchObject({
    status: "failed",
    error: expect.stringMatching(/deleted in Listmonk/),
  });
});
