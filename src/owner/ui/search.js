// Shows results while typing, and opens the search from any page. Without this script, the form leads to a page.
const dialog = document.querySelector('dialog.search');
const opener = document.querySelector('a.search');
const field = document.getElementById('search-field');

const shortcut = opener?.querySelector('kbd');
if (shortcut) {
  shortcut.textContent = /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘K' : 'Ctrl K';
  shortcut.hidden = false;
}

if (field) {
  const form = field.form;
  const results = form.querySelector('.results');
  const delay = 150;
  let timer;
  let latest = new AbortController();

  // The files of the page that the search was opened on, which the server does not know.
  const files = [...document.querySelectorAll('main a.file')].map((link) => {
    const about = link.closest('figure, section, main');
    const title =
      about.querySelector(':scope > figcaption small') ??
      about.querySelector(about.matches('main') ? 'h1' : 'h2');
    return { href: link.href, label: `Download CSV: ${title.firstChild.textContent.trim()}` };
  });
  const withFiles = (found) => {
    const words = field.value.trim().toLowerCase().split(/\s+/);
    const named = files.filter(({ label }) =>
      words.every((word) => label.toLowerCase().includes(word)),
    );
    if (named.length === 0) return found.childNodes;
    const list = document.createElement('ul');
    list.append(
      ...named.map(({ href, label }) => {
        const link = Object.assign(document.createElement('a'), { href, textContent: label });
        const item = document.createElement('li');
        item.append(link);
        return item;
      }),
    );
    return [...found.querySelectorAll(':scope > ul'), list];
  };

  /** Whether the results are now those of what is in the field. */
  const show = async () => {
    clearTimeout(timer);
    latest.abort();
    latest = new AbortController();
    results.ariaBusy = 'true';
    const url = `${form.action}?${new URLSearchParams({ q: field.value })}`;
    try {
      const answer = await fetch(url, { signal: latest.signal });
      const found = new DOMParser().parseFromString(await answer.text(), 'text/html');
      // Nothing if the session has ended: then the form leads to the sign-in page.
      const fresh = found.querySelector('main .results');
      if (fresh) results.replaceChildren(...withFiles(fresh));
      results.ariaBusy = null;
      return fresh !== null;
    } catch {
      // A later search replaced this one, or the service is away: the form still works.
      return false;
    }
  };
  field.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(show, delay);
  });

  // Enter opens the only result, and else the page that lists them.
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const asked = field.value;
    const isFresh = await show();
    const isOver = field.value !== asked || (dialog && !dialog.open);
    if (isOver) return;
    const [only, ...others] = results.querySelectorAll('a:not([target]), button');
    if (isFresh && only?.href && others.length === 0) only.click();
    else form.submit();
  });

  // Arrow keys move between the field and the results.
  form.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    const stops = [field, ...results.querySelectorAll('a, button')];
    const next = stops[stops.indexOf(document.activeElement) + step];
    if (!next) return;
    event.preventDefault();
    next.focus();
  });

  const open = (event) => {
    event.preventDefault();
    if (dialog && !dialog.open) dialog.showModal();
    field.focus();
    field.select();
    void show();
  };
  opener?.addEventListener('click', open);
  document.addEventListener('keydown', (event) => {
    const isShortcut = (event.metaKey || event.ctrlKey) && !event.altKey && !event.shiftKey;
    if (isShortcut && event.key.toLowerCase() === 'k') open(event);
  });
}
