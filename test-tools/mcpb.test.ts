import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { buildBundle } from '../src/mcp/presence/bundle.ts';
import { throwawayFolder } from '../test/cli/process.ts';
import { installTools } from './install.ts';

test('the official program for bundles takes ours, and finds its manifest valid', async () => {
  const tools = await installTools({ '@anthropic-ai/mcpb': '2.1.2' });
  const folder = throwawayFolder();
  const file = path.join(folder, 'retention.mcpb');
  const unpacked = path.join(folder, 'unpacked');
  writeFileSync(file, buildBundle('https://retention.example'));
  await tools.run('mcpb', ['unpack', file, unpacked]);
  const manifest = path.join(unpacked, 'manifest.json');
  assert.match(
    await tools.run('mcpb', ['validate', manifest]),
    /Manifest schema validation passes!/,
  );
  const { author: _, ...incomplete } = JSON.parse(readFileSync(manifest, 'utf8'));
  writeFileSync(manifest, JSON.stringify(incomplete));
  await assert.rejects(tools.run('mcpb', ['validate', manifest]), /author/);
});
