// Counts the subscriptions of a segment while it is being chosen. Without this script, the page counts those shown.
let latest = new AbortController();
let timer;

async function count(form) {
  latest.abort();
  latest = new AbortController();
  const { signal } = latest;
  const output = form.querySelector('output');
  try {
    const query = new URLSearchParams(new FormData(form));
    const answer = await fetch(`${form.dataset.count}?${query}`, { signal });
    const isText = answer.headers.get('content-type')?.startsWith('text/plain');
    output.value = answer.ok && isText ? await answer.text() : '';
  } catch {
    // A later choice replaced this one, or the service is away.
    if (!signal.aborted) output.value = '';
  }
}

// Leaves out of the address what was not chosen; a price has two ends of one name.
document.addEventListener('formdata', ({ target, formData }) => {
  if (!target.matches('form[data-count]')) return;
  for (const name of new Set(formData.keys())) {
    if (formData.getAll(name).every((value) => value === '')) formData.delete(name);
  }
});

document.addEventListener('input', ({ target }) => {
  const form = target.closest('form[data-count]');
  if (!form) return;
  clearTimeout(timer);
  timer = setTimeout(() => count(form), 200);
});
