import type { Reporter, TestModule } from "vitest/node";

/** Ends a run with one plain line that any program can read: "12 passed, 0 failed, 1 skipped". */
export default class PlainSummary implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const counts = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) counts[test.result().state] += 1;
      // A file that cannot be loaded has no tests to fail.
      if (module.state() === "failed" && [...module.children.allTests()].length === 0) counts.failed += 1;
    }
    const failed = counts.failed + errors.length;
    process.stdout.write(
      `\n${counts.passed} passed, ${failed} failed, ${counts.skipped + counts.pending} skipped\n`,
    );
  }
}
