import type { Readable } from 'node:stream';
import type { Answer } from '../../http/answer.ts';
import { chartFile } from '../charts/file.ts';
import { tableFile } from '../framework/csv.ts';
import type { Cell } from '../framework/csv.ts';
import type { ShopVisit } from '../pages.ts';
import { outcomeLabels, reasonLabels } from '../ui/labels.ts';
import { changeOf } from './changes.ts';
import { chartsOf } from './chart-sections.ts';
import type { Dashboard } from './dashboard.ts';
import { allFigures } from './figures.ts';
import { outcomes } from './reasons.ts';

/** The table of the overview that the address names; undefined if there is none. */
export function overviewFile(visit: ShopVisit, data: Dashboard): Answer<Readable> | undefined {
  const name = visit.query.get('chart');
  if (name === 'reasons') return reasonsFile(visit, data);
  if (name === 'figures') return figuresFile(visit, data);
  const found = chartsOf(visit, data).find(({ id }) => id === name);
  return found && chartFile(visit, found, data.view.now);
}

/** The fifteen figures, with their values in the period compared with. */
function figuresFile({ shop }: ShopVisit, data: Dashboard): Answer<Readable> {
  const heads = ['Figure', 'Value', 'Before', 'Currency'];
  const rows = allFigures.map((figure): Cell[] => {
    const change = changeOf(figure, data);
    return [
      figure.name,
      data.undefinedFigures.has(figure.field) ? null : data.summary[figure.field],
      typeof change === 'object' ? change.from : null,
      figure.format === 'money' ? shop.currency : null,
    ];
  });
  return tableFile({ shop, noun: 'figures', now: data.view.now, heads, rows });
}

/** The table of cancellation reasons. */
function reasonsFile({ shop }: ShopVisit, { reasons, view }: Dashboard): Answer<Readable> {
  const heads = ['Reason', ...outcomes.map(({ field }) => outcomeLabels[field][0])];
  const rows = reasons.map((row): Cell[] => [
    reasonLabels[row.reason],
    ...outcomes.map(({ field }) => row[field]),
  ]);
  return tableFile({ shop, noun: 'reasons', now: view.now, heads, rows });
}
