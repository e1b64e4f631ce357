import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type Asset, createAsset, pageStyle } from '../../http/look/look.ts';
import { iconStyle } from './icons.ts';

/** Reads a style sheet or a script, once at startup. @param before text to put before the file's content */
function read(file: string, before = ''): Asset {
  const text = before + readFileSync(new URL(file, import.meta.url), 'utf8');
  return createAsset('/app', path.basename(file), text);
}

/** Loaded by every page. */
export const frameAssets: readonly Asset[] = [
  read('style.css', pageStyle + iconStyle),
  read('tables.css'),
  read('../view/picker.css'),
  read('../segments/segments.css'),
  read('frame.js'),
  read('../../http/look/copy.js'),
  read('search.js'),
  read('../segments/count.js'),
];

/** Loaded by the pages that name them. */
export const assets = {
  charts: [read('../charts/charts.css'), read('../charts/charts.js')],
  help: [read('help.css')],
  dashboard: [read('../dashboard/dashboard.css')],
  cohorts: [read('../cohorts/cohorts.css'), read('../cohorts/cohorts.js')],
  passkeys: [read('../factors/passkeys.js')],
  notifications: [read('../notifications/notifications.css')],
  developers: [read('../developers/developers.css'), read('../../http/look/languages.js')],
} as const satisfies Readonly<Record<string, readonly Asset[]>>;

export type AssetName = keyof typeof assets;
