import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type Asset, createAsset, pageStyle } from '../../http/look/look.ts';
import { iconStyle } from './icons.ts';

const textOf = (file: string) => readFileSync(new URL(file, import.meta.url), 'utf8');

/** Reads a style sheet or a script, once at startup. */
const read = (file: string) => joined(path.basename(file), [file]);

/** The same of several files, which are loaded as one. @param before text to put before them */
const joined = (name: string, files: readonly string[], before = '') =>
  createAsset('/app', name, before + files.map(textOf).join(''));

/** Loaded by every page. */
export const frameAssets: readonly Asset[] = [
  joined(
    'frame.css',
    ['style.css', 'tables.css', '../view/picker.css', '../segments/segments.css', 'print.css'],
    pageStyle + iconStyle,
  ),
  joined('frame.js', ['frame.js', '../../http/look/copy.js', 'search.js', '../segments/count.js']),
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
