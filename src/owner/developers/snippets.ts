import type { Html } from '../../http/html.ts';
import { codeBlock } from '../ui/code-block.ts';
import { tabs } from './tabs.ts';

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
