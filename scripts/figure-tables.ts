import { cohortFigures } from '../src/metrics/cohorts.ts';
import { dayFigures, summaryFigures } from '../src/metrics/figures.ts';
import { lineNames, movementLines } from '../src/metrics/movements.ts';
import { renderTable } from '../src/reference/introduction.ts';

const code = (text: string) => `\`${text}\``;

/** The figures, and what each counts, by the name in the comment above their table. */
const tables: Readonly<Record<string, readonly (readonly [name: string, counts: string])[]>> = {
  Figures: summaryFigures.map(({ field, rule }) => [field, rule]),
  'Figures of a day': Object.entries(dayFigures),
  Movements: lineNames.map((name) => [name, movementLines[name].definition]),
  Cohorts: Object.entries(cohortFigures),
};

/** A page with its tables of figures. */
export function writeFigureTables(page: string): string {
  return page.replaceAll(
    /(<!-- ([\w ]+): written by .*-->\n)\n(?:\|.*\n)*\n*/g,
    (_, comment, name) => {
      const figures = tables[name];
      if (!figures) throw new Error(`There is no table ${name}.`);
      const rows = figures.map(([figure, counts]) => [code(figure), counts]);
      return `${comment}\n${renderTable({ head: ['Figure', 'Counts'], rows })}\n\n`;
    },
  );
}
