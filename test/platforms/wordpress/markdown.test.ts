import { expect, it } from "vitest";
import { contentOf } from "../../../src/platforms/wordpress/metadata.ts";

const written = (caption: string): string =>
  contentOf({ caption, metadata: { title: "Horn", format: "markdown" } } as never, []);

it("becomes the blocks that WordPress's own editor would make", () => {
  const caption =
    "# One\n\n## Two\n\nA **b** [link](https://a.example)\n\n- x\n- y\n  - z\n\n1. n\n\n> said\n\n```\n1 < 2\n```\n\n---";
  expect(written(caption)).toBe(
    [
      '<!-- wp:heading {"level":1} -->\n<h1 class="wp-block-heading">One</h1>\n<!-- /wp:heading -->',
      '<!-- wp:heading -->\n<h2 class="wp-block-heading">Two</h2>\n<!-- /wp:heading -->',
      '<!-- wp:paragraph -->\n<p>A <strong>b</strong> <a href="https://a.example">link</a></p>\n<!-- /wp:paragraph -->',
      '<!-- wp:list -->\n<ul class="wp-block-list"><!-- wp:list-item -->\n<li>x</li>\n<!-- /wp:list-item -->\n' +
        '<!-- wp:list-item -->\n<li>y\n<!-- wp:list -->\n<ul class="wp-block-list"><!-- wp:list-item -->\n<li>z</li>\n' +
        "<!-- /wp:list-item --></ul>\n<!-- /wp:list --></li>\n<!-- /wp:list-item --></ul>\n<!-- /wp:list -->",
      '<!-- wp:list {"ordered":true} -->\n<ol class="wp-block-list"><!-- wp:list-item -->\n<li>n</li>\n<!-- /wp:list-item --></ol>\n<!-- /wp:list -->',
      '<!-- wp:quote -->\n<blockquote class="wp-block-quote"><!-- wp:paragraph -->\n<p>said</p>\n<!-- /wp:paragraph --></blockquote>\n<!-- /wp:quote -->',
      '<!-- wp:code -->\n<pre class="wp-block-code"><code>1 &#60; 2</code></pre>\n<!-- /wp:code -->',
      '<!-- wp:separator -->\n<hr class="wp-block-separator has-alpha-channel-opacity"/>\n<!-- /wp:separator -->',
    ].join("\n\n"),
  );
});

it.each(["<script>x</script>", "[gallery ids=1]", "<!-- wp:html --> x", '[x](https://a.example/"onclick=1)'])(
  "runs nothing of %j",
  (caption) => {
    const inner = written(caption).replace(/<!-- \/?wp:paragraph -->|<\/?p>|<a href="[^"<>]*">|<\/a>/g, "");
    expect(inner).not.toMatch(/[<>"[\]]/);
  },
);
