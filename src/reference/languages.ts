/** The environment variable that holds the key. */
export const keyVariable = 'RETENTION_API_KEY';

interface Language {
  readonly label: string;
  /** @param key undefined to read it from the environment */
  code(url: string, key?: string): string;
}

export type LanguageName = 'sh' | 'js' | 'python' | 'ruby' | 'php' | 'go';

/** By their names in Markdown: a request in each, with nothing that has to be installed. */
export const languages: Readonly<Record<LanguageName, Language>> = {
  sh: {
    label: 'curl',
    code: (url, key = `$${keyVariable}`) => `curl '${url}' \\
  -H "Authorization: Bearer ${key}"`,
  },
  js: {
    label: 'JavaScript',
    // Without a top-level await, so that it runs in every kind of file.
    code: (url, key) => `async function main() {
  const response = await fetch('${url}', {
    headers: { Authorization: ${key === undefined ? `\`Bearer \${process.env.${keyVariable}}\`` : `'Bearer ${key}'`} },
  });
  if (!response.ok) throw new Error(\`\${response.status}: \${await response.text()}\`);
  console.log(JSON.stringify(await response.json(), null, 2));
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
    print(json.dumps(json.load(response), indent=2))`,
  },
  ruby: {
    label: 'Ruby',
    code: (url, key) => `require "json"
require "net/http"

key = ${key === undefined ? `ENV.fetch("${keyVariable}")` : `"${key}"`}
response = Net::HTTP.get_response(URI("${url}"), "Authorization" => "Bearer #{key}")
raise "#{response.code}: #{response.body}" unless response.is_a?(Net::HTTPSuccess)
puts JSON.pretty_generate(JSON.parse(response.body))`,
  },
  php: {
    label: 'PHP',
    code: (url, key) => `<?php
$key = ${key === undefined ? `getenv('${keyVariable}')` : `'${key}'`};
$context = stream_context_create(['http' => ['header' => "Authorization: Bearer $key"]]);
$body = file_get_contents('${url}', false, $context);
if ($body === false) exit(1);
echo json_encode(json_decode($body), JSON_PRETTY_PRINT | JSON_UNESCAPED_UNICODE), "\\n";`,
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
	if response.StatusCode != 200 {
		log.Fatal(response.Status, string(body))
	}
	fmt.Println(string(body))
}`,
  },
};

export const isLanguage = (text: string | null | undefined): text is LanguageName =>
  typeof text === 'string' && Object.hasOwn(languages, text);

/** A request in all languages, as Markdown. */
export function requestIn(url: string): string {
  return Object.entries(languages)
    .map(([name, { code }]) => `\`\`\`${name}\n${code(url)}\n\`\`\``)
    .join('\n\n');
}

/** A block of Markdown that only shows how to call an address. */
const request = new RegExp(
  `^\`\`\`sh\n${RegExp.escape(languages.sh.code('{}')).replace(RegExp.escape('{}'), "([^'\n]+)")}\n\`\`\`$`,
  'gm',
);

/** Shows the requests of a text, which it has in curl alone, in all languages. */
export function translateRequests(markdown: string): string {
  return markdown.replace(request, (_, url: string) => requestIn(url));
}

interface Asked {
  readonly url: string;
  readonly headers: { readonly cookie?: string | undefined };
}

const cookieName = 'retention-language';

/** The language that a visitor chose: by the address (`?language=php`), or earlier. */
export function languageOf({ url, headers }: Asked): LanguageName | undefined {
  const remembered = new RegExp(`(?:^|; *)${cookieName}=(\\w+)`).exec(headers.cookie ?? '')?.[1];
  return [languageInAddress(url), remembered].find(isLanguage);
}

/** Remembers a language that the address has, for browsers without scripts; the script sets the same cookie. */
export function languageCookies({ url }: Asked): readonly string[] {
  const language = languageInAddress(url);
  if (!isLanguage(language)) return [];
  return [`${cookieName}=${language}; Path=/; SameSite=Lax; Max-Age=31536000`];
}

function languageInAddress(url: string): string | null {
  return new URLSearchParams(url.split('?', 2)[1]).get('language');
}
