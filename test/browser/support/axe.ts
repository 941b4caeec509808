import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const script = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Axe {
  run(
    context?: unknown,
  ): Promise<{ readonly violations: readonly { id: string; nodes: { html: string }[] }[] }>;
}

/** What is wrong with the accessibility of a page, or of a part of it. */
export async function accessibilityFaults(page: Page, part?: string): Promise<string[]> {
  // The policy of a page allows no other script: this one is not part of the page.
  await page.evaluate(`(() => { ${script} })()`);
  return await page.evaluate(async (selector) => {
    const { violations } = await (globalThis as unknown as { axe: Axe }).axe.run(selector ?? document);
    return violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join('\n')}`,
    );
  }, part);
}
