import { platformSettings } from '../src/config/platform-config.ts';
import type { Settings } from '../src/config/read-settings.ts';
import { nodeSettings, settings, traceSettings } from '../src/config/settings.ts';
import { platforms } from '../src/platforms/registry.ts';

/** The text of docs/settings.md. */
export function writeSettings(): string {
  return [
    '# Settings',
    '<!-- Written by "npm run generate" from the configuration itself, in src/config. -->',
    'Settings are environment variables, read once, at start; an empty one counts as unset. None is required: without any, the service uses the embedded database and listens on `127.0.0.1:8787`.',
    "A file `.env` in the current folder, in Node.js' format, supplies what the environment does not set; a variable that is set, even to an empty value, overrides the file. If anything in it or in the settings is invalid, all errors are reported and nothing is started (exit status 2).",
    '`retention doctor` shows the configuration without secrets, and [checks it](operations.md#doctor).',
    ...Object.entries(settings).flatMap(([title, group]) => writeGroup(title, group)),
    ...writeGroup(
      'Platforms',
      Object.assign({}, ...platforms.map((platform) => platformSettings(platform.settings))),
      `${platforms.map(({ name }) => `[${name}.md](${name}.md)`).join(', ')} explain them.`,
    ),
    ...writeGroup(
      'Node.js',
      nodeSettings,
      'Read when the process starts, before `.env` is, so set these in the environment.',
    ),
    ...writeGroup(
      'Traces',
      traceSettings,
      "OpenTelemetry's own variables, of which these matter most; see [Traces](operations.md#traces).",
    ),
  ].join('\n\n');
}

function writeGroup(title: string, group: Settings, ...introduction: string[]): string[] {
  const entries = Object.entries(group).map(
    ([name, { about, unset, fallback }]) =>
      `- \`${name}\`: ${about}${writeDefault(unset ?? `\`${String(fallback)}\``)}`,
  );
  return [`## ${title}`, ...introduction, entries.join('\n')];
}

function writeDefault(unset: string): string {
  if (unset === 'none') return '';
  return unset.startsWith('`') ? `; default ${unset}` : `; if unset: ${unset}`;
}
