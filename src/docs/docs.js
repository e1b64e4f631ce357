// Improves pages that also work without this script.

// Examples in several languages: a choice in one holds for all, also on the next page.
const languages = [...document.querySelectorAll('.tabs input')];
const choose = (language) => {
  for (const each of languages) if (each.value === language) each.checked = true;
};
const memory = (() => {
  try {
    return globalThis.localStorage;
  } catch {
    // Browsers may forbid it.
    return undefined;
  }
})();
choose(memory?.getItem('docs-language'));
for (const input of languages) {
  input.addEventListener('change', () => {
    const { top } = input.getBoundingClientRect();
    choose(input.value);
    memory?.setItem('docs-language', input.value);
    // The examples above may have another height now.
    globalThis.scrollBy({ top: input.getBoundingClientRect().top - top, behavior: 'instant' });
  });
}

// The search: all words must occur in a section, headings count more than texts.
const search = document.querySelector('.search');
const [field, found] = search.children;
const [status, list] = found.children;
let index;

const load = () => (index ??= fetch(search.dataset.index).then((response) => response.json()));

function rank([, page, title, text], words) {
  const [heading, body] = [`${page} ${title}`.toLowerCase(), text.toLowerCase()];
  let sum = 0;
  for (const word of words) {
    if (heading.includes(word)) sum += title.toLowerCase().startsWith(word) ? 12 : 8;
    else if (body.includes(word)) sum += 1;
    else return 0;
  }
  return sum;
}

function excerpt(text, words) {
  const place = Math.min(
    ...words.map((word) => text.toLowerCase().indexOf(word)).filter((at) => at >= 0),
  );
  if (place === Infinity || place < 40) return text.slice(0, 120);
  return `…${text.slice(text.indexOf(' ', place - 30) + 1, place + 90)}`;
}

function show(entries, words) {
  list.replaceChildren(
    ...entries.map(([href, page, title, text]) => {
      const link = document.createElement('a');
      link.href = href;
      const [strong, small] = [document.createElement('strong'), document.createElement('small')];
      strong.textContent = page === title ? title : `${title} · ${page}`;
      small.textContent = excerpt(text, words);
      link.append(strong, small);
      const item = document.createElement('li');
      item.append(link);
      return item;
    }),
  );
}

field.addEventListener('focus', load);
field.addEventListener('input', async () => {
  const { value } = field;
  const words = value.toLowerCase().split(/\s+/).filter(Boolean);
  found.hidden = words.length === 0;
  if (words.length === 0) return;
  try {
    const entries = await load();
    if (value !== field.value) return;
    const ranked = entries
      .map((entry) => ({ entry, points: rank(entry, words) }))
      .filter(({ points }) => points > 0)
      .toSorted((one, other) => other.points - one.points);
    show(
      ranked.slice(0, 10).map(({ entry }) => entry),
      words,
    );
    status.textContent =
      ranked.length === 0
        ? 'No results. Try fewer or other words.'
        : `${ranked.length} ${ranked.length === 1 ? 'result' : 'results'}`;
  } catch {
    index = undefined;
    list.replaceChildren();
    status.textContent = 'The search could not be loaded. Try again.';
  }
});
search.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') {
    found.hidden = true;
    field.focus();
  }
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step || found.hidden) return;
  event.preventDefault();
  const stops = [field, ...list.querySelectorAll('a')];
  const next = stops.indexOf(document.activeElement) + step;
  stops[Math.min(Math.max(next, 0), stops.length - 1)].focus();
});
search.addEventListener('focusin', () => {
  if (field.value !== '' && list.childElementCount > 0) found.hidden = false;
});
document.addEventListener('click', ({ target }) => {
  if (!search.contains(target) || target.closest('a')) found.hidden = true;
});
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest('input, textarea, select')) return;
  event.preventDefault();
  field.focus();
});
search.classList.add('ready');
