import assert from 'node:assert/strict';
import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

const widths = [360, 768, 1440];
const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Holds a page, as it is, to WCAG and to the widths of phones, tablets and screens. */
export async function inspect(page: Page, name: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    for (const width of widths) {
      await page.setViewportSize({ width, height: 800 });
      const where = `${name}, ${width} px, ${colorScheme}`;
      const wide = await page.evaluate('document.documentElement.scrollWidth');
      assert.ok(Number(wide) <= width, `${where}: ${wide} px are wide`);
      const found = (await page.evaluate(
        `${axe.source}; axe.run({ runOnly: ${JSON.stringify(rules)} })`,
      )) as AxeResults;
      assert.ok(found.passes.length > 10, where);
      const said = found.violations.map(({ id, nodes }) => [id, ...nodes.map((each) => each.html)]);
      assert.deepEqual(said, [], where);
      const folder = process.env['TEST_SCREENSHOTS'];
      if (folder) {
        const file = `${folder}/${name}-${width}-${colorScheme}.png`;
        await page.screenshot({ path: file, fullPage: true });
      }
    }
  }
}
