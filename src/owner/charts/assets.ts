import type { Asset } from '../../http/look/look.ts';
import { readAsset } from '../ui/assets.ts';

/** What pages with charts load. */
export const chartAssets: readonly Asset[] = [
  readAsset('charts.css', import.meta.url),
  readAsset('charts.js', import.meta.url),
];
