import { readFileSync } from 'node:fs';
import { createAsset } from '../http/look/asset.ts';
import { pageStyle } from '../http/look/page-style.ts';

const read = (file: string) => readFileSync(new URL(file, import.meta.url), 'utf8');

export const styleSheet = createAsset('/docs', 'docs.css', pageStyle + read('docs.css'));
export const script = createAsset(
  '/docs',
  'docs.js',
  read('../http/look/copy.js') + read('docs.js'),
);
