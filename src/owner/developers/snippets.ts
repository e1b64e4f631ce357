import { type Html, html } from '../../http/html.ts';
import { codeBlock, tabs } from '../ui/elements.ts';
import { paths } from '../../mcp/presence/paths.ts';

/** The environment variable that holds the key. */
export const keyVariable = 'RETENTION_API_KEY';

interface Snippet {
  readonly label: string;
  /** @param key undefined to read it from the environment */
  code(url: string, key: string | undefined): string;
}

/** A request in each language, with nothing that has to be installed. */
const snippets: Readonly<Record<string, Snippet>> = {
  curl: {
    label: 'curl',
    code: (url, key) => `curl -H "Authorization: Bearer ${key ?? `$${keyVariable}`}" '${url}'`,
  },
  javascript: {
    label: 'JavaScript',
    // Without a top-level await, so that it runs in every kind of file.
    code: (url, key) => `async function main() {
  const response = await fetch('${url}', {
    headers: { Authorization: ${key === undefined ? `\`Bearer \${process.env.${keyVariable}}\`` : `'Bearer ${key}'`} },
  });
  if (!response.ok) throw new Error(\`\${response.status}: \${await response.text()}\`);
  console.log(await response.json());
}

main();`,
  },
  python: {
    label: 'Python',
    code: (url, key) => `import json
import os
from urllib.request import Request, urlopen

key = ${key === undefined ? `os.environ["${keyVariable}"]` : `"${key}"`}
request = Request("${url}", headers={"Authorization": f"Bearer {key}"})
with urlopen(request) as response:
    print(json.load(response))`,
  },
  ruby: {
    label: 'Ruby',
    code: (url, key) => `require "json"
require "net/http"

key = ${key === undefined ? `ENV.fetch("${keyVariable}")` : `"${key}"`}
response = Net::HTTP.get_response(URI("${url}"), "Authorization" => "Bearer #{key}")
raise "#{response.code}: #{response.body}" unless response.is_a?(Net::HTTPSuccess)
puts JSON.parse(response.body)`,
  },
  php: {
    label: 'PHP',
    code: (url, key) => `<?php
$key = ${key === undefined ? `getenv('${keyVariable}')` : `'${key}'`};
$context = stream_context_create([
    'http' => ['header' => "Authorization: Bearer $key", 'ignore_errors' => true],
]);
$body = file_get_contents('${url}', false, $context);
print_r(json_decode($body, true));`,
  },
  go: {
    label: 'Go',
    code: (url, key) => `package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
${key === undefined ? '\t"os"\n' : ''})

func main() {
	request, err := http.NewRequest("GET", "${url}", nil)
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+${key === undefined ? `os.Getenv("${keyVariable}")` : `"${key}"`})
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(response.Status, string(body))
}`,
  },
};

/** @param key only on the page that has just created it */
export function snippetTabs(url: string, key?: string): Html {
  return tabs(
    'language',
    'Language',
    Object.entries(snippets).map(([name, { label, code }]) => ({
      label,
      content: codeBlock(`snippet-${name}`, `Example request: ${label}`, code(url, key)),
    })),
  );
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
        ${code && codeBlock(`client-${index}`, `Configuration: ${label}`, code(url, key))}`,
    })),
  );
}
