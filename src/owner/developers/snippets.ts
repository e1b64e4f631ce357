import { type Html, html } from '../../http/html.ts';
import { codeBlock, tabs } from '../ui/elements.ts';
import { type LanguageName, keyVariable, languages } from '../../reference/languages.ts';
import { paths } from '../../mcp/presence/paths.ts';

/**
 * A request in each language.
 * @param chosen the language that the visitor reads
 * @param key only on the page that has just created it
 */
export function snippetTabs(url: string, chosen: LanguageName | undefined, key?: string): Html {
  const choices = Object.entries(languages).map(([value, { label, code }]) => ({
    value,
    label,
    content: codeBlock(`snippet-${value}`, `Example request: ${label}`, code(url, key), value),
  }));
  return tabs('language', 'Language', choices, chosen);
}

const json = (value: object) => JSON.stringify(value, undefined, 2);
const bearer = (key: string) => ({ Authorization: `Bearer ${key}` });

/** What to do in a client for agents. */
interface Client {
  readonly label: string;
  /** Where the code belongs. */
  readonly text: Html;
  /** By label: each adds the service to the client, with everything but the key filled in. */
  links?(url: string): Readonly<Record<string, string>>;
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
const lmStudioServer = (url: string, key = 'YOUR_API_KEY') => ({ url, headers: bearer(key) });
/** A link's parameters, with the configuration in base64. */
const nameAndConfig = (server: object) =>
  `name=retention&config=${encodeURIComponent(Buffer.from(JSON.stringify(server)).toString('base64'))}`;

/**
 * Links have no key, because browsers remember addresses. Formats: cursor.com/docs/mcp/install-links,
 * code.visualstudio.com/api/extension-guides/ai/mcp, lmstudio.ai/docs/app/mcp/deeplink.
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
    text: html`Download the extension and open it with Claude Desktop, which asks for the key and
      keeps it as a secret. Or choose Settings, Developer, Edit Config: the bridge
      <code>mcp-remote</code> then sends the key (Node.js must be installed). That file does not
      read environment variables, so the key itself must be in it.`,
    links: () => ({ 'Download the extension': paths.bundle }),
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
    links: (url) => ({
      'Add to Cursor': `cursor://anysphere.cursor-deeplink/mcp/install?${nameAndConfig(cursorServer(url))}`,
    }),
    code: (url, key) => json({ mcpServers: { retention: cursorServer(url, key) } }),
  },
  {
    label: 'VS Code',
    text: html`The link adds the server, and VS Code asks for the key. Or put this in
      <code>.vscode/mcp.json</code>.`,
    links: (url) => {
      const server = { name: 'retention', ...codeServer(url), inputs: [input] };
      const query = encodeURIComponent(JSON.stringify(server));
      return {
        'Add to VS Code': `vscode:mcp/install?${query}`,
        'Add to VS Code Insiders': `vscode-insiders:mcp/install?${query}`,
      };
    },
    code: (url) => json({ inputs: [input], servers: { retention: codeServer(url) } }),
  },
  {
    label: 'LM Studio',
    text: html`The link adds the server; then put the key in place of <code>YOUR_API_KEY</code>. Or
      edit <code>mcp.json</code> in LM Studio.`,
    links: (url) => ({
      'Add to LM Studio': `lmstudio://add_mcp?${nameAndConfig(lmStudioServer(url))}`,
    }),
    code: (url, key) => json({ mcpServers: { retention: lmStudioServer(url, key) } }),
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

function configuration(id: string, label: string, code: string): Html {
  return codeBlock(id, `Configuration: ${label}`, code, code.startsWith('{') ? 'json' : 'sh');
}

/** How to connect each client. @param key only on the page that has just created it */
export function agentTabs(url: string, key?: string): Html {
  return tabs(
    'client',
    'Client',
    clients.map(({ label, text, links, code }, index) => ({
      label,
      content: html`<p>${text}</p>
        ${
          links &&
          html`<p>
            ${Object.entries(links(url)).map(
              ([name, address]) => html`<a class="button" href="${address}">${name}</a> `,
            )}
          </p>`
        }
        ${code && configuration(`client-${index}`, label, code(url, key))}`,
    })),
  );
}
