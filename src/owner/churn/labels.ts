import type { AgeBand, ChurnCause } from '../../metrics/churn.ts';
import type { Tone } from '../ui/labels.ts';

export const causeLabels: Readonly<Record<ChurnCause, readonly [label: string, tone: Tone]>> = {
  cancelled: ['Cancelled', 'over'],
  failed: ['Failed payments', 'bad'],
};

export const ageLabels: Readonly<Record<AgeBand['name'], string>> = {
  '0-29': 'Under 30 days',
  '30-89': '30 to 89 days',
  '90-179': '90 to 179 days',
  '180-364': '180 to 364 days',
  '365': '365 days and more',
};
