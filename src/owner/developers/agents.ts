import { type Html, html } from '../../http/html.ts';
import { codeBlock } from '../ui/code-block.ts';
import { keyVariable } from './snippets.ts';
import { tabs } from './tabs.ts';

const json = (value: object) => JSON.stringify(value, undefined, 2);
const bearer = (key: string) => ({ Authorization: `Bearer ${key}` });

/** What to do in a client for agents. */
interface Client {
  readonly label: string;
  /** Where the code belongs. */
  readonly text: Html;
  /** Opens the client with everything but the key filled in. */
  link?(url: string): string;
  readonly linkLabel?: string;
  /** @param key undefined to read it from the environment, where the client can */
  code?(url: string, key: string | undefined): string;
}

const inputId = 'retention-key';
/** VS Code asks for the key and keeps it out of its files. */
const input = { type: 'promptString', id: inputId, description: 'API key', password: true };
const codeServer = (url: string) => ({
  type: 'http',
  url,
  headers: bearer(`\${input:${inputId}}`),
});
const cursorServer = (url: string, key = `\${env:${keyVariable}}`) => ({
  url,
  headers: bearer(key),
});

/**
 * Links have no key, because browsers remember addresses. Formats: cursor.com/docs/mcp/install-links,
 * code.visualstudio.com/api/extension-guides/ai/mcp.
 */
const clients: readonly Client[] = [
  {
    label: 'Claude Code',
    text: html`Run this in a terminal.`,
    code: (url, key = `$${keyVariable}`) =>
      `claude mcp add --transport http retention ${url} --header "Authorization: Bearer ${key}"`,
  },
  {
    label: 'Claude Desktop',
    text: html`Settings, Developer, Edit Config. It starts local programs only, so the bridge
      <code>mcp-remote</code> sends the key (Node.js must be installed). The file does not read
      environment variables, so the key itself must be in it.`,
    code: (url, key = `$${keyVariable}`) =>
      json({
        mcpServers: {
          retention: {
            command: 'npx',
            args: [
              '-y',
              'mcp-remote',
              url,
              ...(url.startsWith('http:') ? ['--allow-http'] : []),
              '--header',
              'Authorization:${AUTHORIZATION}',
            ],
            env: { AUTHORIZATION: `Bearer ${key}` },
          },
        },
      }),
  },
  {
    label: 'Cursor',
    text: html`The link adds the server, which reads the key from the environment variable
      <code>${keyVariable}</code>. Or put this in <code>~/.cursor/mcp.json</code>.`,
    link: (url) => {
      const config = Buffer.from(JSON.stringify(cursorServer(url))).toString('base64');
      return `cursor://anysphere.cursor-deeplink/mcp/install?name=retention&config=${encodeURIComponent(config)}`;
    },
    linkLabel: 'Add to Cursor',
    code: (url, key) => json({ mcpServers: { retention: cursorServer(url, key) } }),
  },
  {
    label: 'VS Code',
    text: html`The link adds the server, and VS Code asks for the key. Or put this in
      <code>.vscode/mcp.json</code>.`,
    link: (url) =>
      `vscode:mcp/install?${encodeURIComponent(JSON.stringify({ name: 'retention', ...codeServer(url), inputs: [input] }))}`,
    linkLabel: 'Add to VS Code',
    code: (url) => json({ inputs: [input], servers: { retention: codeServer(url) } }),
  },
  {
    label: 'Gemini CLI',
    text: html`Put this in <code>~/.gemini/settings.json</code>.`,
    code: (url, key = `$${keyVariable}`) =>
      json({ mcpServers: { retention: { httpUrl: url, headers: bearer(key) } } }),
  },
  {
    label: 'Codex',
    text: html`Put this in <code>~/.codex/config.toml</code>. Codex reads the key from the
      environment variable.`,
    code: (url) =>
      `[mcp_servers.retention]\nurl = "${url}"\nbearer_token_env_var = "${keyVariable}"`,
  },
  {
    label: 'ChatGPT',
    text: html`ChatGPT cannot connect: its apps sign in by OAuth or not at all, and send no custom
    headers, which is how a key is sent. Programs that use OpenAI’s Responses API can connect,
    because that sends headers.`,
  },
];

/** How to connect each client. @param key only on the page that has just created it */
export function agentTabs(url: string, key?: string): Html {
  return tabs(
    'client',
    'Client',
    clients.map(({ label, text, link, linkLabel, code }, index) => ({
      label,
      content: html`<p>${text}</p>
        ${
          link && linkLabel !== undefined
            ? html`<p><a class="button" href="${link(url)}">${linkLabel}</a></p>`
            : undefined
        }
        ${code && codeBlock(`client-${index}`, `Configuration: ${label}`, code(url, key))}`,
    })),
  );
}
