// Shows results while typing, and opens the search from any page. Without this script, the form leads to a page.
const dialog = document.querySelector('dialog.search');
const opener = document.querySelector('a.search');
const field = document.getElementById('search-field');

if (field) {
  const form = field.form;
  const results = form.querySelector('.results');
  const delay = 150;
  let timer;
  let latest = new AbortController();

  const show = async () => {
    latest.abort();
    latest = new AbortController();
    const url = `${form.action}?${new URLSearchParams({ q: field.value })}`;
    try {
      const answer = await fetch(url, { signal: latest.signal });
      const found = new DOMParser().parseFromString(await answer.text(), 'text/html');
      // Nothing if the session has ended: then the form leads to the sign-in page.
      const fresh = found.querySelector('main .results');
      if (fresh) results.replaceChildren(...fresh.childNodes);
    } catch {
      // A later search replaced this one, or the service is away: the form still works.
    }
  };
  field.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(show, delay);
  });

  // Arrow keys move between the field and the results.
  form.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    const stops = [field, ...results.querySelectorAll('a')];
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
