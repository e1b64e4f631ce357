// Improves pages that also work without this script.

// Sections of the reference had their addresses on the first page when it was one page.
const asked = location.hash.slice(1);
if (location.pathname === '/docs' && asked !== '' && !document.getElementById(asked)) {
  const page = document.querySelector(`article a[href="/docs/reference/${CSS.escape(asked)}"]`);
  location.replace(page?.href ?? `/docs/reference${location.hash}`);
}

// The search shows the best results while somebody types; Enter opens the page with them.
const search = document.querySelector('.search');
const [form, found] = search.children;
const field = form.elements.q;
const [status, list] = found.children;

function show(entries) {
  list.replaceChildren(
    ...entries.map(({ href, page, title, excerpt }) => {
      const link = document.createElement('a');
      link.href = href;
      const [strong, small] = [document.createElement('strong'), document.createElement('small')];
      strong.textContent = page === title ? title : `${title} · ${page}`;
      small.textContent = excerpt;
      link.append(strong, small);
      const item = document.createElement('li');
      item.append(link);
      return item;
    }),
  );
}

let timer;
field.addEventListener('input', () => {
  const { value } = field;
  found.hidden = value.trim() === '';
  clearTimeout(timer);
  if (found.hidden) return;
  timer = setTimeout(async () => {
    try {
      const response = await fetch(`${form.action}.json?q=${encodeURIComponent(value)}`);
      const results = await response.json();
      // Nothing may change under the keys of somebody who goes through the results.
      if (value !== field.value || list.contains(document.activeElement)) return;
      show(results.found);
      status.textContent =
        results.total === 0
          ? 'No results. Try fewer or other words.'
          : `${results.total} ${results.total === 1 ? 'result' : 'results'}`;
    } catch {
      list.replaceChildren();
      status.textContent = 'The search could not be loaded. Try again.';
    }
  }, 100);
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
